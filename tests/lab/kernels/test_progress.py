# SPDX-License-Identifier: MIT
"""Progress: a line that is replaced on a terminal, lines elsewhere."""

import os
import pty
import sys

import pytest

from lab.kernels import progress
from lab.kernels.progress import STEP

PIECES = (b"  CC      one.o\n  A", b"S [M]  two.o\nmake: nothing\n", b"  LD  x\n" * 9)


def build(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of about four files, of which one is there already; SECONDS lie between lines."""
    monkeypatch.setattr(progress, "SECONDS", {True: seconds, False: seconds})
    with progress.progress("toy", 1, 4) as feed:
        for piece in PIECES:
            feed(piece)


def test_a_step_is_a_line_that_make_prints_for_a_file() -> None:
    output = b"make[1]: Entering\n  CC      a.o\n  CC [M]  b.o\n  HOSTCC  c\n  warning: no\n"
    assert STEP.findall(output) == [b"a.o", b"b.o", b"c"]


@pytest.mark.parametrize(("seconds", "counts"), [(0.0, [2, 3, 4]), (60.0, [])])
def test_elsewhere_lines_tell_how_far_it_is(
    seconds: float,
    counts: list[int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    build(seconds, monkeypatch)
    lines = [f"ferry-lab: building toy: {count} of about 4 files" for count in counts]
    assert capsys.readouterr().err.splitlines() == ["ferry-lab: building toy", *lines]


def test_a_terminal_gets_one_line_that_is_cleared_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    controller, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        build(0.0, monkeypatch)
        output = b""
        while output.count(b"\033[K") < 4:  # a read may return less than was written
            output += os.read(controller, 4096)
    os.close(controller)
    first, *shown = output.decode().split("\r\033[K")
    assert first == "ferry-lab: building toy\r\n"
    assert shown == [f"ferry-lab: building toy: {n} of about 4 files" for n in (2, 3, 4)] + [""]
