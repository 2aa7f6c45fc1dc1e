# SPDX-License-Identifier: MIT
"""The system call tracepoints show each call of a batch, or of a runner, once."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from calls import LSEEK, Maker, Seen, check

TRACING = Path("/sys/kernel/tracing")
ENTER = re.compile(r"sys_enter: NR (?P<number>-?\d+) \((?P<arguments>[0-9a-f, ]*)\)")
EXIT = re.compile(r"sys_exit: NR (?P<number>-?\d+) = (?P<result>-?\d+)")
ENTER_LSEEK = re.compile(
    r"sys_lseek\(fd: (?:0x)?(?P<fd>[0-9a-f]+), offset: (?:0x)?(?P<offset>[0-9a-f]+)"
)


@pytest.fixture
def tracing() -> Iterator[Path]:
    """Enables tracing; it is off before and after."""
    if not (TRACING / "events" / "raw_syscalls").is_dir():
        pytest.skip("this kernel has no system call tracepoints, or tracefs is not mounted")
    if not os.access(TRACING / "trace", os.W_OK):
        pytest.skip("only root traces")
    reset()
    yield TRACING
    reset()


def reset() -> None:
    (TRACING / "events" / "enable").write_text("0")
    (TRACING / "trace").write_text("")


def enable(event: str) -> None:
    folder = TRACING / "events" / event
    (folder / "filter").write_text('comm == "watched"')
    (folder / "enable").write_text("1")


def trace_of(watched: Path, maker: Maker) -> list[str]:
    """The trace lines of the program; its output has the group that getpgid() returned."""
    subprocess.run([watched, maker.word], stdout=subprocess.PIPE, check=True)
    return [line for line in (TRACING / "trace").read_text().splitlines() if "watched-" in line]


def test_raw_tracepoints_show_each_call(watched: Path, maker: Maker, tracing: Path) -> None:
    enable("raw_syscalls/sys_enter")
    enable("raw_syscalls/sys_exit")
    seen: list[Seen] = []
    entered: tuple[int, tuple[int, ...]] | None = None
    for line in trace_of(watched, maker):
        if enter := ENTER.search(line):
            words = tuple(int(word, 16) for word in enter["arguments"].split(", "))
            entered = int(enter["number"]), words
        elif (exit_ := EXIT.search(line)) and entered:
            assert int(exit_["number"]) == entered[0], "entries and exits take turns"
            seen.append((*entered, int(exit_["result"])))
            entered = None
    check(seen, maker, os.getpgid(0))


def test_tracepoints_of_one_call_show_it(watched: Path, maker: Maker, tracing: Path) -> None:
    if not (tracing / "events" / "syscalls" / "sys_enter_lseek").is_dir():
        pytest.skip("this kernel has no tracepoints of its own for each call")
    enable("syscalls/sys_enter_lseek")
    found = [m for m in map(ENTER_LSEEK.search, trace_of(watched, maker)) if m]
    offsets = [int(m["offset"], 16) for m in found if int(m["fd"], 16) & 0xFFFFFFFF == 0xFFFFFFF9]
    assert offsets == [1001, 1002], f"call {LSEEK}"
