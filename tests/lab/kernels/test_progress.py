# SPDX-License-Identifier: MIT
"""Progress: a bar on a terminal, lines elsewhere."""

import os
import pty
import subprocess
import sys

import pytest
from conftest import ROOT

from lab.kernels import progress
from lab.kernels.progress import STEP

SCRIPT = """
import time
from lab.kernels.progress import progress
with progress("toy", 1, 4) as feed:
    for piece in (b"  CC      one.o\\n  A", b"S [M]  two.o\\nmake: nothing\\n", b"  LD  x\\n" * 9):
        feed(piece)
        time.sleep(0.2)
"""


def test_a_step_is_a_line_that_make_prints_for_a_file() -> None:
    output = b"make[1]: Entering\n  CC      a.o\n  CC [M]  b.o\n  HOSTCC  c\n  warning: no\n"
    assert STEP.findall(output) == [b"a.o", b"b.o", b"c"]


def test_elsewhere_than_on_a_terminal_there_is_no_bar() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "ferry-lab: building toy\n"


def test_without_tqdm_a_terminal_gets_lines() -> None:
    controller, terminal = pty.openpty()
    script = f"import sys; sys.path.append({str(ROOT)!r}){SCRIPT}"
    subprocess.run([sys.executable, "-I", "-S", "-c", script], stderr=terminal, check=True)
    os.close(terminal)
    assert os.read(controller, 4096) == b"ferry-lab: building toy\r\n"
    os.close(controller)


def test_elsewhere_a_line_tells_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.lines("toy", 1, 5) as show:
        show([b"one.o"])
        monkeypatch.setattr(progress, "INTERVAL", 0.0)
        show([b"two.o", b"three.o"])
        show([b"four.o", b"five.o"])
    assert capsys.readouterr().err == (
        "ferry-lab: building toy: 4 of about 5 files\nferry-lab: building toy: 5 of about 5 files\n"
    )


def test_a_terminal_gets_a_bar_that_ends_at_its_end() -> None:
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        stderr=terminal,
    ):
        os.close(terminal)
        output = b""
        while True:
            try:
                piece = os.read(controller, 4096)
            except OSError:
                break
            output += piece
    os.close(controller)
    assert b"3/4" in output
    assert b"4/4" in output
    assert b"two.o" in output
