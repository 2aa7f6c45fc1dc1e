# SPDX-License-Identifier: MIT
"""Checks the protocol, and tickets above it, with spin: all holds, omissions are detected."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROTOCOL = Path(__file__).with_name("protocol.pml")
TICKETS = Path(__file__).with_name("tickets.pml")

# Compiling a checker takes longer than its search.
CACHE = ["ccache"] if shutil.which("ccache") else []

POSTING = ["-DCALLS_1=1"]
LOOKING_ON = ["-DLOOKING_ON", "-DCALLS_1=0"]
WITHDRAWING = ["-DWITHDRAWING", "-DCALLS_0=0"]
WEAK_POSTING = ["-DCALLS_0=2", "-DCALLS_1=0"]

RIGHT = {
    "two posters": [],
    "two waiters": LOOKING_ON,
    "withdrawing": WITHDRAWING,
    "withdrawing, interrupted": [*WITHDRAWING, "-DINTERRUPTED"],
    "two posters, fences": ["-DFENCES"],
    "two waiters, fences": [*LOOKING_ON, "-DFENCES"],
    "withdrawing, fences": [*WITHDRAWING, "-DFENCES"],
    "posting, weak memory": ["-DWEAK", *WEAK_POSTING],
    "withdrawing, weak memory": ["-DWEAK", *WITHDRAWING, "-DCALLS_1=1"],
}

WRONG = {
    "the runner sleeps without looking again": [*POSTING, "-DWITHOUT_RESCAN"],
    "the runner looks again without a fence": [*POSTING, "-DWITHOUT_RUNNER_FENCE"],
    "a waiter looks again without a fence": [*POSTING, "-DWITHOUT_WAITER_FENCE"],
    "the gate closes without a fence": [*WITHDRAWING, "-DWITHOUT_GATE_FENCE"],
    "the runner takes without a second look": [*WITHDRAWING, "-DWITHOUT_SECOND_LOOK"],
    "status is read before begun": [*WITHDRAWING, "-DSTATUS_FIRST"],
    "an interrupted call is given back": [*WITHDRAWING, "-DINTERRUPTED", "-DGIVEN_BACK"],
    "weak memory: status is published without a release": [
        *("-DWEAK", *WEAK_POSTING),
        "-DWITHOUT_RELEASE",
    ],
    "weak memory: status is read without an acquire": [
        *("-DWEAK", *WEAK_POSTING),
        "-DWITHOUT_ACQUIRE",
    ],
    "no membarrier and no light fences": [*POSTING, "-DFENCES", "-DWITHOUT_LIGHT_FENCE"],
}

WRONG_TICKETS = {
    "a call that is begun is moved": ["-DBEGUN_IS_IGNORED"],
    "a call that cannot be moved is not given back": ["-DNOT_GIVEN_BACK"],
    "an entry is freed before it is read": ["-DFREED_FIRST"],
    "the first entry is kept": ["-DNOT_FREED"],
    "entries between the first and the last are kept": ["-DLEFT_ARE_KEPT"],
    "an entry that is freed holds the new place": ["-DLEFT_SAYS_WHERE"],
}


def errors(folder: Path, options: list[str], model: Path = PROTOCOL) -> int:
    subprocess.run(["spin", "-a", *options, model], cwd=folder, check=True, capture_output=True)
    compile_checker = [*CACHE, "gcc", "-w", "-O1", "-DSAFETY", "-c", "pan.c"]
    subprocess.run(compile_checker, cwd=folder, check=True)
    subprocess.run(["gcc", "-o", "pan", "pan.o"], cwd=folder, check=True)
    run = subprocess.run(["./pan", "-m100000"], cwd=folder, capture_output=True, text=True)
    assert "max search depth too small" not in run.stdout
    match = re.search(r"errors: (\d+)", run.stdout)
    assert match, run.stdout + run.stderr
    return int(match[1])


@pytest.mark.parametrize("name", RIGHT)
def test_no_wake_up_is_lost_and_each_call_runs_once(name: str, tmp_path: Path) -> None:
    assert errors(tmp_path, RIGHT[name]) == 0


def test_every_ticket_leads_to_its_own_result(tmp_path: Path) -> None:
    assert errors(tmp_path, [], TICKETS) == 0


@pytest.mark.parametrize("name", WRONG_TICKETS)
def test_tickets_are_lost_when(name: str, tmp_path: Path) -> None:
    assert errors(tmp_path, WRONG_TICKETS[name], TICKETS) > 0


@pytest.mark.parametrize("name", WRONG)
def test_it_is_noticed_when(name: str, tmp_path: Path) -> None:
    assert errors(tmp_path, WRONG[name]) > 0
