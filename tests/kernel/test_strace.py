# SPDX-License-Identifier: MIT
"""strace shows each call of a batch once, with its arguments and its result."""

import os
import re
import subprocess
from pathlib import Path

import pytest

LINE = re.compile(r"(?:\d+ +)?(?P<call>\w+\(.*\)) += (?P<result>.*)")
BATCH = "syscall_0x1f5("


Shown = tuple[str, str]  # a call and its result, as strace writes them


def trace(watched: Path, log: Path, *options: str) -> list[Shown]:
    """All that strace shows of the program."""
    command: list[str | Path] = ["strace", "-o", log, *options, watched, "batch"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    except FileNotFoundError:
        pytest.skip("strace is not installed")
    assert done.returncode == 0
    lines = [m for m in map(LINE.match, log.read_text().splitlines()) if m]
    return [(m["call"], m["result"]) for m in lines]


def calls_of_batch(first_lseek: str = "-1 EBADF") -> list[Shown]:
    """The beginnings of the calls and of what their results have to hold."""
    return [
        ("getpgid(0)", str(os.getpgid(0))),
        ("lseek(-7, 1001, SEEK_SET)", first_lseek),
        ("lseek(-7, 1002, SEEK_CUR)", "-1 EBADF"),
        ('write(-7, "", 0)', "-1 EBADF"),
    ]


def expect(shown: list[Shown], wanted: list[Shown]) -> None:
    assert len(shown) == len(wanted), shown
    for (call, result), (want_call, want_result) in zip(shown, wanted, strict=True):
        assert call.startswith(want_call)
        assert want_result in result


def without_restarts(shown: list[Shown]) -> list[Shown]:
    """Without batch() as it makes way for its calls, or for signals; it has to be there."""
    kept = [(c, r) for c, r in shown if not (c.startswith(BATCH) and "ERESTARTNOINTR" in r)]
    assert len(kept) < len(shown), "batch() does not make way for its calls"
    return kept


def expect_batch(shown: list[Shown], first_lseek: str = "-1 EBADF") -> None:
    """Each call is there once, and batch() behind them."""
    first = next(i for i, (call, _) in enumerate(shown) if call.startswith(BATCH))
    calls = without_restarts(shown[first:])
    end = next(i for i, (call, _) in enumerate(calls) if call.startswith(BATCH))
    expect(calls[: end + 1], [*calls_of_batch(first_lseek), (BATCH, "0x6")])
    assert not any(call.startswith((BATCH, "lseek(-7", "getpgid")) for call, _ in calls[end + 1 :])


@pytest.mark.parametrize("option", ["-q", "-f"])
def test_each_call_is_shown_once(watched: Path, tmp_path: Path, option: str) -> None:
    expect_batch(trace(watched, tmp_path / "log", option))


def test_calls_are_shown_to_a_filter(watched: Path, tmp_path: Path) -> None:
    """strace is told by a seccomp filter of its calls, and of numbers that it does not know.

    The filter is not asked again when batch() comes back from its calls.
    """
    shown = trace(watched, tmp_path / "log", "-f", "--seccomp-bpf", "-e", "trace=getpgid,lseek")
    expect(without_restarts(shown), calls_of_batch()[:3])


def test_a_call_can_be_made_to_fail(watched: Path, tmp_path: Path) -> None:
    shown = trace(watched, tmp_path / "log", "-e", "inject=lseek:error=EXDEV:when=1")
    expect_batch(shown, first_lseek="-1 EXDEV")
