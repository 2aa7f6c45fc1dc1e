# SPDX-License-Identifier: MIT
"""Checks the parking lot with spin: no wake-up is lost, and omissions are detected."""

import re
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).with_name("parking.pml")

RIGHT: dict[str, list[str]] = {"a waiter": [], "a waiter that is called home": ["-DCALLER"]}

WRONG = {
    "a mutex is released without a fence": ["-DWITHOUT_WAKER_FENCE"],
    "a waiter is counted without a fence": ["-DWITHOUT_WAITER_FENCE"],
    "events since the last try are ignored": ["-DWITHOUT_SEQ"],
    "a wait is linked before the context is saved": ["-DLINKED_BEFORE_SAVED"],
    "a thread is queued while it is linking": ["-DPUSHED_WHILE_LINKING"],
    "a carrier sleeps without a last look": ["-DWITHOUT_LAST_LOOK"],
    "a thread is queued without a fence": ["-DWITHOUT_PUSH_FENCE"],
    "calls are looked for before the wait is open": ["-DCALLER", "-DCALLED_IS_READ_FIRST"],
}


def errors(folder: Path, options: list[str]) -> int:
    subprocess.run(["spin", "-a", *options, MODEL], cwd=folder, check=True, capture_output=True)
    compile_checker = ["gcc", "-w", "-DSAFETY", "-o", "pan", "pan.c"]
    subprocess.run(compile_checker, cwd=folder, check=True)
    run = subprocess.run(["./pan", "-m100000"], cwd=folder, capture_output=True, text=True)
    assert "max search depth too small" not in run.stdout
    match = re.search(r"errors: (\d+)", run.stdout)
    assert match, run.stdout + run.stderr
    return int(match[1])


@pytest.mark.parametrize("name", RIGHT)
def test_no_wake_up_is_lost(name: str, tmp_path: Path) -> None:
    assert errors(tmp_path, RIGHT[name]) == 0


@pytest.mark.parametrize("name", WRONG)
def test_it_is_noticed_when(name: str, tmp_path: Path) -> None:
    assert errors(tmp_path, WRONG[name]) > 0
