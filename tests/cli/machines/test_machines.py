# SPDX-License-Identifier: MIT
"""Every subcommand on unusual machines: it does its work, or says in a sentence what it cannot."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

BUILD = Path(os.environ["FERRY_BUILD"]).absolute()
RESTRICTED = BUILD / "tests" / "cli" / "machines" / "restricted"
RESULTS = Path(__file__).parents[3] / "measure" / "results" / "qemu-6.12"
SKIPPED = 77

WAYS = ("eperm", "enosys", "proc", "hidepid", "sys", "cpu", "cpuset", "vdso")
PROGRAM = 'string path "/etc/hostname"\nfd: openat(AT_FDCWD, path, O_RDONLY)\nclose($fd)\n'
COMMANDS = {
    "probe": ["probe"],
    "run": ["run", "program.ferry"],
    "check": ["check", "program.ferry"],
    "du": ["du", "-s", "."],
    "trace": ["trace", "--", "/bin/true"],
    "crossing": ["bench", "crossing", "--trials", "2", "--calls", "10000"],
    "batch": [
        "bench",
        "batch",
        "--trials",
        "2",
        "--sizes",
        "2,64",
        "--call",
        "unimplemented,pread",
    ],
    "dispatch": ["bench", "dispatch", "--trials", "1", "--calls", "10000"],
    "chain": ["bench", "chain", "--trials", "1"],
    "apps": ["bench", "apps", "--pairs", "1", "--app", "mdu", "--directory", "."],
    "files": ["bench", "files", "--pairs", "1", "--app", "stat,du", "--directory", "."],
    "flexsc": [
        "bench",
        "flexsc",
        "--trials",
        "1",
        "--calls",
        "1000",
        "--work",
        "0",
        "--threads",
        "2",
    ],
    "pagefault": ["bench", "pagefault", "--trials", "1", "--memory", "4"],
    "report": ["report", "-o", "page.html", str(RESULTS)],
}
# Nothing of this works without the calls that the filters refuse.
CANNOT = {
    ("eperm", "trace"): "a filter of system calls forbids it",
    ("enosys", "trace"): "cannot be traced",
}


@contextmanager
def cpuset() -> Iterator[list[str | Path]]:
    """What runs a command on a CPU that it cannot leave."""
    cpu = min(os.sched_getaffinity(0))
    for root in (Path("/sys/fs/cgroup/cpuset"), Path("/sys/fs/cgroup")):
        group = root / f"ferry-{os.getpid()}"
        with suppress(OSError):
            group.mkdir()
            try:
                (group / "cpuset.cpus").write_text(f"{cpu}")
                (group / "cpuset.mems").write_text("0")
                yield ["sh", "-c", 'echo $$ > "$0" && exec "$@"', group / "cgroup.procs"]
            finally:
                group.rmdir()
            return
    pytest.skip("no set of CPUs can be made here")


@contextmanager
def machine(way: str) -> Iterator[list[str | Path]]:
    if way == "cpuset":
        with cpuset() as command:
            yield command
    else:
        yield [RESTRICTED, way]


def run(way: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "program.ferry").write_text(PROGRAM)
    with machine(way) as command:
        done = start([*command, BUILD / "cli" / "ferry", *arguments], folder)
    if done.returncode == SKIPPED:
        pytest.skip(done.stderr)
    return done


def start(command: list[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("way", "shows"),
    [
        ("proc", "! test -e /proc/self"),
        ("hidepid", "test -e /proc/self/stat && ! test -e /proc/1/stat"),
        ("cpu", "test $(nproc) = 1"),
        ("cpuset", "test $(nproc) = 1"),
    ],
)
def test_the_machine_is_unusual(way: str, shows: str, tmp_path: Path) -> None:
    with machine(way) as command:
        done = start([*command, "sh", "-c", shows], tmp_path)
    if done.returncode == SKIPPED:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr


def test_there_is_no_vdso(tmp_path: Path) -> None:
    shown = run("vdso", ["bench", "crossing", "--trials", "2", "--json", "-"], tmp_path).stdout
    assert json.loads(shown)["clock"]["vdso"] is False


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("way", WAYS)
def test_it_goes_on_or_says_why_not(way: str, command: str, tmp_path: Path) -> None:
    done = run(way, COMMANDS[command], tmp_path)
    if (way, command) in CANNOT:
        assert done.returncode == 1
        assert CANNOT[way, command] in done.stderr
        assert done.stderr.startswith("ferry: ")
        assert len(done.stderr.splitlines()) == 1
    else:
        assert (done.returncode, done.stdout != "") == (0, True), done.stderr
        assert "ferry: " not in done.stderr


def test_probe_says_that_a_filter_refuses(tmp_path: Path) -> None:
    shown = " ".join(run("eperm", ["probe"], tmp_path).stdout.split())
    assert "a filter of system calls refuses the batch system call" in shown
    assert "auto loop: neither the batch system call nor ferry's module can be used here" in shown


def test_the_bench_says_that_io_uring_is_not_there(tmp_path: Path) -> None:
    done = run("eperm", ["bench", "batch", "--call", "write", "--beside", "uring"], tmp_path)
    assert done.returncode == 2
    assert "uring is not available: this process cannot use io_uring" in done.stderr
    arguments = ["bench", "chain", "--trials", "1", "--json", "-"]
    chains = json.loads(run("eperm", arguments, tmp_path).stdout)["chains"]
    reasons = [each["reason"] for each in chains if each["engine"] == "uring"]
    assert reasons
    assert all(reason and reason.startswith("io_uring") for reason in reasons)


def test_the_package_of_the_report_is_found_without_proc(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    report = run("proc", ["report", "runs"], tmp_path)
    assert "no result of ferry bench in it" in report.stderr
