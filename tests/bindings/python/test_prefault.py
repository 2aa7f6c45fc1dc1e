# SPDX-License-Identifier: MIT
"""prefault() maps the memory of arrays and other buffers, and nothing else."""

import array
import ctypes
import inspect
import mmap
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import conftest
import ferry
import numpy as np
import pytest

PAGE = mmap.PAGESIZE
PAGES = 256

libc = ctypes.CDLL(None, use_errno=True)


def anonymous(pages: int = PAGES) -> mmap.mmap:
    memory = mmap.mmap(-1, pages * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory


def resident(memory: Any) -> int:  # noqa: ANN401 (whatever has the buffer protocol)
    """How many of its pages are mapped."""
    start = np.frombuffer(memory, np.uint8).ctypes.data
    pages = len(memory) // PAGE
    found = (ctypes.c_ubyte * pages)()
    assert libc.mincore(ctypes.c_void_p(start), ctypes.c_size_t(pages * PAGE), found) == 0
    return sum(each & 1 for each in found)


def faults() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def test_an_array() -> None:
    memory = anonymous()
    assert resident(memory) == 0
    done = ferry.prefault(np.frombuffer(memory, np.int32).reshape(16, -1))
    assert done.way in ("populate", "touch")
    assert resident(memory) == PAGES
    assert PAGES <= done.faults < PAGES + 50
    assert done.threads == 1 and done.large_page == 0
    contents = b"x" * len(memory)
    before = faults()
    memory[:] = contents
    assert faults() - before < PAGES // 2
    assert ferry.prefault(memory).faults < 50
    assert memory[:] == contents


def test_memory_that_is_read_stays_shared() -> None:
    memory = anonymous()
    ferry.prefault(memory, write=False)
    assert resident(memory) == PAGES
    before = faults()
    for page in range(PAGES):
        memory[page * PAGE] = 1
    assert faults() - before >= PAGES


def test_a_part() -> None:
    memory = anonymous()
    ferry.prefault(np.frombuffer(memory, np.uint8)[10 * PAGE : 12 * PAGE])
    assert resident(memory) == 2


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_a_file(tmp_path: Path, mode: Any) -> None:  # noqa: ANN401 (NumPy's literals)
    path = tmp_path / "file"
    path.write_bytes(bytes(range(256)) * PAGE)
    mapped = np.memmap(path, np.uint8, mode)
    ferry.prefault(mapped)
    assert resident(mapped) == 256
    assert (mapped == np.arange(len(mapped)).astype(np.uint8)).all()
    assert path.read_bytes() == bytes(range(256)) * PAGE


def test_a_file_that_has_become_shorter(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(8 * PAGE))
    mapped = np.memmap(path, np.uint8, "r")
    os.truncate(path, PAGE)
    with pytest.raises(OSError, match="Bad address"):
        ferry.prefault(mapped)


BUFFERS = [
    bytearray(5 * PAGE),
    b"constant",
    b"",
    array.array("d", [1, 2]),
    (ctypes.c_int * 4)(),
    memoryview(bytearray(7))[2:5],
    np.zeros((40, 50), order="F"),
    np.zeros((0, 3)),
    np.array(5),
    np.zeros(3, "M8[s]"),
    np.zeros(3, [("time", "M8[s]"), ("size", "i4")]),
    np.array([object()]),
]


@pytest.mark.parametrize("buffer", BUFFERS, ids=lambda buffer: type(buffer).__name__)
def test_many_kinds(buffer: Any) -> None:  # noqa: ANN401 (whatever has the buffer protocol)
    before = np.array(buffer).tolist()
    done = ferry.prefault(buffer)
    assert isinstance(done, ferry.Prefaulted)
    assert np.array(buffer).tolist() == before


def test_nothing_to_do() -> None:
    assert ferry.prefault(b"") == ("none", 0, 0, 1)


@pytest.mark.parametrize("wrong", ["text", 5, None, np.zeros(10)[::2], np.zeros((4, 4)).T[1:]])
def test_what_is_no_memory(wrong: Any) -> None:  # noqa: ANN401 (of any type)
    with pytest.raises((TypeError, ValueError)) as caught:
        ferry.prefault(wrong)
    assert "_ferry" not in str(caught.value)


@pytest.mark.parametrize("constant", [b"constant", memoryview(b"constant")])
def test_constants_are_not_written(constant: bytes | memoryview) -> None:
    with pytest.raises((TypeError, BufferError)):
        ferry.prefault(constant, write=True)
    frozen = np.zeros(8)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ferry.prefault(frozen, write=True)


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        ferry.prefault(b"", writes=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        ferry.prefault(b"", True)  # type: ignore[misc]


LIMITED = """
import mmap, os, sys
sys.path.insert(0, sys.argv[1])
import ferry
with open(sys.argv[2], "w") as file:
    file.write(str(os.getpid()))
memory = mmap.mmap(-1, 256 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
try:
    ferry.prefault(memory)
except MemoryError:
    print("refused")
"""


def limited_group() -> tuple[Path, Path] | None:
    """A memory group below 160 MiB, and its list of processes; of either version."""
    for root, limit in (("memory", "memory.limit_in_bytes"), (".", "memory.max")):
        group = Path("/sys/fs/cgroup", root, f"ferry-test-python-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(160 << 20))
        except OSError:
            group.rmdir()
            continue
        return group, group / "cgroup.procs"
    return None


def test_a_limit_raises() -> None:
    made = limited_group()
    if made is None:
        pytest.skip("this test may not make memory groups here")
    group, processes = made
    try:
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, conftest.PACKAGE, processes],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        group.rmdir()
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n", "")


def test_several_threads_at_once() -> None:
    memory = anonymous(4096)
    parts = np.frombuffer(memory, np.uint8).reshape(4, -1)
    threads = [threading.Thread(target=ferry.prefault, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert resident(memory) == 4096


def test_a_signal_handler_may_raise() -> None:
    def fail(*_: object) -> None:
        raise KeyError("the handler")

    before = signal.signal(signal.SIGUSR1, fail)
    memory = anonymous(1 << 18)
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with pytest.raises(KeyError, match="the handler"):
            timer.start()
            for _ in range(1000):
                ferry.prefault(memory)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)


def test_each_parameter_is_explained() -> None:
    assert ferry.prefault.__doc__
    for name in list(inspect.signature(ferry.prefault).parameters)[1:]:
        assert re.search(rf"^ *{name}: ", ferry.prefault.__doc__, re.M), name
