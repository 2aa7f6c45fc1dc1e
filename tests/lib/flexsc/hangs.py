#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs each trial of flexsc many times: none may hang or fail.  hangs.py [RUNS [TRIAL...]]

A trial of trials.c gets the number of the run as its seed.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

BUILD = Path(os.environ.get("FERRY_BUILD", Path(__file__).parents[3] / "build"))
FOLDER = BUILD / "tests/lib/flexsc"

# Of trials.c, with another seed in each run; then whole programs.
PARTS = ["blocked", "polled", "shared", "standins", "events"]
PROGRAMS = ["test_direct", "test_confinement"]
# Even on a busy machine a run takes some tenths of a second.
TIME_LIMIT = 60
# Runs from one line of progress to the next.
PROGRESS = 250


def failure(command: list[str]) -> str | None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=TIME_LIMIT, text=True)
    except subprocess.TimeoutExpired:
        return f"hangs: not over after {TIME_LIMIT} seconds"
    except subprocess.CalledProcessError as error:
        return f"failed with status {error.returncode}: {error.stderr}{error.stdout}"
    return None


def repeat(name: str, runs: int) -> int:
    """The number of failures."""
    start = time.monotonic()
    failures = 0
    for run in range(1, runs + 1):
        command = [str(FOLDER / "trials"), name, str(run)]
        found = failure(command if name in PARTS else [str(FOLDER / name)])
        if found:
            failures += 1
            print(f"{name}, run {run}: {found}", flush=True)
        if run % PROGRESS == 0 and run < runs:
            print(f"{name}: {run} of {runs} runs", flush=True)
    seconds = time.monotonic() - start
    print(f"{name}: {runs} runs, {failures} failures, {seconds:.0f} s", flush=True)
    return failures


def main(arguments: list[str]) -> int:
    runs = int(arguments[0]) if arguments else 1000
    names = arguments[1:] or PARTS + PROGRAMS
    return 1 if sum(repeat(name, runs) for name in names) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
