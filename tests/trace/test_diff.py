# SPDX-License-Identifier: MIT
"""ferry trace --diff says whether a program has come to waste more."""

import json
import subprocess
from pathlib import Path
from typing import Any

from conftest import refused


def report(path: Path, calls: int, saved_ns: float) -> Path:
    document: dict[str, Any] = {
        "schema": "ferry-trace",
        "total": calls + 100,
        "calls": [{"call": "stat", "calls": calls}, {"call": "read", "calls": 100}],
        "time": {"missing": "no times"},
        "findings": [
            {
                "kind": "question",
                "saved_ns": {"value": saved_ns, "error": 0.05 * saved_ns},
                "share": 0.2,
            }
        ],
    }
    path.write_text(json.dumps(document))
    return path


def diff(ferry_path: Path, *arguments: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        [ferry_path, "trace", *arguments], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_more_waste_is_found_and_less_is_not(ferry_path: Path, tmp_path: Path) -> None:
    before = report(tmp_path / "before", 1000, 1e6)
    after = report(tmp_path / "after", 2000, 2e6)
    status, text = diff(ferry_path, "--diff", before, after)
    assert status == 1
    assert [line.split()[-2:] for line in text.splitlines()[1:]] == [
        ["91", "%"],
        ["100", "%"],
        ["100", "%"],
    ]
    status, text = diff(ferry_path, "--diff", after, before)
    assert status == 0
    assert "calls of stat" in text


def test_the_threshold_hides_what_it_is_for(ferry_path: Path, tmp_path: Path) -> None:
    before = report(tmp_path / "before", 1000, 1e6)
    after = report(tmp_path / "after", 1080, 1.08e6)
    assert diff(ferry_path, "--diff", before, after) == (
        0,
        "Nothing differs by more than 10 % and its error.\n",
    )
    status, text = diff(ferry_path, "--threshold", "5", "--diff", before, after)
    assert status == 1
    assert "waste" not in text  # by less than its error


def test_new_waste_counts_whatever_there_was(ferry_path: Path, tmp_path: Path) -> None:
    before, after = report(tmp_path / "before", 1000, 1e6), report(tmp_path / "after", 1000, 1e6)
    document = json.loads(before.read_text()) | {"findings": []}
    before.write_text(json.dumps(document))
    status, text = diff(ferry_path, "--diff", before, after)
    assert status == 1
    assert "waste, question" in text


def test_what_is_no_report_is_refused(ferry_path: Path, tmp_path: Path) -> None:
    good = report(tmp_path / "good", 1000, 1e6)
    bad = tmp_path / "bad"
    bad.write_text("{}")
    refused(ferry_path, ["--diff", str(good), str(bad)], "bad is no report of")
    refused(ferry_path, ["--diff", str(good)], "takes one more report")
    refused(ferry_path, ["--diff", str(good), str(tmp_path / "none")], "No such file")
