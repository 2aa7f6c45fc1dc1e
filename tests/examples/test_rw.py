# SPDX-License-Identifier: MIT
"""rw: what comes in goes out, whatever the descriptors are like."""

import fcntl
import os
import random
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Run

PAGE = 4096
DATA = random.Random(1).randbytes(1_000_003)

SHAPES = [("65536", "4"), ("4096", "1"), ("4096", "64"), ("997", "7"), ("16777216", "2")]


@contextmanager
def copying(
    examples: Path, env: dict[str, str], *args: str, blocking: bool = True, data: bytes = DATA
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """rw between two pipes of a page, DATA being written to it; yields it and its output."""
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    for fd in (in_read, out_read):
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PAGE)
    for fd in (in_read, out_write):
        os.set_blocking(fd, blocking)
    process = subprocess.Popen(
        [examples / "rw", *args], env=env, stdin=in_read, stdout=out_write, stderr=subprocess.PIPE
    )
    os.close(in_read)
    os.close(out_write)

    def feed() -> None:
        with os.fdopen(in_write, "wb") as pipe:
            pipe.write(data)

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        yield process, out_read
    finally:
        os.close(out_read)
        feeder.join()
        process.kill()
        process.wait()
        assert process.stderr
        process.stderr.close()


def read_all(fd: int, most: int = PAGE) -> bytes:
    return b"".join(iter(lambda: os.read(fd, most), b""))


@pytest.mark.parametrize(("size", "pairs"), SHAPES)
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "nonblocking"])
def test_small_pipes_carry_all_in_order(
    examples: Path, env: dict[str, str], size: str, pairs: str, blocking: bool
) -> None:
    with copying(examples, env, "-b", size, "-p", pairs, blocking=blocking) as (process, pipe):
        # Odd sizes free parts of the pipe, so that writes to it are short.
        copied = read_all(pipe, 1501)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    assert copied == DATA


@pytest.mark.parametrize(("size", "pairs"), SHAPES)
def test_files_are_copied(run: Run, tmp_path: Path, size: str, pairs: str) -> None:
    (tmp_path / "in").write_bytes(DATA)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        done = run("rw", "-b", size, "-p", pairs, stdin=source, stdout=target)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out").read_bytes() == DATA


def test_empty_input_is_empty_output(run: Run) -> None:
    done = run("rw")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_stopping_and_continuing_loses_nothing(examples: Path, env: dict[str, str]) -> None:
    """A stop interrupts a blocked write, which then ends short."""
    with copying(examples, env, "-b", "65536", "-p", "4") as (process, pipe):
        copied = b""
        while part := os.read(pipe, 20_000):
            copied += part
            # Not at its end, where a leak checker stops the process by the same means.
            if len(copied) < len(DATA) - 2 * PAGE:
                process.send_signal(signal.SIGSTOP)
                process.send_signal(signal.SIGCONT)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    assert copied == DATA


@pytest.mark.parametrize("ignored", [False, True], ids=["default", "ignored"])
def test_reader_that_leaves_ends_it_quietly(
    examples: Path, env: dict[str, str], ignored: bool
) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        process = subprocess.Popen(
            [examples / "rw"],
            env=env,
            stdin=zeros,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            restore_signals=not ignored,
        )
    assert process.stdout and process.stdout.read(10) == bytes(10)
    process.stdout.close()
    assert process.stderr and process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == (1 if ignored else -signal.SIGPIPE)


def test_closed_input_is_an_error(run: Run) -> None:
    done = run("rw", shell='exec "$@" <&-')
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"rw: cannot read standard input: Bad file descriptor\n"


def test_directory_as_input_is_an_error(run: Run, tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        done = run("rw", stdin=fd)
    finally:
        os.close(fd)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"rw: cannot read standard input: Is a directory\n"


def test_full_disk_keeps_what_came_before(run: Run, tmp_path: Path) -> None:
    """A limit on the file's size: the last write that fits is short, the next fails."""
    source = tmp_path / "in"
    source.write_bytes(DATA)
    with source.open("rb") as reading, (tmp_path / "out").open("wb") as target:
        done = run(
            "rw", shell='trap "" XFSZ; ulimit -f 100; exec "$@"', stdin=reading, stdout=target
        )
    assert done.returncode == 1
    assert done.stderr == b"rw: cannot write to standard output: File too large\n"
    copied = (tmp_path / "out").read_bytes()
    assert copied and copied == DATA[: len(copied)] and len(copied) % 51200 == 0
