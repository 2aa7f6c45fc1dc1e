# SPDX-License-Identifier: MIT
"""ferry-gdb.py lists user-level threads, shows where they wait, and lets them continue."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILD = Path(os.environ.get("FERRY_BUILD", HERE.parents[2] / "build"))
SCRIPT = HERE.parents[2] / "lib" / "flexsc" / "ferry-gdb.py"


@pytest.mark.skipif(not shutil.which("gdb"), reason="needs gdb")
def test_threads_in_gdb() -> None:
    steps = [
        f"source {SCRIPT}",
        "break stop_here",
        "run",
        "info ferry-threads",
        "ferry-backtrace 2",
        "ferry-backtrace 0",
        "ferry-backtrace 3",
        "delete",
        "continue",
    ]
    command = ["gdb", "-nx", "-batch", *(f"-ex={step}" for step in steps)]
    command.append(str(BUILD / "tests" / "lib" / "flexsc" / "debugged"))
    # LeakSanitizer cannot run below a debugger.
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(
        command, text=True, capture_output=True, timeout=100, check=False, env=env
    )
    rows = [
        line.split() for line in done.stdout.splitlines() if "waiter" in line or "stopper" in line
    ]
    listed = [row for row in rows if row[0].isdecimal()]
    assert [row[2:4] for row in listed] == [["stopper", "2"], ["waiter", "1"], ["waiter", "0"]]
    assert listed[0][4] == "runs"
    assert "wait_for_mutex" in done.stdout
    assert "stopper_main" in done.stdout
    assert "Name a number from 0 to 2." in done.stderr
    assert "exited normally" in done.stdout
