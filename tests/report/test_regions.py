# SPDX-License-Identifier: MIT
"""The page says what ferry cc explained."""

import json
from pathlib import Path
from typing import Any

from conftest import make_report
from page_reader import by_id, read_page, text


def region(line: int, calls: list[str], in_a_row: int) -> dict[str, Any]:
    end = {"file": "/a.c", "line": 9, "column": 1, "reason": "loop"}
    return {
        "schema": "ferry-cc",
        "version": 1,
        "file": "/a.c",
        "line": line,
        "column": 1,
        "function": "<copy>",
        "calls": calls,
        "is_region": in_a_row > 1,
        "in_a_row": in_a_row,
        "saved_ns": 100.0 if in_a_row > 1 else None,
        "ends": [end | {"text": "a switch", "remedy": "switch later"}],
        "program": None,
    }


def write_lines(path: Path, *regions: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(each, separators=(",", ":")) + "\n" for each in regions))


def test_the_longest_run_comes_first_and_ends_are_counted(tmp_path: Path) -> None:
    pair, three = region(3, ["dup", "close"], 2), region(5, ["open", "read", "close"], 3)
    write_lines(tmp_path / "calls.json", pair, three, pair, region(7, ["fsync"], 1))
    done = make_report(tmp_path)
    assert done.stdout.endswith("report.html: 1 explanation of ferry cc\n"), done.stderr
    page = read_page(tmp_path / "report.html")
    shown = text(by_id(page, "cc-0"))
    assert "6 calls, and 2 runs of them that a batch could make." in shown
    assert shown.index("/a.c:5, <copy>()") < shown.index("/a.c:3, <copy>()")
    assert "a switchswitch later3" in shown


def test_a_line_that_does_not_fit_is_named(tmp_path: Path) -> None:
    write_lines(tmp_path / "calls.json", region(3, ["dup"], 1), {"schema": "ferry-cc"})
    done = make_report(tmp_path)
    assert (done.returncode, "the field 'file' is missing" in done.stderr) == (2, True)
