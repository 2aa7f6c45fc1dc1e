# SPDX-License-Identifier: MIT
"""The recipes of doc/python.md, and the examples in the package's own documentation."""

import doctest
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from ferry import call, files, program, tree

PAGE = (Path(__file__).resolve().parents[3] / "doc" / "python.md").read_text()


def recipe(heading: str) -> dict[str, Callable[..., Any]]:
    """What the code below a heading defines."""
    found = re.search(rf"^## {heading}\n.*?^```python\n(.*?)^```", PAGE, re.M | re.S)
    assert found, f"doc/python.md has no code below {heading}"
    names: dict[str, Any] = {}
    exec(found[1], names)
    return names


def test_there_are_five_recipes() -> None:
    assert len(re.findall(r"^## Recipe: ", PAGE, re.M)) == 5


def test_arrow(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for size in (3, 1, 2):
        (tmp_path / f"{size}").write_bytes(b"x" * size * 100_000)
    table = recipe("Results in pandas and Arrow")["largest"](tmp_path, 2)
    assert table["name"].tolist() == ["3", "2"]
    assert table["size"].tolist() == [300_000, 200_000]


def test_data_loader(tmp_path: Path) -> None:
    for i in range(10):
        (tmp_path / f"{i}").write_bytes(bytes([i]) * 100)
    found = list(recipe("Recipe: a data loader")["batches"](tmp_path, 4))
    assert [len(batch) for batch in found] == [4, 4, 2]
    assert sorted(sample[0] for batch in found for sample in batch) == list(range(10))


def test_duplicates(tmp_path: Path) -> None:
    contents = {"a": b"one", "b": b"two", "c": b"one", "d": b"three", "e": b"", "f": b""}
    for name, text in contents.items():
        (tmp_path / name).write_bytes(text)
    [group] = recipe("Recipe: find duplicates")["duplicates"](tmp_path)
    assert sorted(group) == [str(tmp_path / "a"), str(tmp_path / "c")]


def test_du(tmp_path: Path) -> None:
    (tmp_path / "x" / "y").mkdir(parents=True)
    for name, size in (("one", 5000), ("x/two", 100_000), ("x/y/three", 1)):
        (tmp_path / name).write_bytes(b"x" * size)
    os.link(tmp_path / "one", tmp_path / "x" / "y" / "again")
    listed = subprocess.run(["du", "-B1", tmp_path], stdout=subprocess.PIPE, text=True, check=True)
    expected = {path: int(size) for size, path in map(str.split, listed.stdout.splitlines())}
    found = recipe("Recipe: du")["du"](tmp_path)
    assert found.keys() == expected.keys()
    # Which of the names a hard link counts for depends on the order.
    assert found[str(tmp_path)] == expected[str(tmp_path)]


def test_backup(tmp_path: Path) -> None:
    names = recipe("Recipe: find the files that a backup has to save")
    for name in ("same", "grows", "touched", "goes"):
        (tmp_path / name).write_bytes(b"x")
    before = names["scan"](tmp_path)
    (tmp_path / "grows").write_bytes(b"xx")
    os.utime(tmp_path / "touched", (1, 1))
    (tmp_path / "goes").unlink()
    (tmp_path / "new").touch()
    changed, gone = names["to_save"](before, names["scan"](tmp_path))
    assert [Path(path).name for path in changed] == ["grows", "new", "touched"]
    assert [Path(path).name for path in gone] == ["goes"]


def test_search(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("a", "b", ".git/a"):
        (tmp_path / name).write_bytes(b"nothing\nneedle 17\n" if name.endswith("a") else b"hay")
    found = list(recipe("Recipe: search")["search"](tmp_path, rb"needle \d+"))
    assert found == [(str(tmp_path / "a"), 2, b"needle 17")]


@pytest.mark.parametrize("module", [call, files, program, tree])
def test_examples(module: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"first")
    (tmp_path / "b").write_bytes(b"second")
    extra = {name: __import__(name) for name in ("os", "stat")}
    failed, _ = doctest.testmod(module, extraglobs=extra | {"directory": tmp_path})
    assert not failed


def test_all_is_documented() -> None:
    import ferry

    for name in ferry.__all__:
        if callable(value := getattr(ferry, name)):
            assert value.__doc__, name
