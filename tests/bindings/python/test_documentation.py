# SPDX-License-Identifier: MIT
"""The recipes of doc/python.md, and the examples in the package's own documentation."""

import doctest
import inspect
import os
import re
import subprocess
import typing
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import ferry
import numpy as np
import pytest
from ferry import call, files, hashes, memory, program, tree, walks

PAGE = (Path(__file__).resolve().parents[3] / "doc" / "python.md").read_text()


def recipe(heading: str) -> dict[str, Callable[..., Any]]:
    """What the code below a heading defines."""
    found = re.search(rf"^## {heading}\n.*?^```python\n(.*?)^```", PAGE, re.M | re.S)
    assert found, f"doc/python.md has no code below {heading}"
    names: dict[str, Any] = {}
    exec(found[1], names)
    return names


def test_there_are_seven_recipes() -> None:
    assert len(re.findall(r"^## Recipe: ", PAGE, re.M)) == 7


def test_arrow(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for size in (3, 1, 2):
        (tmp_path / f"{size}").write_bytes(b"x" * size * 100_000)
    table = recipe("Entries as a table")["largest"](tmp_path, 2)
    assert table["name"].tolist() == ["3", "2"]
    assert table["size"].tolist() == [300_000, 200_000]


def test_data_loader(tmp_path: Path) -> None:
    for i in range(10):
        (tmp_path / f"{i}").write_bytes(bytes([i]) * 100)
    found = list(recipe("Recipe: a data loader")["batches"](tmp_path, 4))
    assert [len(batch) for batch in found] == [4, 4, 2]
    assert sorted(sample[0] for batch in found for sample in batch) == list(range(10))


def test_dataset(tmp_path: Path) -> None:
    for name in ("dog/b.jpg", "dog/a.png", "cat/deep/c.jpg", "cat/notes.txt", "stray.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = recipe("Recipe: a dataset")["make_dataset"](tmp_path)
    expected = [("cat/deep/c.jpg", 0), ("dog/a.png", 1), ("dog/b.jpg", 1)]
    assert sorted(found) == [(str(tmp_path / name), number) for name, number in expected]


def test_processes() -> None:
    found = {row[0]: row[1:] for row in recipe("Recipe: all processes")["processes"]()}
    name, state, seconds = found[os.getpid()]
    assert name == Path("/proc/self/comm").read_text().strip()
    assert state in "RSD" and 0 < seconds <= sum(os.times()[:2]) + 1


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


@pytest.mark.parametrize("module", [call, files, hashes, memory, program, tree, walks])
def test_examples(module: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"first")
    (tmp_path / "b").write_bytes(b"second")
    extra = {name: __import__(name) for name in ("os", "stat")} | {"np": np}
    failed, _ = doctest.testmod(
        module, extraglobs=extra | {"directory": tmp_path, "DT_REG": ferry.DT_REG}
    )
    assert not failed


def test_only_public_names_are_listed() -> None:
    assert set(dir(ferry)) == {*ferry.__all__, "__doc__", "__version__"}
    meson = Path(__file__).resolve().parents[3] / "meson.build"
    if meson.exists():  # not beside an installed package
        assert f"version: '{ferry.__version__}'," in meson.read_text()
    for kind in (ferry.Entries, ferry.Names, ferry.Tree, ferry.Block):
        assert kind.__module__ == "ferry"


def test_all_is_documented() -> None:
    for name in ferry.__all__:
        if callable(value := getattr(ferry, name)):
            assert value.__doc__, name


@pytest.mark.parametrize("name", ["stat_many", "read_many", "read_chunks", "walk", "walk_blocks"])
def test_each_parameter_is_explained(name: str) -> None:
    function = getattr(ferry, name)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in ("views",):
            assert re.search(rf"^{parameter.name}\b.*: ", function.__doc__, re.M), parameter
    assert {"threads", "return"} <= typing.get_type_hints(function).keys()


def test_names_in_the_documentation_exist() -> None:
    """A name with a capital letter, or one that is called, is in the package or in Python."""
    for module in (call, files, hashes, memory, program, tree, walks):
        for text in [value.__doc__ for value in vars(module).values() if callable(value)]:
            for name in re.findall(r"\bferry\.(\w+)", text or ""):
                assert hasattr(ferry, name), name


MISTAKES: list[tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]] = [
    (ferry.stat_many, (["/"],), {"threads": -1}),
    (ferry.stat_many, (["/"],), {"threads": "2"}),
    (ferry.stat_many, (["/"],), {"timeout": "2"}),
    (ferry.stat_many, (["/"],), {"timeout": -1}),
    (ferry.stat_many, (["/"],), {"progress": 1}),
    (ferry.stat_many, (["/"],), {"thread": 1}),
    (ferry.stat_many, (2**40, ["a"]), {}),
    (ferry.stat_many, (), {}),
    (lambda *args, **how: list(ferry.read_many(*args, **how)), (["/"] * 20,), {"memory": 1.5}),
    (lambda *args, **how: list(ferry.read_many(*args, **how)), (["/"] * 20,), {"limit": 2**64}),
    (ferry.walk, ("/",), {"prune": 1}),
    (ferry.Program().call, (2**80,), {}),
    (ferry.Program().label, (1,), {}),
    (ferry.Program().goto, (1,), {}),
    (ferry.Program().run, (["a"],), {}),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_errors_show_no_internal_names(
    mistake: tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]],
) -> None:
    function, arguments, how = mistake
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*arguments, **how)
    said = str(caught.value)
    for word in ("_ferry", "make_options", "open_reader", "incompatible function arguments"):
        assert word not in said
