# SPDX-License-Identifier: MIT
"""A guest's output, status, console and end, with a shell script in the kernel's place."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from processes import marked, new_mark, wait_for_count, wait_until_none

from lab import LabError
from lab.guests import run as running
from lab.guests import run_directory, watch
from lab.guests.machine import FAILED, TIMED_OUT, Options, Outcome
from lab.kernels.build import Kernel


class Output:
    """What the guest wrote."""

    def __init__(self) -> None:
        self.out = b""
        self.err = b""

    def take_out(self, data: bytes) -> None:
        self.out += data

    def take_err(self, data: bytes) -> None:
        self.err += data


def run(kernel: Kernel, behaviour: str, *command: str, **options: object) -> tuple[Outcome, Output]:
    (kernel.directory / "behaviour").write_text(behaviour)
    output = Output()
    outcome = running.run_in_guest(
        kernel,
        command or ("true",),
        Options(**options),  # type: ignore[arg-type]
        out=output.take_out,
        err=output.take_err,
    )
    return outcome, output


@pytest.mark.parametrize("status", [0, 1, 77, 124, 125, 255])
def test_the_status_is_the_commands(fake_guest: Kernel, status: int) -> None:
    outcome, _ = run(fake_guest, "run_command", "sh", "-c", f"exit {status}")
    assert outcome.failure == ""
    assert outcome.exit_status == status


def test_output_and_errors_are_apart_and_whole(fake_guest: Kernel) -> None:
    outcome, output = run(
        fake_guest, "run_command", "sh", "-c", "seq 100000; echo bad >&2; printf '\\0\\r\\n\\377'"
    )
    assert outcome.exit_status == 0
    assert output.out == b"".join(b"%d\n" % n for n in range(1, 100001)) + b"\0\r\n\xff"
    assert output.err == b"bad\n"


def test_the_command_runs_in_this_directory_with_its_arguments_as_they_are(
    fake_guest: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a 'name'"
    odd.mkdir()
    monkeypatch.chdir(odd)
    _, output = run(
        fake_guest, "run_command", "sh", "-c", 'pwd; printf "%s|" "$@"', "-", "$a b", "'"
    )
    assert output.out.decode() == f"{odd}\n$a b|'|"


def test_ferrys_variables_go_along(fake_guest: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRY_ENGINE", "loop 'it'")
    monkeypatch.setenv("SECRET", "mine")
    _, output = run(fake_guest, "run_command", "sh", "-c", 'echo "$FERRY_ENGINE $SECRET $TMPDIR"')
    assert output.out.startswith(b"loop 'it' ")
    assert output.out.endswith(b"/dev/shm\n")


def test_the_ferry_that_was_built_is_on_the_path(
    fake_guest: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_directory, "REPOSITORY", tmp_path)
    _, output = run(fake_guest, "run_command", "sh", "-c", "echo $PATH")
    assert output.out.decode().strip() == os.environ["PATH"]
    programs = tmp_path / "build" / "cli"
    programs.mkdir(parents=True)
    (programs / "ferry").touch()
    _, output = run(fake_guest, "run_command", "sh", "-c", "echo $PATH")
    assert output.out.decode().strip() == f"{programs}:{os.environ['PATH']}"


def test_a_bad_line_on_the_console_fails_the_run(fake_guest: Kernel) -> None:
    outcome, _ = run(fake_guest, "run_command; say 'WARNING: CPU: 0 PID: 1 at kernel/x.c:1'")
    assert outcome.status == 0
    assert outcome.exit_status == FAILED
    assert "WARNING: CPU: 0 PID: 1 at kernel/x.c:1" in outcome.failure
    assert str(outcome.console) in outcome.failure
    assert "WARNING" in outcome.console.read_text()


def test_a_panic_is_told(fake_guest: Kernel) -> None:
    outcome, _ = run(
        fake_guest, ': > "$run/started"; say "Kernel panic - not syncing: dead"; exit 1'
    )
    assert outcome.status is None
    assert outcome.exit_status == FAILED
    assert "Kernel panic - not syncing: dead" in outcome.failure


def test_a_kernel_that_does_not_reach_the_command(fake_guest: Kernel) -> None:
    outcome, _ = run(fake_guest, "say 'VFS: Cannot open root device'; exit 1")
    assert outcome.exit_status == FAILED
    assert "went down before the command started" in outcome.failure
    assert "Cannot open root device" in outcome.failure
    assert str(outcome.console) in outcome.failure


def test_a_kernel_that_never_boots(fake_guest: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "BOOT_TIMEOUT", 0.5)
    outcome, _ = run(fake_guest, "sleep 100")
    assert outcome.exit_status == TIMED_OUT
    assert "did not boot" in outcome.failure


def test_a_hung_guest_is_ended_with_all_its_processes(
    fake_guest: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _, value = (mark := new_mark()).partition("=")
    monkeypatch.setenv(name, value)
    many = 'trap "" TERM; for i in 1 2 3 4 5; do setsid sleep 100 & done; run_command; wait'
    started = time.monotonic()
    outcome, _ = run(fake_guest, many, "sleep", "100", timeout=1)
    assert time.monotonic() - started < 30
    assert outcome.exit_status == TIMED_OUT
    assert "did not end within 1 s" in outcome.failure
    assert marked(mark) == []


def test_a_guest_that_does_not_end_after_the_command(
    fake_guest: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "END_TIMEOUT", 0.3)
    outcome, _ = run(fake_guest, "run_command; sleep 100", "sh", "-c", "exit 5")
    assert outcome.exit_status == 5


DRIVER = """
import sys
from pathlib import Path
from lab.kernels.build import Kernel
from lab.command_line import main
from lab import command_line
from lab.targets import find_target
command_line.build = lambda target: Kernel(target, "fake", Path(sys.argv[1]))
sys.exit(main(["boot", "uml-7.3", "--", "sleep", "100"]))
"""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_nothing_is_left_after_a_signal(fake_guest: Kernel, number: int, status: int) -> None:
    (fake_guest.directory / "behaviour").write_text(
        'trap "" TERM INT; setsid sleep 100 & run_command; wait'
    )
    name, _, value = (mark := new_mark()).partition("=")
    lab = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(fake_guest.directory)],
        env=dict(os.environ) | {name: value, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for_count(mark, 5)
        lab.send_signal(number)
        _, errors = lab.communicate(timeout=30)
        assert lab.returncode == status
        assert "Traceback" not in errors
        if number != signal.SIGKILL:
            assert errors in ("ferry-lab: interrupted\n", "ferry-lab: ended by SIGTERM\n")
        wait_until_none(mark)
    finally:
        lab.kill()


@pytest.mark.parametrize("hidden", ["/dev/shm", "/proc", "/run"])
def test_a_directory_that_guests_cannot_see(
    fake_guest: Kernel, monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    monkeypatch.chdir(hidden)
    with pytest.raises(LabError, match="a guest cannot see"):
        run(fake_guest, "run_command")


def test_a_writable_directory_has_to_be_one(fake_guest: Kernel, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="none is not a directory"):
        run(fake_guest, "run_command", writable=(tmp_path / "none",))


def test_counting_takes_one_cpu(fake_guest: Kernel) -> None:
    with pytest.raises(LabError, match="--cpus 1"):
        run(fake_guest, "run_command", icount=True, cpus=2)


def test_old_runs_go(fake_guest: Kernel, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_directory, "KEPT_RUNS", 2)
    consoles = [run(fake_guest, "run_command")[0].console for _ in range(4)]
    assert [path.exists() for path in consoles] == [False, True, True, True]
    assert len(list((cache / "runs").iterdir())) == 3


def test_runs_without_findings_do_not_displace_one_with_some(
    fake_guest: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_directory, "KEPT_RUNS", 1)
    behaviours = ("say 'BUG: rare'; run_command", *["run_command"] * 3)
    consoles = [run(fake_guest, behaviour)[0].console for behaviour in behaviours]
    assert [path.exists() for path in consoles] == [True, False, True, True]
    assert (consoles[0].parent / "findings").read_text() == "BUG: rare\n"


def test_a_file_among_the_runs_does_not_stop_new_ones(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_directory, "KEPT_RUNS", 1)
    (cache / "runs").mkdir(parents=True)
    (cache / "runs" / "file").touch()
    for _ in range(3):
        with run_directory.new_run("short"):
            pass


def test_a_run_that_goes_on_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_directory, "KEPT_RUNS", 1)
    with run_directory.new_run("long") as long_run:
        for _ in range(3):
            with run_directory.new_run("short") as short_run:
                assert short_run.exists()
        assert long_run.exists()
    with run_directory.new_run("short"):
        assert not long_run.exists()
