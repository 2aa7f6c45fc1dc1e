# SPDX-License-Identifier: MIT
"""Programs with POSIX threads do the same whether their threads are carried or not."""

import os
import re
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

BUILD = Path(os.environ["FERRY_BUILD"])
PROGRAMS = BUILD / "tests" / "lib" / "threads"
PROPERTIES = PROGRAMS / "properties" / "properties"
TRIALS = int(os.environ.get("FERRY_TRIALS", "1"))
AT_ONCE = 8  # trials, which mostly wait
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


def run_trials(*command: str | Path) -> set[tuple[str, int]]:
    """The outputs and statuses of all trials."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = pool.map(lambda _: run(*command), range(TRIALS))
        return {(result.stdout, result.returncode) for result in results}


def names() -> list[str]:
    return run(PROPERTIES, "--list").stdout.split()


def carried(report: str) -> int:
    return sum(map(int, re.findall(r"carried (\d+) threads", report)))


@pytest.mark.parametrize("carriers", ["1", "2"])
@pytest.mark.parametrize("name", names())
def test_a_property_holds_on_carriers(name: str, carriers: str) -> None:
    plain = run(PROPERTIES, name)
    assert plain.returncode == 0
    on_carriers = run_trials(*CARRIED, "--carriers", carriers, PROPERTIES, name)
    assert on_carriers == {(plain.stdout, plain.returncode)}


def altered(how: str, after: int) -> list[str | Path]:
    """Carries threads by a library that is built for a test: see meson.build."""
    return [
        "env",
        f"LD_PRELOAD={PROGRAMS}/libferry_threads_{how}.so",
        "GLIBC_TUNABLES=glibc.pthread.rseq=0",
        f"FERRY_THREADS_AFTER={after}",
        "FERRY_THREADS_REPORT=1",
    ]


def resting(how_often: str, after: int) -> list[str | Path]:
    """It does not measure when to rest: a busy machine changes no result."""
    return altered(f"resting_{how_often}", after)


@pytest.mark.parametrize("name", names())
def test_a_property_holds_while_rests_come_and_go(name: str) -> None:
    plain = run(PROPERTIES, name)
    often = run_trials(*resting("often", 1), PROPERTIES, name)
    assert often == {(plain.stdout, plain.returncode)}


def test_a_carrier_that_is_idle_by_its_mark_is_used_again() -> None:
    """The monitor marks a carrier late: the carrier's thread has begun to wait."""
    name = "who_yielded_wakes_others"
    late = run(*altered("marking_late", 0), "FERRY_THREADS_CARRIERS=2", PROPERTIES, name)
    assert late.stdout == run(PROPERTIES, name).stdout


def test_rests_come_and_go() -> None:
    """Otherwise the comparisons above compare nothing."""
    done = run(*resting("often", 1), PROPERTIES, "both_directions_at_once")
    assert int(re.findall(r"(\d+) rests", done.stderr)[0]) > 0


def test_the_threads_are_carried() -> None:
    """Otherwise the comparisons above compare nothing."""
    done = run(*resting("never", 0), PROPERTIES, "local_data")
    assert carried(done.stderr) == 10
    assert "pthread_exit" not in done.stderr
    assert re.search(r" 10 the end of the thread", done.stderr)


def test_threads_with_signal_stacks_are_carried() -> None:
    done = run(*resting("never", 0), PROPERTIES, "signal_stacks_stay_with_their_threads")
    assert carried(done.stderr) == 16
    assert " 0 threads at home for good" in done.stderr


def test_a_thread_whose_creator_uses_its_clock_is_carried() -> None:
    done = run(*resting("never", 0), PROGRAMS / "carried", "clock")
    assert carried(done.stderr) == 2
    assert " 1 threads at home for good" in done.stderr


def test_a_program_that_takes_every_descriptor_leaves_the_layer_its_own() -> None:
    """The layer's descriptors move out of the way, as far as the limit allows."""
    command = [*CARRIED, "--carriers", "2", PROPERTIES, "descriptors_by_syscall"]
    plain = run(PROPERTIES, "descriptors_by_syscall")
    done = run("sh", "-c", 'ulimit -n 1024; exec "$@"', "sh", *command)
    assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode)


def test_a_closed_descriptor_ends_the_wait_for_it() -> None:
    done = run(*CARRIED, PROGRAMS / "carried", "close")
    assert (done.stdout, done.returncode) == ("-1 Bad file descriptor\n", 0)


def start_serving() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*CARRIED, PROGRAMS / "carried", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def ask(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    process.stdin.write(b"x")
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout
    return process.stdout.read(1)


def test_a_stopped_program_goes_on_and_ends_by_sigterm() -> None:
    with start_serving() as process:
        for _ in range(3):
            process.send_signal(signal.SIGSTOP)
            ask(process)
            process.send_signal(signal.SIGCONT)
            assert hear(process) == b"x"
        process.terminate()
        assert process.wait(timeout=60) == -signal.SIGTERM


@pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
def test_gdb_shows_the_stack_of_a_thread_that_waits() -> None:
    script = Path(__file__).parents[3] / "lib" / "threads" / "gdb_threads.py"
    with start_serving() as process:
        for _ in range(2):
            ask(process)
            assert hear(process) == b"x"
            # Whether the thread has begun to wait shows after a while only.
            time.sleep(0.5)
            commands = [f"source {script}", "ferry-threads"]
            shown = run("gdb", "-batch", "-p", str(process.pid), *as_options(commands))
            if "ptrace: Operation not permitted" in shown.stderr:
                pytest.skip("gdb may not attach")
            assert re.search(r"waits on no kernel thread:\n(#.*\n)*#\d+ .* serve ", shown.stdout)
        process.terminate()
        process.wait(timeout=60)


def as_options(commands: list[str]) -> list[str]:
    return [word for command in commands for word in ("-ex", command)]


@pytest.mark.parametrize(
    "case", ["many", "alone", "own_stacks", "event_loop", "busy", "busy_once", "busy_often"]
)
def test_a_thread_is_where_it_belongs(case: str) -> None:
    command = resting("never", 16)
    if case == "alone":
        command = [BUILD / "cli" / "ferry", "threads", "--report"]
    elif case == "busy_often":
        # With two, one is idle while the other is held, and nobody misses it.
        command.append("FERRY_THREADS_CARRIERS=1")
    done = run(*command, PROGRAMS / "carried", case)
    expected = {
        # On a busy machine, some find their bytes there, or seem to compute between their waits.
        "many": r"carried (2000|19[0-9]{2}) threads",
        "alone": r" [1-9][0-9]* rests,",
        "own_stacks": r"carried 0 threads",
        "event_loop": r" 1 an event loop",
        "busy": r" 1 computes between its waits",
        "busy_once": r"carried 1 threads",
        "busy_often": r" 1 computes for long",
    }
    assert done.returncode == 0
    assert re.search(expected[case], done.stderr), done.stderr


@pytest.mark.parametrize("after", ["0", "16"])
def test_descriptor_numbers_are_used_again_and_again(after: str) -> None:
    seconds = "2" if TRIALS == 1 else "1800"
    command: list[str | Path] = [
        BUILD / "cli" / "ferry",
        "threads",
        "--after",
        after,
        PROGRAMS / "soak",
        seconds,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("right\n", 0), done.stderr
