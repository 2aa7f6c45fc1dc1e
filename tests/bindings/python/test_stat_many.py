# SPDX-License-Identifier: MIT
"""stat_many() against os.stat()."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ferry
import numpy as np
import pytest


def expect(stats: np.void, path: os.PathLike[str] | str | bytes, follow: bool = True) -> None:
    plain = os.stat(path, follow_symlinks=follow)
    for name in ("mode", "nlink", "uid", "gid", "dev", "rdev", "ino", "size", "blocks", "blksize"):
        assert stats[name] == getattr(plain, f"st_{name}"), name
    for name in ("atime", "mtime", "ctime"):
        assert stats[name].astype(np.int64) == getattr(plain, f"st_{name}_ns"), name


def test_fields_are_those_of_os_stat(tree: Path) -> None:
    paths = [tree / "a", tree / "folder", Path("/dev/null"), Path("/proc/self/stat")]
    stats, errors = ferry.stat_many(paths)
    assert not errors.any()
    for i, path in enumerate(paths[:3]):
        expect(stats[i], path)


def test_paths_of_every_kind(tree: Path) -> None:
    names: list[Any] = [
        str(tree / "a"),
        os.fsencode(tree / "a"),
        tree / "a",
        type("Name", (str,), {})(tree / "a"),
        type("Bytes", (), {"__fspath__": lambda self: os.fsencode(tree / "a")})(),
    ]
    stats, errors = ferry.stat_many(names)
    assert not errors.any() and (stats["size"] == 5).all()
    assert len(ferry.stat_many(iter(names))[0]) == len(names)
    assert len(ferry.stat_many(np.array([str(tree / "a")] * 3))[0]) == 3


@pytest.mark.parametrize("name", [b"\xff\xfe", "grüße", "\N{GRINNING FACE}", b"x" * 255, b"\n "])
def test_names_of_any_bytes(tmp_path: Path, name: str | bytes) -> None:
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    with open(path, "wb") as file:
        file.write(b"12345678")
    for form in (path, os.fsdecode(path)):
        stats, errors = ferry.stat_many([form])
        assert (errors[0], stats["size"][0]) == (0, 8)


def test_each_error_is_its_own(tree: Path) -> None:
    loop = tree / "loop"
    loop.symlink_to("loop")
    names = ["a", "missing", "a/b", "loop", "x" * 256, "", "link", "b"]
    stats, errors = ferry.stat_many([os.path.join(tree, name) if name else "" for name in names])
    expected = ["", "ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ENOENT", "ENOENT", ""]
    assert [errno.errorcode.get(error, "") for error in errors] == expected
    failed = stats[errors != 0]
    assert not failed["size"].any() and np.isnat(failed["mtime"]).all()


def test_links(tree: Path) -> None:
    stats, errors = ferry.stat_many([tree / "link"], follow_symlinks=False)
    assert not errors.any()
    expect(stats[0], tree / "link", follow=False)


def test_names_in_a_directory(tree: Path) -> None:
    fd = os.open(tree, os.O_RDONLY)
    with open(tree / "a") as file:
        not_a_directory = ferry.stat_many(file, ["b"])[1]
    assert not_a_directory.tolist() == [errno.ENOTDIR]
    for directory in (tree, str(tree), os.fsencode(tree), fd):
        stats, errors = ferry.stat_many(directory, ["a", "b"])
        assert not errors.any() and stats["size"].tolist() == [5, 6]
    os.close(fd)
    assert ferry.stat_many(fd, ["a"])[1].tolist() == [errno.EBADF]
    with pytest.raises(FileNotFoundError) as caught:
        ferry.stat_many(tree / "missing", ["a"])
    assert caught.value.filename == str(tree / "missing")


def test_fields(tree: Path) -> None:
    stats, _ = ferry.stat_many([tree / "a"], fields=["size", "mode"])
    assert stats.dtype.names == ("size", "mode")
    assert stats[0].tolist() == (5, os.stat(tree / "a").st_mode)
    with pytest.raises(ValueError, match="no field 'st_size'; there are mode, "):
        ferry.stat_many([tree / "a"], fields=["st_size"])


def test_times_beyond_64_bits(tree: Path) -> None:
    for seconds, known in ((2**33, True), (2**34, False), (-(2**31), True)):
        os.utime(tree / "a", (seconds, seconds))
        [stats], _ = ferry.stat_many([tree / "a"])
        if os.stat(tree / "a").st_mtime == seconds:  # the file system can store it
            assert np.isnat(stats["mtime"]) != known


def test_nothing() -> None:
    stats, errors = ferry.stat_many([])
    assert (len(stats), len(errors)) == (0, 0)


@pytest.mark.parametrize(
    ("paths", "error", "message"),
    [
        ("/tmp", TypeError, "single path"),
        (b"/tmp", TypeError, "single path"),
        (["/tmp", 3], TypeError, "not int"),
        (["/tmp", None], TypeError, "not NoneType"),
        (7, TypeError, "not iterable"),
        (None, TypeError, "object is not iterable"),
        (["/tmp", "a\0b"], ValueError, "path number 1 has a null byte"),
        ([b"a\0b"], ValueError, "path number 0 has a null byte"),
        (["\ud800"], UnicodeEncodeError, "surrogate"),
    ],
)
def test_what_is_no_path(paths: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ferry.stat_many(paths)


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="threads is -1"):
        ferry.stat_many(["/"], threads=-1)
    with pytest.raises(ValueError, match="timeout is 0"):
        ferry.stat_many(["/"], timeout=0)
    with pytest.raises(TypeError, match="progress"):
        ferry.stat_many(["/"], progress=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ferry.stat_many(["/"], colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="a directory is a path"):
        ferry.stat_many(1.5, ["a"])  # type: ignore[arg-type]


def test_many_with_options(tree: Path) -> None:
    paths = [tree / "a", tree / "missing"] * 20_000
    for options in ({"threads": 1}, {"threads": 3}, {"timeout": 60.0, "threads": 2}):
        stats, errors = ferry.stat_many(paths, **options)
        assert (stats["size"] == np.tile([5, 0], 20_000)).all()
        assert (errors == np.tile([0, errno.ENOENT], 20_000)).all()


def test_a_list_that_another_thread_empties(tree: Path) -> None:
    """The list belongs to the caller, who may change it at any time."""
    expected = 20_000
    path = str(tree / "a")
    for _ in range(5):
        paths = [path + "/" * (i % 5 == 4) for i in range(expected)]
        clear = threading.Thread(target=paths.clear)
        clear.start()
        stats, _ = ferry.stat_many(paths)
        clear.join()
        assert len(stats) in (0, expected)


def test_a_path_that_changes_the_list(tree: Path) -> None:
    paths: list[Any] = []

    class Path:
        def __fspath__(self) -> str:
            paths.clear()
            return str(tree / "a")

    def generate() -> Iterator[Any]:
        yield from (Path() for _ in range(3))
        raise KeyError("enough")

    paths.extend(Path() for _ in range(1000))
    assert not ferry.stat_many(paths)[1].any()
    with pytest.raises(KeyError, match="enough"):
        ferry.stat_many(generate())
