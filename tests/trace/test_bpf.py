# SPDX-License-Identifier: MIT
"""What is particular to counting with BPF: nothing is lost silently, and who may not is told so."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Trace, counts, has_attached

MEMORY = 64 << 10  # KiB
FILES = "17000"  # four calls each: more than the sample has room for
PARTS = 9  # of at most 2,000 files


def test_ten_thousand_children_are_counted_in_little_memory(
    bpf: None, deeds: Path, ferry_path: Path, sanitized: bool
) -> None:
    tracer = subprocess.Popen(
        [ferry_path, "trace", "--json", "--method", "bpf", deeds, "fork", "10000"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert tracer.stdout
    report = json.loads(tracer.stdout.read())
    _, status, usage = os.wait4(tracer.pid, 0)
    tracer.returncode = os.waitstatus_to_exitcode(status)
    assert tracer.returncode == 0
    assert report["threads"] == 10001
    assert report["lost_threads"] == 0
    assert counts(report)["getppid"] == (10000, 0)
    assert sanitized or usage.ru_maxrss < MEMORY


def sleeps(pid: int) -> int:
    """How often a process began to wait for something."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])


def has_read_all(tracer: int) -> None:
    """While the program waits: the tracer sleeps before and after it empties the ring."""
    before = sleeps(tracer)
    while sleeps(tracer) < before + 4:
        time.sleep(0.001)


def test_the_sample_is_that_of_ptrace(bpf: None, deeds: Path, ferry_path: Path) -> None:
    """The program waits until the tracer has read its calls: none is lost on a busy machine."""

    def report_of(method: str, wait: Callable[[int], None]) -> Any:  # noqa: ANN401
        ours, theirs = socket.socketpair()
        with ours, theirs:
            tracer = subprocess.Popen(
                [ferry_path, "trace", "--json", "-m", method, deeds, "read_files_in_parts", FILES],
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
            )
            theirs.close()
            for _ in range(PARTS):
                assert ours.recv(1)
                wait(tracer.pid)
                ours.send(b"x")
            report = json.loads(tracer.communicate()[0])
        assert tracer.returncode == 0
        return report

    by_bpf = report_of("bpf", has_read_all)
    by_ptrace = report_of("ptrace", lambda _: None)
    assert by_bpf["lost_calls"] == 0
    assert by_bpf["sequences"] == by_ptrace["sequences"], json.dumps([by_bpf, by_ptrace])


@pytest.mark.parametrize("method", ["bpf"], indirect=True)
def test_a_single_run_has_times_less_what_tracing_cost(trace: Trace, deeds: Path) -> None:
    report = trace(deeds, "time", "200000")
    times, tracing = report["time"], report["tracing_ns"]
    assert 0 < tracing["value"] < report["traced_ns"]
    assert times["wall_ns"] == pytest.approx(report["traced_ns"] - tracing["value"])
    assert times["page_faults"] < 1000


@pytest.mark.parametrize("method", ["bpf"], indirect=True)
def test_tracing_is_subtracted_where_no_tick_was_in_the_kernel(trace: Trace) -> None:
    """What the kernel divides by ticks is all user time for most programs this short."""
    for _ in range(4):
        assert trace("true")["tracing_ns"]["value"] > 0


@pytest.mark.parametrize("method", ["bpf"], indirect=True)
def test_page_faults_are_counted(trace: Trace, build: Path, tmp_path: Path) -> None:
    report = trace(build / "tests" / "trace" / "waste", "faults", tmp_path)
    assert report["time"]["page_faults"] > 50 * report["total"]


def test_what_the_ring_has_no_room_for_is_lost_to_the_sample_only(
    bpf: None, deeds: Path, ferry_path: Path
) -> None:
    """A tracer that does not run for a while reads nothing."""
    command = f"echo; {deeds} time 300000; echo"
    tracer = subprocess.Popen(
        [ferry_path, "trace", "--json", "-m", "bpf", "sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert tracer.stdout
    assert tracer.stderr
    assert tracer.stderr.read(1) == b"\n"
    tracer.send_signal(signal.SIGSTOP)
    assert tracer.stderr.read(1) == b"\n"
    tracer.send_signal(signal.SIGCONT)
    report = json.loads(tracer.stdout.read())
    assert tracer.wait(20) == 0
    assert report["lost_calls"] > 0
    assert counts(report)["clock_gettime"] == (300000, 0)


def test_the_tracer_takes_precedence_and_the_program_does_not(
    bpf: None, deeds: Path, ferry_path: Path
) -> None:
    """Or the ring is full before it is read, on a busy machine."""
    if os.geteuid():
        pytest.skip("it takes CAP_SYS_NICE")
    tracer = subprocess.Popen(
        [ferry_path, "trace", "-m", "bpf", deeds, "serve"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert tracer.stderr
    assert tracer.stderr.readline() == b"ready\n"
    server = int(Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()[0])
    while (
        priority := os.getpriority(os.PRIO_PROCESS, tracer.pid)
    ) != -20 and tracer.poll() is None:
        time.sleep(0.01)
    ordinary = os.getpriority(os.PRIO_PROCESS, server)
    os.kill(server, signal.SIGUSR1)
    tracer.communicate(timeout=60)
    assert (priority, ordinary) == (-20, os.getpriority(os.PRIO_PROCESS, 0))


def test_a_process_that_is_traced_already_can_be_counted(
    bpf: None, may_trace: None, deeds: Path, ferry_path: Path
) -> None:
    tracer = subprocess.Popen(
        [ferry_path, "trace", "-m", "ptrace", deeds, "serve"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert tracer.stderr
    assert tracer.stderr.readline() == b"ready\n"
    server = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()[0]
    counter = subprocess.Popen(
        [ferry_path, "trace", "--json", "-m", "bpf", "-p", server], stdout=subprocess.PIPE
    )
    while not has_attached(counter.pid) and counter.poll() is None:
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(int(server), signal.SIGUSR1)
    report = json.loads(counter.communicate(timeout=20)[0])
    assert counts(report)["getppid"][0] > 0
    tracer.communicate(timeout=20)


# ---- where it is not permitted ----


def refusal(ferry_path: Path, *before: str) -> str:
    """What a tracer says that is started like this; its report must come by ptrace."""
    if not shutil.which(before[0]):
        pytest.skip(f"{before[0]} is not installed")
    command = [*before, str(ferry_path), "trace", "--json"]
    done = subprocess.run(
        [*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(done.stderr)
    report = json.loads(done.stdout)
    assert report["method"] == "ptrace"
    done = subprocess.run(
        [*command, "--method", "bpf", "true"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"BPF is not available: {report['why_not_bpf']}" in done.stderr
    why: str = report["why_not_bpf"]
    return why


def test_without_privileges_it_says_which(bpf: None, ferry_path: Path) -> None:
    why = refusal(ferry_path, "setpriv", "--bounding-set=-all", "--inh-caps=-all", "--")
    assert why == "it takes CAP_BPF and CAP_PERFMON, which root has"


def test_in_a_container_it_says_so(bpf: None, ferry_path: Path) -> None:
    why = refusal(ferry_path, "unshare", "--user", "--map-root-user")
    assert why == "a user namespace, such as a container's, does not permit it"
