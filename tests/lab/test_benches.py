# SPDX-License-Identifier: MIT
"""The programs of lab/benches.toml run on any kernel, and print what the lab reads."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.bench_figures import figure, table
from lab.tests.manifest import read_benches

BUILD = Path(os.environ.get("FERRY_BUILD", "build")).absolute()
PROGRAMS = BUILD / "measure" / "guest"
ON_TMPFS = ("overhead", "total_calls", "walk")


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAMS / program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def tmpfs() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        yield directory


@pytest.mark.parametrize("program", ["call", "overhead", "slope", "total_calls", "walk"])
def test_each_program_prints_its_figures_per_pass(program: str, tmpfs: str) -> None:
    where = [tmpfs] if program in ON_TMPFS else []
    done = run(program, "--passes", "2", *where)
    assert (done.returncode, done.stderr) == (0, "")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert records
    for record in records:
        assert record["unit"] in ("ns", "instructions")
        assert figure(record, "slot") or figure(record, "cost")
        assert len(record.get("slot") or record["cost"]) == 2
    assert len(table(records).splitlines()) == 1 + len(records)
    assert os.listdir(tmpfs) == []


@pytest.mark.parametrize("program", ["call", "overhead", "slope", "total_calls", "walk"])
def test_help_and_bad_arguments(program: str) -> None:
    assert run(program, "--help").stdout.startswith(f"Usage: {program} [--passes N]")
    for arguments in (["--passes", "0"], ["--passes", "x"], ["--what"], ["/dev/shm", "more"]):
        done = run(program, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr


@pytest.mark.parametrize("program", ON_TMPFS)
def test_another_file_system_is_refused(program: str) -> None:
    done = run(program, "/proc")
    assert done.returncode == 1
    assert "'/proc' is not on a tmpfs" in done.stderr


def test_every_benchmark_runs_a_program_that_is_built() -> None:
    for bench in read_benches():
        path = bench.command.split()[0].removeprefix("$FERRY_BUILD/")
        assert (BUILD / path).is_file(), bench.name
