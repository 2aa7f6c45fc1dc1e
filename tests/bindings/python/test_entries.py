# SPDX-License-Identifier: MIT
"""Trees and names as Python's objects: selected, compared, saved, shown, and passed to others."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import conftest
import ferry
import numpy as np
import pytest

Maker = Callable[[Path], ferry.Entries]

MAKERS: dict[str, Maker] = {
    "tree": lambda root: ferry.walk(root, stat=True, sort=True),
    "selection": lambda root: ferry.walk(root, stat=["size", "mtime"], sort=True)[1:6:2],
    "selection of a selection": lambda root: ferry.walk(root, sort=True)[:5][[0, 2]],
    "block": lambda root: next(iter(ferry.walk_blocks(root, stat=["size"], sort=True))),
    "nothing": lambda root: ferry.walk(root, stat=True)[:0],
    "odd names": lambda root: odd(root),
}


def odd(root: Path) -> ferry.Entries:
    for name in (b"\xff\xfe", "é".encode(), b"<b>", b"new\nline"):
        (root / os.fsdecode(name)).write_bytes(name)
    return ferry.walk(root, stat=["size", "btime"], sort=True)


@pytest.fixture(params=MAKERS)
def entries(request: pytest.FixtureRequest, tree: Path) -> ferry.Entries:
    return MAKERS[request.param](tree)


def test_saved_and_restored(entries: ferry.Entries) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(entries, protocol))
        assert type(again) is type(entries) and again == entries
        assert again.paths() == entries.paths() and list(again) == list(entries)
    assert copy.deepcopy(entries) == entries
    for names in (entries.names, entries.paths()):
        assert pickle.loads(pickle.dumps(names)) == names == copy.copy(names)


def sizes(entries: ferry.Entries) -> tuple[int, list[str]]:
    return len(entries), list(entries.paths())


def test_other_processes_get_them(tree: Path) -> None:
    """As those of a DataLoader or a Pool are started, which share no memory."""
    found = ferry.walk(tree)
    environment = os.environ | {"PYTHONPATH": f"{conftest.PACKAGE}:{Path(__file__).parent}"}
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(sizes, (found,)) == sizes(found)
            assert pool.apply(list, (found.paths(),)) == list(found.paths())
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.mark.parametrize("saved", [([0, 2], b"a"), ([1, 1], b"a"), ([0, 2, 1], b"a"), ([], b"")])
def test_names_that_were_forged(saved: tuple[list[int], bytes]) -> None:
    offsets, text = saved
    with pytest.raises(ValueError, match="offsets"):
        ferry._ferry.restore_names(np.frombuffer(text, np.uint8), np.array(offsets, np.int64))


def test_selections(tree: Path) -> None:
    found = ferry.walk(tree, stat=["size"], sort=True)
    paths, names = found.paths().tolist(), found.names.tolist()

    def at(array: Any, rows: Any) -> Any:  # noqa: ANN401 (as NumPy has it)
        return array[rows if not isinstance(rows, list) or rows else slice(0)]

    some: list[Any] = [
        slice(None), slice(2, 5), slice(None, None, -2), [0], [5, 1, 1], [], np.array([6, 0]),
        found["size"] > 5, (found["depth"] == 2).tolist(), np.array([2, 3], np.uint8),
    ]  # fmt: skip
    for rows in some:
        selected = found[rows]
        expected = at(np.array(paths, object), rows).tolist()
        assert selected.paths() == expected == list(selected["path"])
        assert found.names[rows] == selected.names == at(np.array(names, object), rows).tolist()
        assert (selected["size"] == at(found["size"], rows)).all()
        assert "parent" not in selected
    missing: list[Any] = [[-1], [7], np.array([2**63], np.uint64)]
    for wrong in missing:
        with pytest.raises(IndexError):
            found[wrong]
    no_rows: list[Any] = [[1.5], ["a"], [[1]], 1.0, None]
    for wrong in no_rows:
        with pytest.raises(TypeError):
            found[wrong]


def test_one_entry(tree: Path) -> None:
    found = ferry.walk(tree, stat=["size", "mtime"], sort=True)
    row = found[1]
    assert (row.path, row.name, row.depth, row.size) == (str(tree / "a"), "a", 1, 5)
    assert row.mtime == found["mtime"][1] and found[-1].name == "c"
    assert [each.path for each in found] == list(found.paths())
    with pytest.raises(IndexError):
        found[7]


def test_columns(tree: Path) -> None:
    found = ferry.walk(tree, stat=["size"])
    keys = ["path", "name", "parent", "depth", "type", "error", "size"]
    assert found.keys() == found._ipython_key_completions_() == keys
    assert "size" in found and "path" in found and "mtime" not in found and 3 not in found
    assert found["name"] is found.names and found["path"] == found.paths()
    for name in ("mtime", "folder"):
        with pytest.raises(KeyError, match="there is no column"):
            found[name]


def test_equality(tree: Path) -> None:
    fields = ["size", "mtime", "btime"]
    found = ferry.walk(tree, stat=fields, sort=True)
    assert found == ferry.walk(tree, stat=fields, sort=True) and found[1:] == found[1:7]
    assert found != ferry.walk(tree, sort=True) and found != found[:] and found != 3
    assert found[1:2] != found[2:3]
    (tree / "a").write_bytes(b"longer")
    assert found != ferry.walk(tree, stat=fields, sort=True)
    for thing in (found, found.names):
        with pytest.raises(TypeError, match="unhashable"):
            hash(thing)


def test_names() -> None:
    names = ferry.Names(["a", b"b", Path("c"), "\udcff"])
    assert names == ["a", "b", "c", "\udcff"] == names.tolist() and names != ["a"]
    assert "c" in names and b"\xff" in names and "d" not in names and 3 not in names
    assert repr(names[:3]) == "Names(['a', 'b', 'c'])"
    assert repr(ferry.Names(list("abcdefgh"))).endswith("'f', ...], 8 names)")
    assert names[-2] == "c" and names[[0, 2]] == ["a", "c"] and names[names[:0:-1] != names] == "b"
    with pytest.raises(TypeError):
        names["a"]  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="null byte"):
        ferry.Names(["a\0"])


def test_how_they_look(entries: ferry.Entries) -> None:
    text = repr(entries)
    assert text.startswith(f"<{type(entries).__name__}: ") and "depth, type, error" in text
    page = entries._repr_html_()
    assert page.startswith("<table>") and "<b>" not in page and page.isprintable() | ("\n" in page)
    page.encode()  # no surrogates are left
    assert page.count("<tr>") == 1 + min(len(entries), 11)


def test_a_long_table_is_cut(tmp_path: Path) -> None:
    for i in range(30):
        (tmp_path / f"file{i:02}").touch()
    page = ferry.walk(tmp_path, sort=True)._repr_html_()
    assert "file03" in page and "file04" not in page and "file25" in page and "31 entries" in page


def test_pandas(entries: ferry.Entries) -> None:
    pandas = pytest.importorskip("pandas")
    table = entries.to_pandas()
    assert table.columns.tolist() == entries.keys() and len(table) == len(entries)
    assert table["path"].tolist() == list(entries.paths())
    if "size" in entries:
        assert table["size"].tolist() == entries["size"].tolist()
    if table["path"].dtype == object and len(table):
        return  # pandas itself cannot hold such names as strings
    plain = pandas.DataFrame(entries)
    assert len(plain) == len(entries)
    if len(entries):
        assert plain.columns.tolist() == entries.keys()
        assert plain["path"].tolist() == table["path"].tolist()
        assert plain["depth"].tolist() == table["depth"].tolist()


def test_arrow(entries: ferry.Entries) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = entries.to_arrow()
    assert table.column_names == entries.keys()
    table.validate(full=True)
    decoded = [os.fsdecode(path) for path in table["path"].to_pylist()]
    assert decoded == list(entries.paths())
    assert pyarrow.table(entries)["depth"].to_pylist() == entries["depth"].tolist()


def test_paths_of_arrow(tree: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    texts = [str(tree / "a"), str(tree / "b"), "/" + "long" * 100]
    kinds = [pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary()]
    if hasattr(pyarrow, "string_view"):
        kinds += [pyarrow.string_view(), pyarrow.binary_view()]
    for kind in kinds:
        array = pyarrow.array(texts, kind)
        assert ferry.stat_many(array)[1].tolist() == [0, 0, 36]
        assert ferry.Names(array[1:]) == texts[1:]
        chunks = pyarrow.chunked_array([array, array[:1]])
        assert ferry.Names(chunks) == texts + texts[:1]
    assert list(ferry.read_many(pyarrow.array(texts[:2]))) == [b"first", b"second"]
    assert list(ferry.read_many(pyarrow.array([], pyarrow.string()))) == []
    for wrong in (pyarrow.array([1]), pyarrow.array(["a"]).dictionary_encode()):
        with pytest.raises(TypeError, match="strings"):
            ferry.Names(wrong)
    for null in (pyarrow.array(["a", None]), pyarrow.array(["a\0"])):
        with pytest.raises(ValueError, match="null"):
            ferry.stat_many(null)


def test_paths_of_pandas(tree: Path) -> None:
    pandas = pytest.importorskip("pandas")
    texts = [str(tree / "a"), str(tree / "missing")]
    for series in (pandas.Series(texts), pandas.Series(texts, dtype=object)):
        assert ferry.stat_many(series)[1].tolist() == [0, 2]


def test_without_pandas_and_pyarrow(tree: Path) -> None:
    """Neither is needed until it is asked for."""
    program = (
        "import sys; sys.modules['pandas'] = sys.modules['pyarrow'] = None; import ferry;"
        "found = ferry.walk('.', stat=True); print(len(found), found[1:].paths()[0] > '')"
    )
    environment = os.environ | {"PYTHONPATH": str(conftest.PACKAGE)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tree, env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("7 True\n", "")
