# SPDX-License-Identifier: MIT
"""Short lists, for which stat_many() and read_many() have a way of their own."""

import errno
import inspect
import os
import pickle
from pathlib import Path
from typing import Any

import ferry
import numpy as np
import pytest
from ferry import files

COUNTS = (0, 1, 15, 16, 17)


@pytest.mark.parametrize("count", COUNTS)
def test_attributes_are_those_of_the_general_function(tree: Path, count: int) -> None:
    names = ["a", "missing", "folder", "link", "empty", "a/b"] * 3
    paths = [str(tree / name) for name in names[:count]]
    stats, errors = ferry.stat_many(paths)
    expected_stats, expected_errors = files.stat_many(paths)
    assert stats.dtype == expected_stats.dtype and errors.dtype == expected_errors.dtype
    assert stats.tobytes() == expected_stats.tobytes()  # equal even where there is no time
    assert (errors == expected_errors).all()
    assert stats.flags.writeable and stats.flags.aligned
    assert np.isnat(stats["mtime"][1:2]).all()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("how", [{}, {"regular": True}, {"regular": False}, {"views": True}])
def test_contents_are_those_of_the_files(tree: Path, count: int, how: dict[str, Any]) -> None:
    names = ["a", "folder/c", "empty", "b"] * 5
    paths = [str(tree / name) for name in names[:count]]
    expected = [Path(path).read_bytes() for path in paths]
    assert list(ferry.read_many(paths, **how)) == expected


def test_files_that_are_too_large_together(tmp_path: Path) -> None:
    contents = [os.urandom(size) for size in (100_000, 200_000, 3, 1_000_000)]
    for i, content in enumerate(contents):
        (tmp_path / f"{i}").write_bytes(content)
    assert list(ferry.read_many([str(tmp_path / f"{i}") for i in range(4)])) == contents


def test_an_error_is_raised_in_its_turn(tree: Path) -> None:
    reading = ferry.read_many([str(tree / "a"), str(tree / "missing")])
    assert next(reading) == b"first"
    with pytest.raises(FileNotFoundError):
        next(reading)
    assert ferry.stat_many([str(tree / "missing")])[1].tolist() == [errno.ENOENT]


def test_arrays_outlive_each_other(tree: Path) -> None:
    """Both lie in one piece of memory."""
    stats, errors = ferry.stat_many([str(tree / "a"), "/missing"])
    del stats
    assert errors.tolist() == [0, errno.ENOENT]
    stats, errors = ferry.stat_many([str(tree / "a")])
    del errors
    assert stats["size"].tolist() == [5]


def test_they_look_like_the_general_functions() -> None:
    for quick, general in ((ferry.stat_many, files.stat_many), (ferry.read_many, files.read_many)):
        assert quick.__doc__ == general.__doc__ and quick.__module__ == "ferry"
        own = inspect.signature(quick).parameters.values()
        its = inspect.signature(general).parameters.values()
        assert [(p.name, p.kind) for p in own] == [(p.name, p.kind) for p in its]
        assert pickle.loads(pickle.dumps(quick)) is quick
    with pytest.raises(TypeError):
        ferry.stat_many()  # type: ignore[call-arg]
