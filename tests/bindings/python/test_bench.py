# SPDX-License-Identifier: MIT
"""ferry.bench, with what ferry bench really writes."""

import doctest
import json
import subprocess
from pathlib import Path

import ferry.bench
import pytest


@pytest.fixture(scope="module")
def results(ferry_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "crossing.json"
    subprocess.run(
        [ferry_path, "bench", "crossing", "--trials", "3", "--calls", "100", "--json", path],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return path


def test_a_run(results: Path) -> None:
    run = ferry.bench.load(results)
    document = json.loads(results.read_text())
    assert (run.name, run.complete, run.document) == ("crossing", True, document)
    assert len(run.figures) == len(document["figures"])
    for figure in run.figures.values():
        assert figure.value > 0 and figure.unit in ("ns", "ratio")
    assert len(run.findings) == len(document["findings"])
    assert len(run.warnings) == len(document["warnings"])
    rows = run.columns("rows")
    assert rows["name"] == [row["name"] for row in document["rows"]]
    assert all(len(column) == len(rows["name"]) for column in rows.values())


def test_the_example(results: Path) -> None:
    failed, tried = doctest.testmod(ferry.bench, extraglobs={"results": results})
    assert (failed, tried) == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "not the JSON of ferry bench"),
        ("{}", "not the JSON of ferry bench"),
        ('{"schema": "ferry-bench", "version": 1}', "has version 1 of the format"),
        ("nonsense", "Expecting value"),
    ],
)
def test_what_is_no_run(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        ferry.bench.load(tmp_path / "x.json")
    with pytest.raises(FileNotFoundError):
        ferry.bench.load(tmp_path / "missing")
