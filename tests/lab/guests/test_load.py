# SPDX-License-Identifier: MIT
"""What a guest gets of the CPU time that it wants."""

import os
import subprocess
import time

import pytest

from lab.guests.load import Meter, Usage, tasks_below

SECOND = 10**9


def test_the_share_is_what_ran_of_what_was_wanted() -> None:
    assert Usage(3.0, 1.0).share == 0.75
    assert Usage().share == 1.0
    assert (Usage(5.0, 4.0) - Usage(2.0, 3.0)).share == 0.75


def test_threads_that_come_and_go_are_added_up() -> None:
    meter = Meter()
    meter.update({"1": (2 * SECOND, 1 * SECOND)}, (0, 0))
    meter.update({"1": (3 * SECOND, 1 * SECOND), "2": (1 * SECOND, 0)}, (400, 0))
    meter.update({"2": (2 * SECOND, 4 * SECOND)}, (600, 0))
    assert meter.usage == Usage(5.0, 5.0)


def test_stolen_time_did_not_run() -> None:
    meter = Meter()
    meter.update({"1": (4 * SECOND, 0)}, (300, 100))
    assert meter.usage == Usage(3.0, 1.0)


def test_processes_below_are_found_and_measured() -> None:
    busy = "while :; do :; done"
    with subprocess.Popen(["sh", "-c", f"sh -c '{busy}' & wait"]) as shell:
        try:
            deadline = time.monotonic() + 20
            while sum(ran for ran, _ in tasks_below(shell.pid).values()) < 0.2 * SECOND:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            meter = Meter()
            meter.attach(shell.pid)
            meter.sample(0)
            assert meter.usage.used > 0.1
            assert len(tasks_below(shell.pid)) == 2
        finally:
            for task in tasks_below(shell.pid):
                os.kill(int(task), 9)


def test_nothing_is_measured_before_there_is_a_guest(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter()
    meter.sample(0)
    assert meter.usage == Usage()
