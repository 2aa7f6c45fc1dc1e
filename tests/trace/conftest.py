# SPDX-License-Identifier: MIT
"""What the tests of ferry trace share: running it, and the program that is hard to trace."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Trace = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def traces(watching: None) -> None:
    """No test of ferry bench runs at the same time."""


@pytest.fixture(scope="session")
def deeds(build: Path) -> Path:
    return build / "tests" / "trace" / "deeds"


@pytest.fixture(scope="session")
def may_trace(ferry_path: Path) -> None:
    done = subprocess.run(
        [ferry_path, "trace", "--method", "ptrace", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(done.stderr)


@pytest.fixture(scope="session")
def without_bpf(ferry_path: Path) -> str:
    """Why BPF is not available, or ""."""
    done = subprocess.run(
        [ferry_path, "trace", "--method", "bpf", "true"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else ""


@pytest.fixture
def bpf(without_bpf: str) -> None:
    if without_bpf:
        pytest.skip(without_bpf)


@pytest.fixture(params=["bpf", "ptrace"])
def method(request: pytest.FixtureRequest, without_bpf: str) -> str:
    name: str = request.param
    request.getfixturevalue("bpf" if name == "bpf" else "may_trace")
    return name


@pytest.fixture
def trace(ferry_path: Path, method: str) -> Trace:
    """Traces a command once, by each method; the document of --json."""

    def run(*command: str | Path, options: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
        done = subprocess.run(
            [ferry_path, "trace", "--json", "--method", method, *options, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=True,
        )
        report = json.loads(done.stdout)
        assert (report["method"], report["uncounted"], report["lost_threads"]) == (method, 0, 0)
        return report

    return run


BPF_PROGRAMS = 6  # that are attached at least: not every kernel lets page faults be counted


def is_bpf_program(file: Path) -> bool:
    try:
        link = os.readlink(file)
    except FileNotFoundError:  # closed meanwhile
        return False
    return "bpf" in link and "link" in link


def has_attached(pid: int) -> bool:
    """Whether a tracer counts with BPF."""
    return sum(map(is_bpf_program, Path(f"/proc/{pid}/fd").iterdir())) >= BPF_PROGRAMS


def refused(ferry_path: Path, arguments: list[str], reason: str) -> None:
    """`ferry trace ARGUMENTS` fails, prints nothing, and says REASON."""
    done = subprocess.run(
        [ferry_path, "trace", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode in (1, 2)
    assert reason in done.stderr
    assert done.stdout == ""


def counts(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Calls and failures by name."""
    return {row["call"]: (row["calls"], row["failed"]) for row in report["calls"]}
