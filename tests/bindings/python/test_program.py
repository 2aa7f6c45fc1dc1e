# SPDX-License-Identifier: MIT
"""Program: built, checked and run."""

import errno
import mmap
import os
import socket
import threading
from pathlib import Path

import ferry
import numpy as np
import pytest

AT_FDCWD = -100


def reader(path: Path, buffer: bytearray) -> ferry.Program:
    """Opens, reads and closes a file whose path and length are parameters 0 and 1."""
    program = ferry.Program()
    fd = program.call("openat", AT_FDCWD, path, os.O_RDONLY)
    program.jump_to(fd, ferry.ON_FAIL, ferry.END)
    read = program.call("read", fd, buffer, len(buffer))
    program.parameter(read, 2, 0)
    program.forward(program.call("close", 0), 0, fd)
    return program


def test_a_program_with_other_values_each_time(tree: Path) -> None:
    buffer = bytearray(16)
    program = reader(tree / "a", buffer)
    assert len(program) == 3 and program.check() == []
    for length in (5, 3, 0):
        last, results = program.run([length])
        assert (last, results[1:].tolist()) == (2, [length, 0])
        assert buffer[:length] == b"first"[:length]
    with pytest.raises(ValueError, match="a parameter has no value"):
        program.run()


def test_what_did_not_run(tree: Path) -> None:
    last, results = reader(tree / "missing", bytearray(16)).run([1])
    assert (last, results.tolist()) == (0, [-errno.ENOENT, ferry.NOT_RUN, ferry.NOT_RUN])


def test_arguments_of_every_kind(tree: Path) -> None:
    array = np.zeros(4, np.int64)
    with open(tree / "out", "wb") as file:
        program = ferry.Program()
        program.call("write", file.fileno(), b"bytes", 5)
        program.call("write", file.fileno(), "str", 3)
        program.call(0xFFFF & 39)  # getpid, by its number
        program.call("pread64", os.open(tree / "a", os.O_RDONLY), array, np.int32(5), 0)
        program.call("lseek", file.fileno(), 2**64 - 1, os.SEEK_CUR)
        last, results = program.run()
    assert (last, results[:2].tolist(), results[3:].tolist()) == (4, [5, 3], [5, 7])
    assert (tree / "out").read_bytes() == b"bytesstr"
    assert array.tobytes()[:5] == b"first"


def test_memory_is_kept(tree: Path) -> None:
    program = ferry.Program()
    program.call("openat", AT_FDCWD, str(tree) + "/" + "a", os.O_RDONLY)
    buffer = bytearray(8)
    program.call("pread64", 0, buffer, 8, 0)
    with pytest.raises(BufferError):
        buffer.extend(b"the kernel would write where it was")
    with pytest.raises(BufferError):
        program.call("read", 0, memoryview(b"constant"), 8)
    fd = program.run()[1][0]
    assert fd >= 0
    os.close(int(fd))


def test_jumps() -> None:
    program = ferry.Program()
    first = program.call("getppid")
    program.jump_to(first, ferry.ON_POS | ferry.ON_ZERO, "done")
    program.call("getppid")
    assert program.missing_label == "done"
    for use in (program.check, program.run):
        with pytest.raises(ValueError, match="lacks the label done"):
            use()
    program.goto("done")
    program.label("done")
    program.call("getppid")
    assert program.missing_label is None
    last, results = program.run()
    assert last == 3 and (results[1:3] == ferry.NOT_RUN).all()


def test_copy() -> None:
    words = np.array([1, 2], np.int64)
    program = ferry.Program()
    program.copy(words[1:], words)
    assert program.run()[1].tolist() == [0]
    assert words.tolist() == [1, 1]


def test_check() -> None:
    program = ferry.Program()
    program.call("getpid", 1, 2)
    program.call("clone")
    problems = program.check()
    assert any(problem.slot == 1 and problem.fatal for problem in problems)
    assert all(problem.reason for problem in problems)


def test_mistakes() -> None:
    program = ferry.Program()
    slot = program.call("getpid", 1)
    program.label("here")
    with pytest.raises(ValueError, match="no system call 'getpit'"):
        program.call("getpit")
    with pytest.raises(ValueError, match="at most 6"):
        program.call("getpid", *range(7))
    with pytest.raises(OverflowError):
        program.call("getpid", 2**64)
    with pytest.raises(OverflowError):
        program.call("getpid", -(2**63) - 1)
    with pytest.raises(TypeError):
        program.call("getpid", 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null byte"):
        program.call("getpid", "a\0b")
    with pytest.raises(ValueError, match="already has this label"):
        program.label("here")
    for mistake in (
        lambda: program.call(1 << 20),
        lambda: program.forward(slot, 0, slot),
        lambda: program.parameter(slot, 1, 0),
        lambda: program.jump_to(slot, 0, "later"),
        lambda: program.label(""),
    ):
        with pytest.raises(ValueError, match="not valid"):
            mistake()
    assert len(program) == 1 and program.run()[1][0] == os.getpid()


def test_a_slot_is_no_number(tree: Path) -> None:
    """The number of a slot, as an argument, would be an open descriptor: the wrong one."""
    program, other = ferry.Program(), ferry.Program()
    fd = program.call("openat", AT_FDCWD, tree / "a", os.O_RDONLY)
    assert repr(fd) == "<slot 0>" and fd.number == 0
    with pytest.raises(TypeError):
        os.fstat(fd)  # type: ignore[arg-type]
    for mistake in (
        lambda: program.forward(fd, 0, 0),  # type: ignore[arg-type]
        lambda: program.jump_to(0, ferry.ON_FAIL, ferry.END),  # type: ignore[arg-type]
        lambda: program.parameter(0, 0, 0),  # type: ignore[arg-type]
        lambda: program.call(fd, 0),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match="slot"):
            mistake()
    with pytest.raises(ValueError, match="another program"):
        other.call("close", fd)
    assert len(program) == 1 and len(other) == 0


def test_a_slot_forwards_itself(tree: Path) -> None:
    program = ferry.Program()
    fd = program.call("openat", AT_FDCWD, tree / "a", os.O_RDONLY)
    read = program.call("pread64", fd, bytearray(8), np.int64(8), 1)
    again = program.call("lseek", fd, read, os.SEEK_SET)
    program.call("close", fd)
    results = program.run()[1]
    assert (results[read.number], results[again.number]) == (4, 4)
    for _ in range(252):
        program.call("getpid")
    with pytest.raises(ValueError, match="at most"):
        program.call("close", fd)
    assert len(program) == 256


def test_a_copy_from_an_address_that_a_call_returns() -> None:
    word = np.zeros(1, np.int64)
    program = ferry.Program()
    place = program.call("mmap", 0, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)
    program.copy(word, place)
    program.call("munmap", place, 4096)
    word[0] = 1
    assert program.run()[1][1:].tolist() == [0, 0] and not word[0]


def test_a_program_that_runs_does_not_change() -> None:
    (began, begin), (wait, release) = socket.socketpair(), socket.socketpair()
    with began, begin, wait, release:
        program = ferry.Program()
        program.call("write", begin.fileno(), b"x", 1)
        program.call("read", wait.fileno(), bytearray(1), 1)
        thread = threading.Thread(target=program.run)
        thread.start()
        assert began.recv(1) == b"x"
        with pytest.raises(RuntimeError, match="cannot change while it runs"):
            program.call("getpid")
        release.send(b"x")
        thread.join()
    assert program.call("getpid").number == 2


def test_an_empty_program() -> None:
    last, results = ferry.Program().run()
    assert (last, len(results)) == (0, 0)
