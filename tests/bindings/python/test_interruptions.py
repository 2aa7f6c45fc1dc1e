# SPDX-License-Identifier: MIT
"""Signals, exceptions in callbacks, threads, fork() and other interpreters."""

import ctypes
import gc
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import conftest
import ferry
import pytest

MANY = 100_000


def stat_for_long() -> None:
    ferry.stat_many(["/"] * MANY * 100)


def read_for_long() -> None:
    for _ in ferry.read_many(["/proc/self/stat"] * MANY * 10):
        pass


def walk_for_long() -> None:
    while True:
        ferry.walk("/usr", stat=True)


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Not by another thread, which could do nothing while this one holds the interpreter's lock."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("work", [stat_for_long, read_for_long, walk_for_long])
def test_control_c(work: Callable[[], None]) -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.5):
        work()
    assert time.monotonic() - started < 10


def test_control_c_while_names_are_taken() -> None:
    """Otherwise the last one would raise a TypeError."""
    names: list[Any] = ["/"] * 5_000_000 + [None]
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.01):
        ferry.stat_many(names)


def test_a_handler_that_does_not_raise() -> None:
    calls = []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        while not calls:
            assert not ferry.stat_many(["/"] * MANY)[1].any()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_progress() -> None:
    seen: list[int] = []
    ferry.stat_many(["/"] * MANY * 10, progress=seen.append)
    assert seen and seen == sorted(seen) and 0 < seen[-1] <= 10 * MANY


@pytest.mark.parametrize("work", ["stat_many", "read_many"])
def test_an_exception_in_progress(work: str) -> None:
    def progress(done: int) -> None:
        raise KeyError(done)

    with pytest.raises(KeyError):
        list(getattr(ferry, work)(["/proc/self/stat"] * MANY * 10, progress=progress))


def test_the_gil_is_released(tree: Path) -> None:
    count = 0
    done = threading.Event()

    def work() -> None:
        ferry.stat_many([tree / "a"] * MANY)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        count += 1
        time.sleep(0.001)
    thread.join()
    assert count > 3


def test_threads_at_once(tree: Path) -> None:
    names = ["a", "b", "folder/c", "missing"] * 500
    expected = [(tree / name).read_bytes() for name in names[:3]]
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(5):
                results: list[Any] = list(ferry.read_many(tree, names, on_error="return"))
                assert results[-4:-1] == expected
                assert len(ferry.walk(tree, stat=True)) == 7
                assert ferry.stat_many(tree, names)[0]["size"][0] == 5
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_one_iterator_in_two_threads(tree: Path) -> None:
    """Each item comes once, or the second thread is refused, as with any generator."""
    reading = ferry.read_many([tree / "a"] * 20_000, memory=4096)
    counts = [0, 0]

    def work(which: int) -> None:
        try:
            for _ in reading:
                counts[which] += 1
        except ValueError as error:
            assert "already executing" in str(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 20_000


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_in_the_middle(tree: Path) -> None:
    """A child of a process whose threads are at work has no such threads, and works."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            ferry.stat_many([tree / "a"] * 5000)

    busy = threading.Thread(target=work)
    busy.start()
    try:
        for _ in range(20):
            child = os.fork()
            if not child:
                ok = not ferry.stat_many([tree / "a"] * 5000)[1].any()
                ok = ok and len(list(ferry.read_many([tree / "b"] * 500))) == 500
                ok = ok and len(ferry.walk(tree)) == 7
                os._exit(0 if ok else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        busy.join()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_files_are_read_ahead(tree: Path) -> None:
    """The thread that reads the next files is the parent's alone, and both go on."""
    expected = [b"first", b"second"] * 9000
    for _ in range(3):
        reading = ferry.read_many(tree, ["a", "b"] * 10_000)
        conftest.work_slowly(reading)
        child = os.fork()
        rest = list(reading)
        if not child:
            os._exit(0 if rest == expected else 1)
        assert rest == expected and os.waitpid(child, 0)[1] == 0


FAN_CLASS_CONTENT, FAN_MARK_ADD, FAN_OPEN_PERM = 0x4, 0x1, 0x10000
AT_FDCWD = -100


@contextmanager
def file_that_hangs(path: Path) -> Iterator[int]:
    """Nobody answers whether it may be opened.  Yields what can be read once somebody asks."""
    libc = ctypes.CDLL(None, use_errno=True)
    notify = libc.fanotify_init(FAN_CLASS_CONTENT, os.O_RDONLY)
    mark = (notify, FAN_MARK_ADD, ctypes.c_uint64(FAN_OPEN_PERM), AT_FDCWD, os.fsencode(path))
    if notify < 0 or libc.fanotify_mark(*mark):
        pytest.skip(f"no fanotify here: {os.strerror(ctypes.get_errno())}")
    try:
        yield notify
    finally:
        os.close(notify)


def raise_interrupt(*_: object) -> None:
    raise InterruptedError


def test_a_file_that_hangs_while_it_is_read_ahead(tree: Path) -> None:
    """Who does not want it any more may leave."""
    names = ["a"] * 10_000 + ["b"] * 10_000
    before = signal.signal(signal.SIGALRM, raise_interrupt)
    try:
        with file_that_hangs(tree / "b") as asked:
            for _ in range(10):  # on a busy machine, reading may take longer than the work
                reading = ferry.read_many(tree, names)
                conftest.work_slowly(reading)
                if select.select([asked], [], [], 5)[0]:
                    break
            signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
            with pytest.raises(InterruptedError):
                reading.close()  # type: ignore[attr-defined]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


FAULT = """
import ctypes, faulthandler, sys
sys.path.insert(0, sys.argv[1])
import ferry
faulthandler.enable()
list(ferry.walk_blocks("/", max_depth=1, prune=lambda path: ctypes.string_at(1)))
"""


def test_a_fault_in_a_thread_of_the_library_has_its_handler() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAULT, str(conftest.PACKAGE)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # By SIGABRT, if faulthandler passes it on to a sanitizer's handler.
    assert done.returncode in (-signal.SIGSEGV, -signal.SIGABRT)
    assert "Fatal Python error: Segmentation fault" in done.stderr


SUBINTERPRETER = """
import sys
sys.path.insert(0, sys.argv[1])
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
new = interpreters.create()
code = f'''
import sys
sys.path[:] = {sys.path!r}
try:
    import ferry._ferry
except ImportError as error:
    print("refused:", error)
'''
interpreters.run_string(new, code)
interpreters.destroy(new)
import ferry
print(len(ferry.stat_many(["/"])[0]))
"""


def test_subinterpreters_are_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SUBINTERPRETER, str(conftest.PACKAGE)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    refused, count = done.stdout.splitlines()
    assert refused.startswith("refused: ") and count == "1"


def resident() -> int:
    """Pages of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1])


def test_nothing_leaks(tree: Path) -> None:
    names: list[Any] = ["a", "missing", "folder/c", b"b", Path("folder"), "\udcff"] * 10

    def work() -> None:
        for error in ferry.read_many(tree, names, on_error="return"):
            del error
        list(ferry.read_many(tree, ["a", "b"] * 20, views=True, memory=1000))
        list(map(len, ferry.read_chunks(tree, ["a", "b"])))
        ferry.stat_many(tree, names)
        found = ferry.walk(tree, stat=True, prune=lambda path: False)
        list(found.directories())
        for bad in (["a\0"], [3]):
            with pytest.raises((ValueError, TypeError)):
                ferry.stat_many(bad)  # type: ignore[arg-type]

    def use_after(times: int) -> tuple[int, int]:
        for _ in range(times):
            work()
        gc.collect()
        return resident(), len(gc.get_objects())

    # A leak first fills what the allocator has, and then grows in each period.
    used = [use_after(times) for times in (400, 100, 100, 100)]
    pages, objects = zip(*used, strict=True)
    assert min(after - before for before, after in pairwise(objects)) < 20
    assert min(after - before for before, after in pairwise(pages)) < 128  # 512 KiB
