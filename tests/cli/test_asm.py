# SPDX-License-Identifier: MIT
"""ferry asm and ferry dis: between text and object, and files that are whole or not there."""

import os
import stat
from pathlib import Path

import pytest
from conftest import Ferry


def test_text_to_object_to_text_to_object_is_exact(ferry: Ferry, program: Path) -> None:
    first = ferry("asm", program).stdout
    text = ferry("dis", input=first).stdout
    assert ferry("asm", input=text).stdout == first
    assert ferry("dis", input=text).stdout == text


def test_an_object_goes_to_the_file_named(ferry: Ferry, program: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.fo"
    umask = os.umask(0o027)
    try:
        done = ferry("asm", "--output", target, program)
    finally:
        os.umask(umask)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert target.read_bytes() == ferry("asm", program).stdout
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_bad_program_leaves_an_old_object_alone(ferry: Ferry, tmp_path: Path) -> None:
    target = tmp_path / "out.fo"
    target.write_bytes(b"old")
    done = ferry("asm", "-o", target, input=b"getpid(\n")
    assert done.returncode == 2
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("command", ["asm", "dis"])
def test_output_that_cannot_be_written_is_named(
    ferry: Ferry, program: Path, tmp_path: Path, command: str
) -> None:
    missing = tmp_path / "no" / "such"
    done = ferry(command, "-o", missing, program)
    assert done.returncode == 2
    assert str(missing).encode() in done.stderr
    done = ferry(command, "-o", "/dev/full", program)
    assert done.returncode == 2
    assert b"/dev/full" in done.stderr
    assert b"No space left" in done.stderr


def test_a_mistake_has_file_line_and_column(ferry: Ferry, tmp_path: Path) -> None:
    path = tmp_path / "bad.ferry"
    path.write_text("getpid()\n  opneat(1)\n")
    done = ferry("asm", path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ferry: {path}:2:3: ".encode())
    assert b"openat" in done.stderr


def test_an_object_is_not_thrown_at_a_terminal(ferry: Ferry, program: Path) -> None:
    controller, terminal = os.openpty()
    done = ferry("asm", program, stdout=terminal)
    os.close(controller)
    os.close(terminal)
    assert done.returncode == 2
    assert b"-o" in done.stderr


@pytest.mark.parametrize("content", [b"\0", b"\xff" * 100, b"FERRY", b"getpid()\n\0"])
def test_garbage_is_refused(ferry: Ferry, content: bytes) -> None:
    done = ferry("dis", input=content)
    assert done.returncode == 2
    assert done.stderr.startswith(b"ferry: standard input")


def test_a_truncated_object_is_refused_at_every_length(ferry: Ferry, program: Path) -> None:
    whole = ferry("asm", program).stdout
    for length in range(1, len(whole), 37):
        assert ferry("dis", input=whole[:length]).returncode == 2
