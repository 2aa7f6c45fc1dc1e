# SPDX-License-Identifier: MIT
"""ferry trace --stacks says where the calls of a finding are made."""

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Trace


@pytest.fixture(scope="session")
def waste(build: Path) -> Path:
    return build / "tests" / "trace" / "waste"


@pytest.fixture(scope="session", autouse=True)
def libdw(ferry_path: Path) -> None:
    done = subprocess.run(
        [ferry_path, "trace", "--stacks", "--method", "ptrace", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "without libdw" in done.stderr:
        pytest.skip(done.stderr)


def sites(report: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    finding = next(each for each in report["findings"] if each["kind"] == kind)
    found: list[dict[str, Any]] = finding["sites"]
    return found


def outside(site: dict[str, Any], module: str) -> list[dict[str, Any]]:
    return [frame for frame in site["frames"] if frame["module"] == module]


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("question", "ask_again"),
        ("search", "search_path"),
        ("value", "ask_value"),
        ("clock", "ask_time"),
        ("tiny", "write_bytes"),
        ("sync", "sync_rows"),
        ("processes", "start_processes"),
    ],
)
def test_the_function_and_its_line(
    trace: Trace, waste: Path, kind: str, function: str, tmp_path: Path
) -> None:
    report = trace(waste, kind, tmp_path, options=("--stacks",))
    first = sites(report, kind)[0]
    assert first["share"] > 0.4
    inner, outer = outside(first, "waste")[:2]
    assert (inner["function"], inner["source"]) == (function, "waste.c")
    assert inner["line"] > 0
    assert outer["function"] == "main"
    assert first["site"].startswith(f"{function} (waste.c:")


def test_without_symbols_it_is_module_and_offset(trace: Trace, waste: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, waste], check=True)
    report = trace(stripped, "question", tmp_path, options=("--stacks",))
    first = sites(report, "question")[0]
    inner = outside(first, "stripped")[0]
    assert inner["function"] is None
    assert first["site"].startswith(f"stripped+{inner['offset']:#x}")
    named = subprocess.run(
        ["addr2line", "-f", "-e", waste, hex(inner["offset"])],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert named.stdout.startswith("ask_again\n")


def test_a_program_that_was_replaced_by_another(trace: Trace, waste: Path, tmp_path: Path) -> None:
    script = f"{waste} question {tmp_path}; exec {waste} search {tmp_path}"
    report = trace("sh", "-c", script, options=("--stacks",))
    for kind, function in (("question", "ask_again"), ("search", "search_path")):
        assert outside(sites(report, kind)[0], "waste")[0]["function"] == function


def test_programs_of_debian(trace: Trace) -> None:
    python = "import os\nfor _ in range(3000): os.path.exists('/etc/passwd')"
    report = trace("/usr/bin/python3", "-c", python, options=("--stacks",))
    frames = sites(report, "question")[0]["frames"]
    assert any(frame["function"] == "_PyEval_EvalFrameDefault" for frame in frames)
    report = trace("bash", "-c", "for n in $(seq 30); do x=$(true; :); done", options=("--stacks",))
    assert any("make_child" in site["site"] for site in sites(report, "processes"))


def test_a_running_program(ferry_path: Path, waste: Path, method: str, tmp_path: Path) -> None:
    program = subprocess.Popen([waste, "sync", tmp_path, "100000"])
    try:
        time.sleep(0.2)
        options = ["--json", "--stacks", "--method", method, "--duration", "1"]
        done = subprocess.run(
            [ferry_path, "trace", *options, "--pid", str(program.pid)],
            capture_output=True,
            timeout=60,
            check=True,
        )
    finally:
        program.kill()
        program.wait()
    report = json.loads(done.stdout)
    assert outside(sites(report, "sync")[0], "waste")[0]["function"] == "sync_rows"


def test_there_are_none_without_the_option(trace: Trace, waste: Path, tmp_path: Path) -> None:
    report = trace(waste, "question", tmp_path)
    assert all(finding["sites"] == [] for finding in report["findings"])


def test_a_file_that_is_gone_costs_names_only(trace: Trace, waste: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copy(waste, copy)
    script = f"{copy} question {tmp_path}; rm {copy}"
    report = trace("sh", "-c", script, options=("--stacks",))
    assert report["findings"][0]["kind"] == "question"
    assert not copy.exists()
