# SPDX-License-Identifier: MIT
"""Results that go on to pandas and pyarrow, without copies."""

import gc
import os
import threading
from pathlib import Path
from typing import Any

import ferry
import numpy as np
import pytest
from numpy.typing import NDArray

pandas: Any = pytest.importorskip("pandas")
pyarrow: Any = pytest.importorskip("pyarrow")


def address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def test_a_table_of_a_tree(tree: Path) -> None:
    found = ferry.walk(tree, stat=True, sort=True)
    table = pyarrow.table(found)
    assert table.num_rows == len(found)
    assert table.column_names == ["name", *found.columns]
    assert table["name"].to_pylist() == found.names.tolist()
    assert table.schema.field("mtime").type == pyarrow.timestamp("ns", "UTC")
    for name, column in found.columns.items():
        values = table[name].chunk(0)
        values.validate(full=True)
        assert values.buffers()[1].address == address(column), name
        if column.dtype.kind != "M":
            assert values.to_numpy(zero_copy_only=True).tolist() == column.tolist()
    assert table["mtime"].chunk(0).cast("int64").to_pylist() == [
        os.lstat(path).st_mtime_ns for path in found.paths()
    ]
    table.validate(full=True)


def test_the_table_outlives_the_tree(tree: Path) -> None:
    tables = [pyarrow.table(ferry.walk(tree, stat=True)) for _ in range(3)]
    gc.collect()
    # Arrow may release what it was given in a thread that Python does not know.
    thread = threading.Thread(target=tables.pop)
    thread.start()
    thread.join()
    names = tables[0]["name"]
    tables.clear()
    gc.collect()
    assert "folder" in names.to_pylist()


def test_capsules_that_nobody_takes(tree: Path) -> None:
    found = ferry.walk(tree, stat=True)
    for _ in range(100):
        found.__arrow_c_array__()
        found.names.__arrow_c_array__()


def test_unknown_times(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    os.utime(tmp_path / "a", (2**34, 2**34))
    if os.stat(tmp_path / "a").st_mtime != 2**34:
        pytest.skip("the file system cannot store times after the year 2262")
    found = ferry.walk(tmp_path, stat=["mtime"], sort=True)
    mtime = pyarrow.table(found)["mtime"]
    assert (mtime.null_count, mtime[1].as_py()) == (1, None)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["plain"], "large_string"),
        (["grüße", "日本"], "large_string"),
        ([b"\xff"], "large_binary"),
        ([b"\xc3", b"\xa9"], "large_binary"),
    ],
)
def test_names(tmp_path: Path, names: list[str | bytes], kind: str) -> None:
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), os.fsencode(name)))).touch()
    found = ferry.walk(tmp_path, sort=True).names.take(np.arange(1, len(names) + 1))
    array = pyarrow.array(found)
    array.validate(full=True)
    assert array.type == pyarrow.type_for_alias(kind)
    expected = sorted(os.fsencode(name) for name in names)
    assert [os.fsencode(value) for value in array.to_pylist()] == expected
    assert array.buffers()[2].address == address(np.frombuffer(memoryview(found.bytes), np.uint8))


def test_pandas(tree: Path) -> None:
    stats, _ = ferry.stat_many(tree, ["a", "b"])
    sizes = pandas.Series(stats["size"], copy=False)
    assert np.shares_memory(sizes.to_numpy(), stats)
    assert sizes.tolist() == [5, 6]
    assert str(pandas.Series(stats["mtime"]).dtype) == "datetime64[ns]"
    found = ferry.walk(tree, stat=["size"])
    column = pandas.Series(found["size"], copy=False)
    assert np.shares_memory(column.to_numpy(), found["size"])


def test_views_of_chunks(tree: Path) -> None:
    [chunk] = ferry.read_chunks(tree, ["a", "b"])
    buffer = pyarrow.py_buffer(chunk[1])
    assert buffer.to_pybytes() == b"second"
    start = int(chunk.starts[1])
    assert buffer.address == address(chunk.data) + start
