# SPDX-License-Identifier: MIT
"""ferry-bench(5) describes what ferry bench writes: every field, and no other."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from manual_page import sections, tables

PAGE = "ferry-bench.5"

# What `ferry bench` needs for each part of the page to be written, and where that part is.
RUNS = {
    "crossing": "--trials 4 --calls 50",
    "batch": "--trials 4 --sizes 1,4 --slots 8 --beside raw",
    "chain": "--trials 4",
    "apps": "--pairs 6",
    "files": "--pairs 6 --app stat",
    "flexsc": "--trials 4 --calls 500 --work 100 --threads 2,16 --runners 1",
    "pagefault": "--trials 4 --memory 16 --sizes 4",
    "threads": "--pairs 6 --calls 200 --app compute",
}
ONLY_IN = {
    "loop_ns": "crossing",
    "rows": "crossing",
    "series": "batch",
    "ratios": "batch",
    "at_sizes": "batch",
    "chains": "chain",
    "comparisons": "apps files threads",
    "cells": "flexsc",
    "gains": "flexsc",
    "caller_instructions": "flexsc",
    "in_kernel": "flexsc",
    "idle_cpu_ns": "flexsc",
    "memory_bytes": "pagefault",
    "page_bytes": "pagefault",
    "touches": "pagefault",
    "against": "crossing",
}
SETTINGS_OF_OTHERS = {"calls", "sizes", "slots", "engines", "pairs", "apps", "directory", "trials"}
SETTINGS_OF_OTHERS |= {
    "warmup",
    "work_ns",
    "calls_made",
    "beside",
    "programs",
    "threads",
    "runners",
    "memory_mib",
}


def described(part: int) -> set[str]:
    """The fields in a table of the page, which are in the order below."""
    return {row[0] for row in tables(PAGE)[part][1:]}


(
    OBJECT,
    MACHINE,
    CLOCK,
    SETTINGS,
    TABLES,
    ROWS,
    SERIES,
    FIT,
    RATIOS,
    AT_SIZES,
    CHAINS,
    COMPARISONS,
    RATIO,
    CELLS,
    GAINS,
    TOUCHES,
    AGAINST,
    PAIRS,
) = range(18)


@pytest.fixture(scope="module")
def documents(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "tree").mkdir()
    (folder / "tree" / "file").write_text("x")

    def run(bench: str, *more: str | Path) -> Any:  # noqa: ANN401 (JSON)
        words = [bench, *RUNS[bench].split(), *more, "--json", "-"]
        if bench in ("apps", "files"):
            words += ["--directory", folder / "tree"]
        done = subprocess.run(
            ["ferry", "bench", *words], env=environment, stdout=subprocess.PIPE, check=True
        )
        return json.loads(done.stdout)

    (folder / "earlier.json").write_text(json.dumps(run("crossing")))
    crossing = run("crossing", "--against", folder / "earlier.json")
    return {"crossing": crossing, "batch": run("batch")} | {
        bench: run(bench) for bench in ("chain", "apps", "files", "flexsc", "pagefault", "threads")
    }


def test_the_page_has_the_parts_that_are_compared_here() -> None:
    assert len(tables(PAGE)) == 18
    titles = list(sections(PAGE, "SS"))
    assert titles[1:] == [
        "The object",
        "machine",
        "clock",
        "settings",
        "tables",
        "rows",
        "series",
        "ratios",
        "at_sizes",
        "chains",
        "comparisons",
        "cells",
        "gains",
        "touches",
        "against",
    ]


def test_the_object(documents: dict[str, Any]) -> None:
    for bench, document in documents.items():
        expected = {
            field for field in described(OBJECT) if bench in ONLY_IN.get(field, bench).split()
        }
        assert set(document) == expected
        assert set(document["machine"]) == described(MACHINE)
        assert set(document["clock"]) == described(CLOCK)
        assert set(document["kernel"]) == {"release", "version"}
        settings = set(document["settings"])
        assert settings <= described(SETTINGS)
        assert settings >= described(SETTINGS) - SETTINGS_OF_OTHERS
    written = set().union(*(document["settings"] for document in documents.values()))
    assert written == described(SETTINGS)


def test_tables(documents: dict[str, Any]) -> None:
    for document in documents.values():
        for table in document["tables"]:
            assert set(table) == described(TABLES)
            assert all(set(column) == {"heading", "text"} for column in table["columns"])


def test_rows(documents: dict[str, Any]) -> None:
    for row in documents["crossing"]["rows"]:
        if row["available"]:
            assert set(row) == described(ROWS)
        else:
            assert set(row) == {"name", "label", "available", "reason"}


def test_the_page_names_the_rows(documents: dict[str, Any]) -> None:
    text = sections(PAGE, "SS")["rows"]
    for row in documents["crossing"]["rows"]:
        assert row["name"] in text


def test_series_and_ratios(documents: dict[str, Any]) -> None:
    for series in documents["batch"]["series"]:
        assert set(series) == described(SERIES)
        assert set(series["fit"]) == described(FIT)
    for ratio in documents["batch"]["ratios"]:
        assert set(ratio) == described(RATIOS)
    assert documents["batch"]["at_sizes"]
    for at_size in documents["batch"]["at_sizes"]:
        assert set(at_size) == described(AT_SIZES)


def test_chains(documents: dict[str, Any]) -> None:
    unmeasured = {"name", "chain", "engine", "available", "reason"}
    for row in documents["chain"]["chains"]:
        assert set(row) == (described(CHAINS) if row["available"] else unmeasured)


def test_comparisons(documents: dict[str, Any]) -> None:
    rows = documents["apps"]["comparisons"] + documents["files"]["comparisons"]
    available = [row for row in rows if row["available"]]
    assert available
    for row in available:
        assert set(row) == described(COMPARISONS)
        assert set(row["ratio"]) == described(RATIO)


def test_cells(documents: dict[str, Any]) -> None:
    unmeasured = {"name", "call", "way", "threads", "runners", "work_ns", "available", "reason"}
    for cell in documents["flexsc"]["cells"]:
        assert set(cell) == (described(CELLS) if cell["available"] else unmeasured)


def test_gains(documents: dict[str, Any]) -> None:
    for gain in documents["flexsc"]["gains"]:
        assert set(gain) == described(GAINS)


def test_touches(documents: dict[str, Any]) -> None:
    unmeasured = {"name", "label", "access", "order", "way", "per_fault", "large_page"}
    unmeasured |= {"available", "reason"}
    for touch in documents["pagefault"]["touches"]:
        assert set(touch) == (described(TOUCHES) if touch["available"] else unmeasured)


def test_against(documents: dict[str, Any]) -> None:
    against = documents["crossing"]["against"]
    assert set(against) == described(AGAINST)
    assert all(set(row) == described(PAIRS) for row in against["rows"])
