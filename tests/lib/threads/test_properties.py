# SPDX-License-Identifier: MIT
"""Programs with POSIX threads do the same whether their threads are carried or not."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["FERRY_BUILD"])
PROGRAMS = BUILD / "tests" / "lib" / "threads"
PROPERTIES = PROGRAMS / "properties"
TRIALS = int(os.environ.get("FERRY_TRIALS", "1"))
CARRIED: list[str | Path] = [BUILD / "cli" / "ferry", "threads", "--after", "0", "--report"]

Result = subprocess.CompletedProcess[str]


def run(*command: str | Path) -> Result:
    """In a process group of its own, so that what a hung trial left is killed with it."""
    with subprocess.Popen(
        command,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def names() -> list[str]:
    return run(PROPERTIES, "--list").stdout.split()


def carried(report: str) -> int:
    return sum(map(int, re.findall(r"carried (\d+) threads", report)))


@pytest.mark.parametrize("carriers", ["1", "2"])
@pytest.mark.parametrize("name", names())
def test_a_property_holds_on_carriers(name: str, carriers: str) -> None:
    plain = run(PROPERTIES, name)
    assert plain.returncode == 0
    for _ in range(TRIALS):
        on_carriers = run(*CARRIED, "--carriers", carriers, PROPERTIES, name)
        assert (on_carriers.stdout, on_carriers.returncode) == (plain.stdout, plain.returncode)


def test_the_threads_are_carried() -> None:
    """Otherwise the comparisons above compare nothing."""
    done = run(*CARRIED, PROPERTIES, "local_data")
    assert carried(done.stderr) == 10
    assert "pthread_exit" not in done.stderr
    assert re.search(r" 10 the end of the thread", done.stderr)


def test_a_closed_descriptor_ends_the_wait_for_it() -> None:
    done = run(*CARRIED, PROGRAMS / "carried", "close")
    assert (done.stdout, done.returncode) == ("-1 Bad file descriptor\n", 0)


def test_a_stopped_program_goes_on_and_ends_by_sigterm() -> None:
    with subprocess.Popen(
        [*CARRIED, PROGRAMS / "carried", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin
        assert process.stdout
        for _ in range(3):
            process.send_signal(signal.SIGSTOP)
            process.stdin.write(b"x")
            process.stdin.flush()
            process.send_signal(signal.SIGCONT)
            assert process.stdout.read(1) == b"x"
        process.terminate()
        assert process.wait(timeout=60) == -signal.SIGTERM


@pytest.mark.parametrize("case", ["many", "own_stacks", "event_loop", "busy"])
def test_a_thread_is_where_it_belongs(case: str) -> None:
    done = run(BUILD / "cli" / "ferry", "threads", "--report", PROGRAMS / "carried", case)
    expected = {
        "many": r"carried 2000 threads",
        "own_stacks": r"carried 0 threads",
        "event_loop": r" 1 an event loop",
        "busy": r" 1 computes between its waits",
    }
    assert done.returncode == 0
    assert re.search(expected[case], done.stderr), done.stderr
