# SPDX-License-Identifier: MIT
"""walk() against os.walk() and os.lstat()."""

import errno
import os
import stat
from pathlib import Path

import ferry
import numpy as np
import pytest


def plain(root: Path) -> list[str]:
    paths = [str(root)]
    for folder, folders, files in os.walk(root):
        paths += [os.path.join(folder, name) for name in folders + files]
    return sorted(paths)


@pytest.mark.parametrize("sort", [False, True])
def test_entries_are_those_of_os_walk(tree: Path, sort: bool) -> None:
    found = ferry.walk(tree, sort=sort, stat=True)
    paths = found.paths()
    assert sorted(paths) == plain(tree) == sorted(paths.tolist())
    assert len(found) == len(paths) == len(found.names)
    for i, path in enumerate(paths):
        info = os.lstat(path)
        assert (found["size"][i], found["ino"][i], found["mode"][i]) == (
            info.st_size,
            info.st_ino,
            info.st_mode,
        )
        assert found["type"][i] == stat.S_IFMT(info.st_mode) >> 12
        assert found["mtime"][i].astype(np.int64) == info.st_mtime_ns
        parent = found["parent"][i]
        assert parent < i
        assert parent == -1 or paths[int(parent)] == os.path.dirname(path)
        assert found["depth"][i] == path.count("/") - str(tree).count("/")
    assert not found["error"].any()


def test_paths_of_some_rows(tree: Path) -> None:
    found = ferry.walk(tree, stat=["size"], sort=True)
    assert set(found.columns) == {"parent", "depth", "type", "error", "size"}
    assert list(found.paths(found["size"] == 5000)) == [str(tree / "folder" / "c")]
    assert list(found.paths(np.array([0]))) == [str(tree)]
    for rows in ([-1], [len(found)]):
        with pytest.raises(IndexError):
            found.paths(np.array(rows))
    with pytest.raises(ValueError, match="booleans"):
        found.paths(np.array([True]))


@pytest.mark.parametrize("rows", [[1.7], [1.0], ["1"], [None]])
def test_rows_that_are_no_numbers(tree: Path, rows: list[object]) -> None:
    with pytest.raises(TypeError, match="whole numbers or booleans"):
        ferry.walk(tree).paths(np.array(rows))


@pytest.mark.parametrize("parent", [1, 5, 2**62])
def test_parents_that_were_changed(tree: Path, parent: int) -> None:
    found = ferry.walk(tree)
    found["parent"][1] = parent
    with pytest.raises(ValueError, match="parent"):
        found.paths()


def test_names(tree: Path) -> None:
    names = ferry.walk(tree, sort=True).names
    assert names[1] == "a" and names[-1] == "c"
    with pytest.raises(IndexError):
        names[len(names)]
    assert names.take(np.array([2, 1])).tolist() == ["b", "a"]
    for kind in (np.int32, np.uint64, np.bool_):
        with pytest.raises(TypeError, match="int64"):
            names.take(np.array([1, 0], kind))


def test_names_cannot_be_changed(tree: Path) -> None:
    found = ferry.walk(tree)
    for names in (found.names, found.names.take(np.array([1, 2])), found.paths()):
        assert memoryview(names.offsets).readonly
        assert memoryview(names.bytes).readonly


def test_directories(tree: Path) -> None:
    found = ferry.walk(tree)
    blocks = {path: sorted(found.names.take(rows)) for path, rows in found.directories()}
    assert blocks == {
        str(tree): ["a", "b", "empty", "folder", "link"],
        str(tree / "folder"): ["c"],
    }
    assert list(ferry.walk(tree / "a").directories()) == []


def test_the_root_alone(tree: Path) -> None:
    assert ferry.walk(tree / "a").paths().tolist() == [str(tree / "a")]
    with pytest.raises(FileNotFoundError) as caught:
        ferry.walk(tree / "missing")
    assert caught.value.filename == str(tree / "missing")
    with pytest.raises(TypeError):
        ferry.walk([tree])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null byte"):
        ferry.walk("a\0b")


def test_a_relative_root(tree: Path) -> None:
    assert sorted(ferry.walk("folder", directory=tree).paths()) == ["folder", "folder/c"]
    assert sorted(ferry.walk("folder/", directory=tree).paths()) == ["folder/", "folder/c"]


def test_prune(tree: Path) -> None:
    asked = []

    def prune(path: str) -> bool:
        asked.append(path)
        return path.endswith("folder")

    found = ferry.walk(tree, prune=prune, threads=4)
    assert sorted(asked) == [str(tree), str(tree / "folder")]
    assert str(tree / "folder" / "c") not in found.paths().tolist()


def test_an_exception_in_prune(tree: Path) -> None:
    def prune(path: str) -> bool:
        raise KeyError(path)

    with pytest.raises(KeyError):
        ferry.walk(tree, prune=prune)


def test_a_directory_that_cannot_be_read(tree: Path) -> None:
    os.chmod(tree / "folder", 0)
    try:
        os.listdir(tree / "folder")
    except PermissionError:
        pass
    else:
        pytest.skip("root may read every directory")
    found = ferry.walk(tree)
    assert found["error"][found.names.tolist().index("folder")] == errno.EACCES


def test_names_go_on_to_other_functions(tree: Path) -> None:
    found = ferry.walk(tree)
    files = found.paths(found["type"] == stat.S_IFREG >> 12)
    expected = [Path(path).read_bytes() for path in files]
    assert list(ferry.read_many(files)) == expected
    stats, errors = ferry.stat_many(files)
    assert stats["size"].tolist() == [len(contents) for contents in expected]
    assert not errors.any()
    os.unlink(files[0])
    with pytest.raises(FileNotFoundError) as caught:
        list(ferry.read_many(files))
    assert caught.value.filename == files[0]


def test_a_deep_tree(tmp_path: Path) -> None:
    """Deeper than a path can be long."""
    depth = 600
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("directory", dir_fd=fd)
        below = os.open("directory", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    found = ferry.walk(tmp_path)
    assert len(found) == depth + 1 and found["depth"].max() == depth
    deepest = found.paths(found["depth"] == depth)[0]
    assert deepest == str(tmp_path) + "/directory" * depth
