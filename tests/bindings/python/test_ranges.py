# SPDX-License-Identifier: MIT
"""Parts of files: read_many() with offsets and lengths, and the file system of fsspec."""

import errno
import os
import random
from pathlib import Path
from typing import Any

import ferry
import numpy as np
import pytest


def test_random_parts(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    contents = [chance.randbytes(chance.choice([0, 10, 5000, 300_000])) for _ in range(40)]
    for i, data in enumerate(contents):
        (tmp_path / f"{i}").write_bytes(data)
    for memory in (1, 10_000, 8 << 20):
        files = [chance.randrange(40) for _ in range(500)]
        if chance.random() < 0.5:
            files.sort()
        offsets = [chance.choice([0, 3, 100, 250_000, 2**40]) for _ in files]
        lengths = [chance.choice([-1, 0, 1, 4096, 400_000]) for _ in files]
        expected = [
            contents[file][offset:][: None if length < 0 else length]
            for file, offset, length in zip(files, offsets, lengths, strict=True)
        ]
        names = [f"{file}" for file in files]
        found = ferry.read_many(tmp_path, names, offsets=offsets, lengths=lengths, memory=memory)
        assert list(found) == expected
        views = ferry.read_many(
            tmp_path, names, views=True, offsets=np.array(offsets), lengths=lengths, threads=3
        )
        assert [bytes(view) for view in views] == expected


def test_defaults(tree: Path) -> None:
    assert list(ferry.read_many(tree, ["a", "b"], offsets=[1, 2])) == [b"irst", b"cond"]
    assert list(ferry.read_many([tree / "a"], lengths=[2])) == [b"fi"]
    assert list(ferry.read_many([], offsets=[], lengths=[])) == []
    assert list(ferry.read_many(["/proc/self/status"], lengths=[4])) == [b"Name"]


def test_errors(tree: Path) -> None:
    os.mkfifo(tree / "fifo")
    names = ["a", "missing", "folder", "fifo", "b"]
    found: list[Any] = list(ferry.read_many(tree, names, offsets=[0] * 5, on_error="return"))
    assert [getattr(each, "errno", each) for each in found] == [
        b"first",
        errno.ENOENT,
        errno.EISDIR,
        errno.EOPNOTSUPP,
        b"second",
    ]
    reading = ferry.read_many(tree, names, offsets=[0] * 5)
    assert next(reading) == b"first"
    with pytest.raises(FileNotFoundError) as caught:
        next(reading)
    assert caught.value.filename == "missing"


@pytest.mark.parametrize(
    ("offsets", "lengths", "said"),
    [
        ([0], [1, 1], "one of offsets for each of 2 paths"),
        ([0, 0], [1], "one of lengths for each of 2 paths"),
        ([0, -1], None, "one of offsets is out of range"),
        ([0, 0], [1, -2], "one of lengths is out of range"),
        ([0, 2**64], None, "out of range|whole numbers"),
        ([0, 1.5], None, "offsets are whole numbers"),
        (["0", "1"], None, "offsets are whole numbers"),
    ],
)
def test_numbers_that_are_wrong(tree: Path, offsets: Any, lengths: Any, said: str) -> None:  # noqa: ANN401
    with pytest.raises((ValueError, TypeError), match=said):
        ferry.read_many(tree, ["a", "b"], offsets=offsets, lengths=lengths)


def test_how(tree: Path) -> None:
    with pytest.raises(ValueError, match="whole files"):
        ferry.read_many([tree / "a"], offsets=[0], limit=3)
    assert list(ferry.read_many(["/dev/zero"], lengths=[3], devices=True)) == [bytes(3)]
    parts = ferry.read_many([tree / "a"], lengths=[3], regular=True, timeout=10, threads=2)
    assert list(parts) == [b"fir"]


def test_a_length_beyond_memory(tree: Path) -> None:
    assert list(ferry.read_many([tree / "a"], lengths=[2**62])) == [b"first"]


# ---- fsspec ----


@pytest.fixture
def filesystem() -> Any:  # noqa: ANN401 (of fsspec)
    fsspec = pytest.importorskip("fsspec")
    from ferry.filesystem import FerryFileSystem

    fsspec.register_implementation("ferry", FerryFileSystem, clobber=True)
    return fsspec.filesystem("ferry")


def test_ranges_are_those_of_the_local_file_system(tree: Path, filesystem: Any) -> None:  # noqa: ANN401
    import fsspec  # type: ignore[import-untyped]

    local = fsspec.filesystem("file")
    paths = [str(tree / name) for name in ("a", "b", "folder/c", "empty", "a")]
    for starts, ends in (
        (0, 3),
        (None, None),
        ([0, 1, -10, 0, -3], [2, None, None, 5, -1]),
        ([0, 1, 2, 3, 4], [10**9] * 5),
    ):
        expected = local.cat_ranges(
            paths,
            [starts] * 5 if not isinstance(starts, list) else starts,
            [ends] * 5 if not isinstance(ends, list) else ends,
        )
        assert filesystem.cat_ranges(paths, starts, ends) == expected
    missing = filesystem.cat_ranges([str(tree / "missing"), paths[0]], [0, 0], [1, 1])
    assert isinstance(missing[0], FileNotFoundError) and missing[1] == b"f"
    with pytest.raises(FileNotFoundError):
        filesystem.cat_ranges([str(tree / "missing")], [0], [1], on_error="raise")
    with pytest.raises(ValueError):
        filesystem.cat_ranges(paths, [0], [1])


def test_contents(tree: Path, filesystem: Any) -> None:  # noqa: ANN401
    import fsspec

    a, b = str(tree / "a"), str(tree / "b")
    assert filesystem.cat(a) == filesystem.cat(f"ferry://{a}") == b"first"
    assert filesystem.cat(tree / "a") == filesystem.cat(a, recursive=True) == b"first"
    assert filesystem.cat([a, b]) == {a: b"first", b: b"second"}
    os.unlink(tree / "link")
    expected = {str(path): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert filesystem.cat(str(tree), recursive=True) == expected
    missing = str(tree / "missing")
    with pytest.raises(FileNotFoundError):
        filesystem.cat(missing)
    with fsspec.open(f"ferry://{a}", "rb") as file:
        assert file.read() == b"first"
    assert filesystem.ls(str(tree / "folder"), detail=False) == [str(tree / "folder" / "c")]
