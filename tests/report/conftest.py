# SPDX-License-Identifier: MIT
"""What the tests of ferry report share: directories of made-up runs, the page, the command."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2]
sys.path.insert(0, str(SOURCE))  # the package report

import sample  # noqa: E402

from report import __main__  # noqa: E402


@dataclass(frozen=True)
class Result:
    returncode: int
    stdout: str
    stderr: str


Report = Callable[..., Result]
Write = Callable[[Mapping[str, Any]], Path]


def make_report(directory: Path, output: Path | None = None, *others: Path) -> Result:
    """What the command would do with the directories, in this process: imports take long."""
    out, error = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error):
        words = [str(each) for each in (directory, *others)]
        status = __main__.run(str(output or directory / "report.html"), words)
    return Result(status, out.buffer.getvalue().decode(), error.getvalue())


def write_runs(directory: Path, runs: Mapping[str, Any]) -> Path:
    directory.mkdir(exist_ok=True)
    for name, run in runs.items():
        (directory / f"{name}.json").write_text(json.dumps(run))
    return directory


@pytest.fixture
def results(tmp_path: Path) -> Write:
    return lambda runs: write_runs(tmp_path / "results", runs)


@pytest.fixture(scope="session")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of one run of each bench; drawing it takes longer than most tests."""
    directory = write_runs(tmp_path_factory.mktemp("all") / "results", sample.all_benches())
    done = make_report(directory)
    assert done == Result(0, f"{directory / 'report.html'}: 9 runs\n", "")
    return directory / "report.html"


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The Python that runs the tests is the one that the command finds."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return os.environ | {"PATH": path, "LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="session")
def command(ferry_path: Path, environment: dict[str, str]) -> Report:
    def run(*args: str | Path, cwd: Path | None = None) -> Result:
        done = subprocess.run(
            [ferry_path, "report", *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=cwd,
            env=environment,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run
