# SPDX-License-Identifier: MIT
"""What the lab measures in guests works on any kernel, as far as it has what that takes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import Ferry


def document(ferry: Ferry, *words: str | Path) -> dict[str, Any]:
    done = ferry(*words, "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


SMALL = ["--trials", "4", "--sizes", "1,4,16", "--slots", "64", "--engine", "loop"]


def test_batches_run_beside_engines_where_they_can(ferry: Ferry) -> None:
    calls = "within,unimplemented,jumps,forwarded,word_copy"
    found = document(ferry, "batch", *SMALL, "--call", calls, "--beside", "raw,nops,nops-linked")
    engines: dict[str, list[str]] = {}
    for series in found["series"]:
        engines.setdefault(series["call"], []).append(series["engine"])
        assert series["least_ns"][-1] > 0
        assert (series["handler"], series["overhead"]) == (None, None)
    everything = ["loop", "raw", "nops", "nops-linked"]
    assert engines == {
        "within": everything,
        "unimplemented": everything,
        "jumps": ["loop"],
        "forwarded": ["loop"],
        "word_copy": ["loop"],
    }
    against = {(pair["engine"], pair["against"]) for pair in found["ratios"]}
    assert against == {(engine, "loop") for engine in everything[1:]}


def test_io_uring_makes_the_calls_that_it_has(ferry: Ferry, tmp_path: Path) -> None:
    calls = "read,pread,pread_page,write,statx,getppid,jumps"
    found = document(
        ferry, "batch", *SMALL, "--call", calls, "--beside", "uring,uring-linked",
        "--directory", tmp_path,
    )  # fmt: skip
    sides: dict[str, list[str]] = {}
    for series in found["series"]:
        sides.setdefault(series["call"], []).append(series["engine"])
    everything = ["loop", "uring", "uring-linked"]
    assert sides == {
        call: ["loop"] if call in ("getppid", "jumps") else everything for call in calls.split(",")
    }
    left_out = [each["text"] for each in found["warnings"] if each["id"] == "left-out"]
    assert [text.split(":")[0] for text in left_out] == ["getppid", "getppid", "jumps", "jumps"]


def test_calls_work_on_a_file_of_a_directory(ferry: Ferry, tmp_path: Path) -> None:
    calls = "write,fstat,lstat,statx"
    found = document(
        ferry, "batch", *SMALL, "--call", calls, "--beside", "raw", "--directory", tmp_path
    )
    assert len(found["series"]) == 8
    assert all(str(tmp_path) in series["label"] for series in found["series"])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--beside", "naive"], "naive is not available: the test module is not loaded"),
        (["--beside", "tame"], "'tame'; there are bare-syscall, bare-device, naive, raw, nops"),
        (["--beside", "nops", "--sizes", "1,3"], "nops takes --sizes that are powers of two"),
        (["--call", "write", "--directory", "/nowhere"], "/nowhere: not a directory to work on"),
    ],
)
def test_what_cannot_be_run_is_refused(ferry: Ferry, words: list[str], expected: str) -> None:
    done = ferry("batch", *words)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert expected in done.stderr


def test_a_program_takes_the_place_of_the_usual_one(ferry: Ferry, build: Path, tree: Path) -> None:
    program = build / "measure" / "mdu_by_uring"
    words: list[str | Path] = [
        "--app",
        "mdu",
        "--program",
        program,
        "--directory",
        tree,
        "--engine",
        "loop",
    ]
    (row,) = document(ferry, "apps", *words, "--pairs", "2")["comparisons"]
    assert (row["side"], row["against"], row["equal"]) == ("loop", "mdu_by_uring", True)
    assert row["commands"][0][1:] == row["commands"][1][1:]


def test_one_program_is_compared_with_one_application(ferry: Ferry) -> None:
    for words in (["--program", "a"], ["--app", "mdu", "--program", "a", "--program", "b"]):
        done = ferry("apps", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "one --program is compared with one --app" in done.stderr
