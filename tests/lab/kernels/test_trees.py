# SPDX-License-Identifier: MIT
"""Patched trees: what stays the same is not compiled again, and Debian's tree never changes."""

import os
from pathlib import Path

import pytest

from lab.kernels.series import Files
from lab.kernels.trees import sync_tree

OLD = 1_000_000_000


@pytest.fixture
def base(tree: Path) -> Path:
    for path in tree.rglob("*"):
        os.utime(path, (OLD, OLD))
    return tree


def made(**files: str) -> Files:
    return {name: (text.encode(), 0o644) for name, text in files.items()}


def test_changes_arrive_and_the_base_stays(base: Path, tmp_path: Path) -> None:
    patched = tmp_path / "series"
    before = (base / "Makefile").read_text()
    sync_tree(base, patched, made(Makefile="patched\n"))
    assert (patched / "Makefile").read_text() == "patched\n"
    assert (base / "Makefile").read_text() == before
    assert (patched / "kernel" / "sys.c").samefile(base / "kernel" / "sys.c")


def test_unchanged_files_keep_their_time(base: Path, tmp_path: Path) -> None:
    patched = tmp_path / "series"
    sync_tree(base, patched, made(Makefile="patched\n"))
    os.utime(patched / "Makefile", (OLD + 1, OLD + 1))
    sync_tree(base, patched, made(Makefile="patched\n", added="new\n"))
    assert (patched / "Makefile").stat().st_mtime == OLD + 1
    assert (patched / "added").stat().st_mtime > OLD + 1


def test_what_a_patch_no_longer_changes_is_restored_as_new(base: Path, tmp_path: Path) -> None:
    """With its old time stamp, make would keep the object of the patched file."""
    patched = tmp_path / "series"
    sync_tree(base, patched, made(Makefile="patched\n", added="new\n"))
    sync_tree(base, patched, made())
    assert (patched / "Makefile").read_text() == (base / "Makefile").read_text()
    assert (patched / "Makefile").stat().st_mtime > OLD
    assert not (patched / "added").exists()


def test_a_directory_that_a_removed_file_leaves_empty_goes(base: Path, tmp_path: Path) -> None:
    patched = tmp_path / "patched"
    sync_tree(base, patched, made(**{"new/deep/file": "", "new/other": ""}))
    sync_tree(base, patched, made(**{"new/other": ""}))
    assert not (patched / "new/deep").exists()
    assert (patched / "new/other").exists()
    sync_tree(base, patched, made())
    assert not (patched / "new").exists()


def test_an_interrupted_change_is_taken_up(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lab.kernels import trees

    patched = tmp_path / "series"
    sync_tree(base, patched, made(added="one\n"))
    whole = trees.replace_file

    def interrupted(path: Path, content: bytes, mode: int) -> None:
        if path.name == "second":
            raise KeyboardInterrupt
        whole(path, content, mode)

    monkeypatch.setattr(trees, "replace_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sync_tree(base, patched, made(first="1\n", second="2\n"))
    monkeypatch.setattr(trees, "replace_file", whole)
    sync_tree(base, patched, made())
    assert {path.name for path in patched.iterdir()} == {"Makefile", "kernel"}
