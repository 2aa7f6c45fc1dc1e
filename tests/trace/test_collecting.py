# SPDX-License-Identifier: MIT
"""ferry trace sees every call of a program and its children, and does not disturb them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Trace, counts, has_attached, refused

ROW = re.compile(r" *[\d.]+ +[\d.]+ +\d+ +(\d+) +(\d+)? +(\w+)$", re.M)


def counts_of_strace(command: list[str | Path], summary: Path) -> dict[str, tuple[int, int]]:
    subprocess.run(
        ["strace", "-f", "-c", "-o", summary, *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    rows = ROW.findall(summary.read_text())
    return {name: (int(calls), int(failed or 0)) for calls, failed, name in rows if name != "total"}


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize("deed", ["calls", "crash", "exec", "filter", "signals"])
def test_counts_are_those_of_strace(trace: Trace, deeds: Path, deed: str, tmp_path: Path) -> None:
    assert counts(trace(deeds, deed)) == counts_of_strace([deeds, deed], tmp_path / "summary")


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize(
    "command",
    [
        ["ls", "-lR", "/etc"],
        ["sh", "-c", "cat /etc/passwd | wc -l; exec true"],
        ["python3", "-c", "import json"],
    ],
)
def test_counts_of_ordinary_programs_are_those_of_strace(
    trace: Trace, command: list[str | Path], tmp_path: Path
) -> None:
    ours, theirs = counts(trace(*command)), counts_of_strace(command, tmp_path / "summary")
    # Whether a shell's wait is interrupted by SIGCHLD, or comes after it, is a matter of time.
    for counted in (ours, theirs):
        for name in ("wait4", "rt_sigreturn"):
            counted.pop(name, None)
    assert ours == theirs


def test_all_threads_and_children_count(trace: Trace, deeds: Path) -> None:
    report = trace(deeds, "threads")
    assert report["threads"] == 5
    assert counts(report)["getppid"] == (4000, 0)
    report = trace(deeds, "fork", "200")
    assert report["threads"] == 201
    assert counts(report)["getppid"] == (200, 0)


def test_a_thread_that_replaces_its_process_is_followed(trace: Trace, deeds: Path) -> None:
    report = trace(deeds, "exec")
    assert counts(report)["execve"] == (2, 0)
    assert counts(report)["getppid"] == (500, 0)
    assert report["status"] == 0


def test_a_crash_ends_the_trace_with_its_signal(
    trace: Trace, deeds: Path, ferry_path: Path, method: str
) -> None:
    report = trace(deeds, "crash")
    assert report["status"] == 128 + signal.SIGABRT
    assert counts(report)["getppid"] == (100, 0)
    done = subprocess.run(
        [ferry_path, "trace", "--method", method, deeds, "crash"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The program was ended by signal 6: Aborted." in done.stdout


def test_calls_that_a_filter_refuses_are_seen(trace: Trace, deeds: Path) -> None:
    report = trace(deeds, "filter")
    assert report["status"] == 128 + signal.SIGSYS
    assert counts(report)["getppid"] == (50, 50)


def test_a_small_limit_of_file_sizes_does_not_end_the_report(ferry_path: Path) -> None:
    # dash counts 512 bytes as one.
    limited: list[str | Path] = [
        "sh",
        "-c",
        'ulimit -f 2; exec "$@"',
        "sh",
        ferry_path,
        "trace",
        "true",
    ]
    done = subprocess.run(limited, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done
    assert b"crossings take" in done.stdout


def test_numbers_that_no_call_has_share_a_row(trace: Trace) -> None:
    calls = "import ctypes; [ctypes.CDLL(None).syscall(n) for n in (5000, 1024, -1)]"
    assert counts(trace("python3", "-c", calls))["(no native number)"] == (3, 3)


def test_stops_and_signals_work_as_without_a_tracer(
    trace: Trace, deeds: Path, ferry_path: Path, method: str
) -> None:
    assert trace(deeds, "stop")["status"] == 0
    done = subprocess.run(
        [ferry_path, "trace", "--method", method, deeds, "signals"],
        capture_output=True,
        check=True,
    )
    assert done.stderr == b"20 signals\n"


def test_a_program_that_traces_can_do_so_or_is_named(
    trace: Trace, deeds: Path, ferry_path: Path, method: str
) -> None:
    failed = method == "ptrace"
    assert counts(trace(deeds, "trace"))["ptrace"] == (1, failed)
    done = subprocess.run(
        [ferry_path, "trace", "--method", method, deeds, "trace"],
        capture_output=True,
        check=True,
    )
    assert (b"The program traces a process itself" in done.stdout) == failed


# ---- a running process ----


@pytest.fixture
def server(deeds: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([deeds, "serve"], stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.wait()


def tracer_of(pid: int) -> int:
    found = re.search(r"^TracerPid:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    assert found
    return int(found[1])


def attach(
    ferry_path: Path, server: subprocess.Popen[bytes], method: str, *options: str
) -> subprocess.Popen[str]:
    """A tracer of the server that is at work."""
    tracer = subprocess.Popen(
        [ferry_path, "trace", "--json", "--method", method, "-p", str(server.pid), *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    for _ in range(3000):
        attached = has_attached(tracer.pid)
        if attached if method == "bpf" else tracer_of(server.pid) == tracer.pid:
            time.sleep(0.3)
            return tracer
        time.sleep(0.01)
    pytest.fail(f"process {server.pid} is not traced")


def test_more_signals_do_not_lose_the_report(
    server: subprocess.Popen[bytes], ferry_path: Path, method: str
) -> None:
    """As from `timeout -s INT`, which sends one to the process and one to its group."""
    tracer = attach(ferry_path, server, method)
    while tracer.poll() is None:
        tracer.send_signal(signal.SIGINT)
        time.sleep(0.001)
    assert tracer.returncode == 0
    assert counts(json.loads(tracer.communicate(timeout=20)[0]))["getppid"]


def test_ends_after_the_duration(server: subprocess.Popen[bytes], ferry_path: Path) -> None:
    tracer = attach(ferry_path, server, "ptrace", "--duration", "1")
    report = json.loads(tracer.communicate(timeout=20)[0])
    assert tracer.returncode == 0
    assert report["goes_on"]
    assert server.poll() is None


def test_attaches_and_leaves_the_process_as_it_was(
    server: subprocess.Popen[bytes], ferry_path: Path, method: str
) -> None:
    tracer = attach(ferry_path, server, method)
    tracer.send_signal(signal.SIGINT)
    report = json.loads(tracer.communicate(timeout=20)[0])
    assert tracer.returncode == 0
    assert set(counts(report)) == {"getppid"}
    assert report["goes_on"]
    assert report["status"] is None
    assert (report["time"]["missing"] is None) == (method == "bpf")
    assert tracer_of(server.pid) == 0
    server.send_signal(signal.SIGUSR1)
    assert server.communicate(timeout=20)[0] == b"done\n"
    assert server.returncode == 0


def test_several_processes_are_traced(
    server: subprocess.Popen[bytes], deeds: Path, ferry_path: Path, method: str
) -> None:
    other = subprocess.Popen([deeds, "serve"], stdout=subprocess.PIPE)
    assert other.stdout
    assert other.stdout.readline() == b"ready\n"
    tracer = attach(ferry_path, server, method, "--pid", str(other.pid))
    tracer.send_signal(signal.SIGINT)
    report = json.loads(tracer.communicate(timeout=20)[0])
    other.send_signal(signal.SIGUSR1)
    other.communicate(timeout=20)
    assert report["threads"] == 2


def test_children_that_exist_already_are_traced(deeds: Path, ferry_path: Path, method: str) -> None:
    """As the workers of a server whose master does nothing."""
    parent = subprocess.Popen(
        ["sh", "-c", f"{deeds} serve & wait"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout
    assert parent.stdout.readline() == b"ready\n"
    tracer = attach(ferry_path, parent, method)
    tracer.send_signal(signal.SIGINT)
    report = json.loads(tracer.communicate(timeout=20)[0])
    child = int(Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text())
    os.kill(child, signal.SIGUSR1)
    parent.communicate(timeout=20)
    assert report["threads"] == 2
    assert counts(report)["getppid"][0] > 0


def test_a_name_with_control_characters_reaches_no_terminal(ferry_path: Path, method: str) -> None:
    """A process, of whatever user, chooses its name."""
    with subprocess.Popen(
        ["sh", "-c", 'printf "a\\033b" >/proc/self/comm; echo; read x'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"\n"
        tracer = attach(ferry_path, process, method)
        process.communicate(timeout=20)
        assert json.loads(tracer.communicate(timeout=20)[0])["program"] == "a?b"


@pytest.mark.usefixtures("may_trace")
def test_a_process_has_one_tracer(server: subprocess.Popen[bytes], ferry_path: Path) -> None:
    first = attach(ferry_path, server, "ptrace")
    second = subprocess.run(
        [ferry_path, "trace", "--method", "ptrace", "-p", str(server.pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 1
    assert f"is already traced by process {first.pid}" in second.stderr
    server.send_signal(signal.SIGUSR1)
    assert "serve" not in first.communicate(timeout=20)[0]
    assert first.returncode == 0
    server.communicate(timeout=20)


def test_a_stopped_process_stays_stopped_after_the_trace(
    server: subprocess.Popen[bytes], ferry_path: Path, method: str
) -> None:
    tracer = attach(ferry_path, server, method)
    server.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    tracer.send_signal(signal.SIGINT)
    tracer.communicate(timeout=20)
    for _ in range(200):
        state = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state == "T":
            break
        time.sleep(0.01)
    assert state == "T"
    server.send_signal(signal.SIGCONT)
    server.send_signal(signal.SIGUSR1)
    server.communicate(timeout=20)
    assert server.returncode == 0


def start_traced(ferry_path: Path, method: str, deeds: Path, deed: str) -> subprocess.Popen[bytes]:
    """The tracer of a deed that says when it is ready, and does so."""
    tracer = subprocess.Popen(
        [ferry_path, "trace", "--json", "--method", method, deeds, deed],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert tracer.stderr
    assert tracer.stderr.readline() == b"ready\n"
    return tracer


def has_pending(pid: int, number: int) -> bool:
    """Whether the process has not taken this signal yet."""
    found = re.search(r"^ShdPnd:\s+(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    assert found
    return bool(int(found[1], 16) >> (number - 1) & 1)


def test_ctrl_c_ends_program_and_trace(deeds: Path, ferry_path: Path, method: str) -> None:
    tracer = start_traced(ferry_path, method, deeds, "serve")
    tracer.send_signal(signal.SIGINT)
    report = json.loads(tracer.communicate(timeout=20)[0])
    assert report["status"] == 128 + signal.SIGINT
    missing = None if method == "bpf" else "the traced run was interrupted"
    assert report["time"]["missing"] == missing


def test_the_second_ctrl_c_leaves_the_program_to_itself(
    deeds: Path, ferry_path: Path, method: str
) -> None:
    tracer = start_traced(ferry_path, method, deeds, "ignore")
    children = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()
    tracer.send_signal(signal.SIGINT)
    while has_pending(tracer.pid, signal.SIGINT):  # a second one would be the same
        time.sleep(0.01)
    assert tracer.poll() is None
    tracer.send_signal(signal.SIGINT)
    assert tracer.stdout
    assert json.loads(tracer.stdout.read())["goes_on"]
    os.kill(int(children[0]), signal.SIGKILL)
    tracer.communicate(timeout=20)


def test_a_signal_after_the_end_of_the_program_lets_its_children_go(
    ferry_path: Path, method: str
) -> None:
    tracer = subprocess.Popen(
        [ferry_path, "trace", "--json", "--method", method, "sh", "-c", "sleep 100 & echo $!"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert tracer.stderr
    child = int(tracer.stderr.readline())
    try:
        while Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text():
            time.sleep(0.01)
        tracer.send_signal(signal.SIGTERM)
        assert tracer.stdout
        assert json.loads(tracer.stdout.read())["goes_on"]
    finally:
        os.kill(child, signal.SIGKILL)
        tracer.communicate(timeout=20)


@pytest.mark.usefixtures("may_trace")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("cat", "the program reads its standard input, which is no file and cannot be read"),
        ("true", None),
    ],
)
def test_input_that_is_gone_leaves_no_second_run(
    ferry_path: Path, command: str, reason: str | None
) -> None:
    done = subprocess.run(
        [ferry_path, "trace", "--json", "--method", "ptrace", "--twice", command],
        input=b"text",
        capture_output=True,
        check=True,
    )
    missing = json.loads(done.stdout)["time"]["missing"]
    assert missing == reason or (reason and missing.startswith(reason))


@pytest.mark.usefixtures("may_trace")
def test_both_runs_read_their_input_from_where_it_was(ferry_path: Path, tmp_path: Path) -> None:
    """So a shell's loop over a file goes on after a trace."""
    lines, copy = tmp_path / "lines", tmp_path / "copy"
    lines.write_text("first\nsecond\n")
    with lines.open() as file:
        os.lseek(file.fileno(), len("first\n"), os.SEEK_SET)
        for command in ["true"], ["tee", "-a", str(copy)]:
            assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == len("first\n")
            subprocess.run(
                [ferry_path, "trace", "--method", "ptrace", "--twice", *command],
                stdin=file,
                capture_output=True,
                timeout=60,
                check=True,
            )
    assert copy.read_text() == "second\nsecond\n"


def test_a_program_runs_once(trace: Trace, tmp_path: Path) -> None:
    log = tmp_path / "log"
    report = trace("sh", "-c", f"echo x >> {log}")
    assert log.read_text() == "x\n"
    assert (report["time"]["missing"] is None) == (report["method"] == "bpf")


def test_the_second_run_ignores_no_signal_that_the_first_does_not(
    ferry_path: Path, may_trace: None, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    script = f"grep SigIgn /proc/self/status >> {log}"
    command = [str(ferry_path), "trace", "--method", "ptrace", "--twice", "sh", "-c", script]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    first, second = (int(line.split()[1], 16) for line in log.read_text().splitlines())
    ordinary = (1 << 31) - 1  # the C library's own signals come after these
    assert second & ordinary == first & ordinary


def test_shares_add_up_to_the_time_of_the_second_run(trace: Trace) -> None:
    # Long enough for its time to be divided, with enough calls to be slowed down.
    loop = "import os\nfor i in range(3 * 10**6): pass\nfor i in range(20000): os.getppid()"
    report = trace(sys.executable, "-c", loop, options=("--twice",))
    times = report["time"]
    parts = [times[f"{name}_ns"]["value"] for name in ("user", "crossings", "kernel")]
    assert sum(parts) == pytest.approx(times["cpu_ns"])
    assert (
        times["crossings_ns"]["value"] <= report["total"] * report["crossing_ns"]["value"] * 1.001
    )
    assert report["traced_ns"] > times["wall_ns"]


def test_what_does_not_exist_is_named(ferry_path: Path) -> None:
    for arguments, reason in (
        (["/no/such/program"], "/no/such/program: No such file or directory"),
        (["-p", "4000000"], "there is no process 4000000"),
        (["-p", "x"], "'x' is not the number of a process"),
        (["-m", "x", "true"], "'x' is not a method: they are auto, bpf and ptrace"),
        (["-m", "bpf", "-n", "1", "true"], "--program needs the method ptrace"),
        ([], "no command, no --pid and no --cgroup"),
        (["-p", "1", "ls"], "unexpected argument 'ls'"),
    ):
        refused(ferry_path, arguments, reason)


@pytest.mark.parametrize("method", ["auto", "ptrace"])
def test_a_process_that_proc_does_not_show_is_not_absent(
    ferry_path: Path, sanitized: bool, method: str
) -> None:
    if sanitized:
        pytest.skip("sanitizers need /proc")
    hide = 'mount -t tmpfs none /proc && exec "$0" trace "$@"'
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", hide]
    done = subprocess.run(
        [*unshare, ferry_path, "-m", method, "-p", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    if "ferry" not in done.stderr:
        pytest.skip(f"no user namespaces here: {done.stderr}")
    reason = f"process {os.getpid()} is not in /proc, which is not mounted or hides it"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"ferry: trace: {reason}\n")


def test_busy_cpus_are_named(ferry_path: Path, may_trace: None) -> None:
    """A call that works on all CPUs cannot show what it saves while others keep them busy."""
    command = ["--method", "ptrace", "ls", "-l", "/etc"]
    loops = [
        subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        text, document = (
            subprocess.run(
                [ferry_path, "trace", *more, *command],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
            for more in ([], ["--json"])
        )
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert "CPUs busy, and it gains by idle ones" in " ".join(text.split())
    assert json.loads(document)["busy_cpus"] > 0.5


def test_stops_are_no_sleep(trace: Trace, deeds: Path) -> None:
    """Not even in an emulated machine, where the stops of a call take a millisecond."""
    report = trace(deeds, "pipe")
    calls = counts(report)
    assert calls["read"][0] >= 300
    assert sum(wait["times"] for wait in report["waits"]) < calls["read"][0] / 2
