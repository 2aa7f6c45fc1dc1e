# SPDX-License-Identifier: MIT
"""Nothing is left of a kept command, however it, its owner or its children end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from processes import marked, new_mark, wait_for_count, wait_until_none

from lab import process
from lab.process import Kept

# Children that ignore signals, change their session, and outlive their parent.
STUBBORN = """
trap '' TERM INT HUP
setsid sh -c 'trap "" TERM INT HUP; while :; do sleep 100; done' &
(sh -c 'trap "" TERM; sleep 100 & sleep 100' &)
{end}
"""
OWNER = """
import subprocess, sys
from lab import process
from lab.process import Kept
with Kept(["sh", "-c", {script!r}]) as kept:
    kept.process.wait()
"""


def environment(mark: str) -> dict[str, str]:
    name, _, value = mark.partition("=")
    return dict(os.environ) | {name: value, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("status", [0, 1, 7, 255])
def test_the_exit_status_is_the_commands(status: int) -> None:
    with Kept(["sh", "-c", f"exit {status}"]) as kept:
        assert kept.process.wait() == status


def test_death_by_a_signal_is_told_as_shells_do() -> None:
    with Kept(["sh", "-c", "kill -9 $$"]) as kept:
        assert kept.process.wait() == 128 + signal.SIGKILL


def test_a_command_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    with Kept(["ferry-no-such-command"]) as kept:
        assert kept.process.wait() == 127
    assert "ferry-no-such-command: not found" in capfd.readouterr().err


def test_orphans_end_with_the_command() -> None:
    mark = new_mark()
    with Kept(["sh", "-c", STUBBORN.format(end="exit 3")], env=environment(mark)) as kept:
        assert kept.process.wait() == 3
    assert marked(mark) == []


def test_all_end_when_the_owner_says_so() -> None:
    mark = new_mark()
    with Kept(["sh", "-c", STUBBORN.format(end="sleep 100")], env=environment(mark)) as kept:
        wait_for_count(mark, 6)
        kept.end()
        assert marked(mark) == []


def test_all_end_while_more_are_born() -> None:
    mark = new_mark()
    bomb = "while :; do (sleep 100 &); sleep 0.01; done"
    with Kept(["sh", "-c", bomb], env=environment(mark)):
        wait_for_count(mark, 20)
    assert marked(mark) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_all_end_when_the_owner_dies(number: int) -> None:
    mark = new_mark()
    script = OWNER.format(script=STUBBORN.format(end="sleep 100"))
    owner = subprocess.Popen(
        [sys.executable, "-c", script], env=environment(mark), stderr=subprocess.DEVNULL
    )
    try:
        wait_for_count(mark, 7)
        owner.send_signal(number)
        assert owner.wait(20) != 0
        wait_until_none(mark)
    finally:
        owner.kill()


def test_ctrl_c_of_the_terminal_does_not_reach_the_command(tmp_path: Path) -> None:
    """The command is in a session of its own; its owner ends it."""
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    with Kept(["sh", "-c", f"echo > {begun}; sleep 100"]) as kept:
        begun.read_text()
        # Seen from here: within the namespace, /proc and process numbers do not agree.
        family = descendants(kept.process.pid)
        assert len(family) >= 2
        assert {os.getsid(pid) for pid in family} == {kept.process.pid}
    assert kept.process.pid != os.getsid(0)


def descendants(pid: int) -> set[int]:
    found = {pid}
    for child in process.children(pid):
        found |= descendants(child)
    return found


def test_ending_takes_no_time() -> None:
    started = time.monotonic()
    with Kept(["sleep", "100"]):
        pass
    assert time.monotonic() - started < 50


def test_without_namespaces_the_session_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "namespace", lambda: ())
    mark = new_mark()
    stubborn = "trap '' TERM INT HUP; (sleep 100 & sleep 100) & sleep 100"
    with Kept(["sh", "-c", stubborn], env=environment(mark)) as kept:
        wait_for_count(mark, 5)
        kept.end()
        wait_until_none(mark)
    with Kept(["sh", "-c", "exit 3"]) as kept:
        assert kept.process.wait() == 3
