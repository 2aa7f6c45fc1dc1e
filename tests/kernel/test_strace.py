# SPDX-License-Identifier: MIT
"""strace shows each call of a batch, or of a runner, once, with arguments and result."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from calls import Maker

LINE = re.compile(r"(?:\d+ +)?(?P<call>\w+\(.*\)) += (?P<result>.*)")

Shown = tuple[str, str]  # a call and its result, as strace writes them


def name_of(maker: Maker) -> str:
    """The name that strace gives to a number that it does not know."""
    return f"syscall_{maker.number:#x}("


def trace(watched: Path, maker: Maker, log: Path, *options: str) -> list[Shown]:
    """Everything that strace shows for the program."""
    command: list[str | Path] = ["strace", "-o", log, *options, watched, maker.word]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    except FileNotFoundError:
        pytest.skip("strace is not installed")
    assert done.returncode == 0
    lines = [m for m in map(LINE.match, log.read_text().splitlines()) if m]
    return [(m["call"], m["result"]) for m in lines]


def calls_that_are_made(first_lseek: str = "-1 EBADF") -> list[Shown]:
    """The beginning of each call, and a part of its result."""
    return [
        ("getpgid(0)", str(os.getpgid(0))),
        ("lseek(-7, 1001, SEEK_SET)", first_lseek),
        ("lseek(-7, 1002, SEEK_CUR)", "-1 EBADF"),
        ('write(-7, "", 0)', "-1 EBADF"),
    ]


def last_calls(maker: Maker) -> list[Shown]:
    return [] if maker.word == "batch" else [("read(", "4")]


def expect(shown: list[Shown], wanted: list[Shown]) -> None:
    assert len(shown) == len(wanted), shown
    for (call, result), (want_call, want_result) in zip(shown, wanted, strict=True):
        assert call.startswith(want_call)
        assert want_result in result


def without_maker(shown: list[Shown], maker: Maker) -> list[Shown]:
    """SHOWN without MAKER itself, which leaves the calls of a traced task to user space.

    User space first makes a call that fails, to see whether it can read the slots.
    """
    own = (name_of(maker), "rt_sigprocmask(0xffffffff")
    kept = [(call, result) for call, result in shown if not call.startswith(own)]
    assert len(kept) < len(shown), f"there is no {maker.word}"
    return kept


def expect_once(shown: list[Shown], maker: Maker, first_lseek: str = "-1 EBADF") -> None:
    """Each call is shown once, after MAKER."""
    own = name_of(maker)
    first = next(i for i, (call, _) in enumerate(shown) if call.startswith(own))
    calls = without_maker(shown[first:], maker)
    wanted = calls_that_are_made(first_lseek) + last_calls(maker)
    expect(calls[: len(wanted)], wanted)
    assert not any(call.startswith(("lseek(-7", "getpgid")) for call, _ in calls[len(wanted) :])


@pytest.mark.parametrize("option", ["-q", "-f"])
def test_each_call_is_shown_once(watched: Path, maker: Maker, tmp_path: Path, option: str) -> None:
    expect_once(trace(watched, maker, tmp_path / "log", option), maker)


def test_calls_are_shown_to_a_filter(watched: Path, maker: Maker, tmp_path: Path) -> None:
    """A seccomp filter stops for strace's calls, and for numbers that strace does not know."""
    options = ("-f", "--seccomp-bpf", "-e", "trace=getpgid,lseek")
    shown = without_maker(trace(watched, maker, tmp_path / "log", *options), maker)
    expect(shown, calls_that_are_made()[:3])


def test_a_call_can_be_made_to_fail(watched: Path, maker: Maker, tmp_path: Path) -> None:
    inject = ("-e", "inject=lseek:error=EXDEV:when=1")
    shown = trace(watched, maker, tmp_path / "log", *inject)
    expect_once(shown, maker, first_lseek="-1 EXDEV")
