# SPDX-License-Identifier: MIT
"""pathsearch: the first path that exists."""

import os
from pathlib import Path

import pytest
from conftest import Run


@pytest.fixture
def places(tmp_path: Path) -> Path:
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    for name in ("second/tool", "third/tool", "third/last", "here"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "path_list", "found"),
    [
        ("tool", "first:second:third", "second/tool"),
        ("tool", "third:second", "third/tool"),
        ("last", "missing:here:first:third", "third/last"),
        ("tool", "second/", "second/tool"),
        ("here", "first:", "./here"),
        ("here", "", "./here"),
        ("here", "first::second", "./here"),
        ("third/last", "first:.", "./third/last"),
        ("last", ":".join(["first"] * 1500 + ["third"]), "third/last"),
    ],
)
def test_first_existing_path_is_printed(
    run: Run, places: Path, name: str, path_list: str, found: str
) -> None:
    done = run("pathsearch", name, path_list, cwd=places)
    assert (done.returncode, done.stdout, done.stderr) == (0, found.encode() + b"\n", b"")


def test_path_is_searched_unless_a_list_is_given(run: Run, places: Path) -> None:
    env = {"PATH": f"{places}/first:{places}/third"}
    assert (
        run("pathsearch", "tool", env_more=env).stdout == os.fsencode(places / "third/tool") + b"\n"
    )


def test_nothing_found_is_status_1(run: Run, places: Path) -> None:
    done = run("pathsearch", "nowhere", "first:here:missing", cwd=places)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_other_errors_are_told(run: Run, places: Path) -> None:
    done = run("pathsearch", "n" * 300, "first", cwd=places)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"pathsearch: 'first/{'n' * 300}': File name too long\n"


def test_path_that_is_not_set_is_wrong_usage(run: Run) -> None:
    done = run("pathsearch", "tool", shell='unset PATH; exec "$@"')
    assert done.returncode == 2
    assert b"PATH is not set" in done.stderr
