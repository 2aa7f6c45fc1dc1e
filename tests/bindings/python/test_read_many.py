# SPDX-License-Identifier: MIT
"""read_many() and read_chunks() against open().read()."""

import ctypes
import errno
import os
import random
import subprocess
import sys
import threading
import time
from itertools import islice
from pathlib import Path
from typing import Any

import conftest
import ferry
import pytest


def test_contents_in_order(tree: Path) -> None:
    names = ["b", "folder/c", "empty", "a", "b"]
    expected = [(tree / name).read_bytes() for name in names]
    paths = [tree / name for name in names]
    assert list(ferry.read_many(paths)) == expected
    assert list(ferry.read_many(tree, names)) == expected
    assert list(ferry.read_many(tree, names, regular=True)) == expected
    assert list(ferry.read_many(tree, names, views=True)) == expected
    [chunk] = ferry.read_chunks(tree, names)
    assert [bytes(chunk[i]) for i in range(len(chunk))] == expected


@pytest.mark.parametrize("memory", [1, 100, 5000, 100_000, 1 << 22])
def test_chunks(tmp_path: Path, memory: int) -> None:
    random.seed(memory)
    expected = []
    for i in range(300):
        expected.append(random.randbytes(random.choice([0, 1, 15, 16, 17, 100, 3000, 20_000])))
        (tmp_path / f"{i}").write_bytes(expected[-1])
    names = [f"{i}" for i in range(300)]
    assert list(ferry.read_many(tmp_path, names, memory=memory)) == expected
    assert list(ferry.read_many(tmp_path, names, memory=memory, views=True)) == expected
    first = 0
    for chunk in ferry.read_chunks(tmp_path, names, memory=memory):
        assert chunk.first == first
        assert chunk.lengths.tolist() == [len(e) for e in expected[first : first + len(chunk)]]
        assert chunk.data.nbytes <= max(memory, 32 * 20_000) and not chunk.errors.any()
        first += len(chunk)
    assert first == 300


def test_views_stay_as_they_are(tmp_path: Path) -> None:
    """The buffer is used again only when nobody looks at it."""
    names = [f"{i}" for i in range(200)]
    for name in names:
        (tmp_path / name).write_text(name * 100)
    views = list(ferry.read_many(tmp_path, names, views=True, memory=4096))
    assert [bytes(view) for view in views] == [(name * 100).encode() for name in names]
    for i, view in enumerate(ferry.read_many(tmp_path, names, views=True, memory=4096)):
        assert bytes(view) == (names[i] * 100).encode()


def test_errors_in_their_places(tree: Path) -> None:
    names = ["a", "missing", "folder", "b"]
    results = list(ferry.read_many(tree, names, on_error="return"))
    assert results[::3] == [b"first", b"second"]
    missing, folder = results[1:3]
    assert isinstance(missing, FileNotFoundError) and missing.filename == "missing"
    assert isinstance(folder, IsADirectoryError) and folder.errno == errno.EISDIR
    views = list(ferry.read_many(tree, names, on_error="return", views=True))
    assert views[0] == b"first" and isinstance(views[1], FileNotFoundError)


def test_the_first_error_is_raised_in_its_turn(tree: Path) -> None:
    reading = ferry.read_many([tree / "a", tree / "missing", tree / "b"])
    assert next(reading) == b"first"
    with pytest.raises(FileNotFoundError) as caught:
        next(reading)
    assert caught.value.filename == str(tree / "missing")
    with pytest.raises(StopIteration):
        next(reading)


def test_a_name_that_is_not_utf8_in_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        list(ferry.read_many([os.fsencode(tmp_path) + b"/\xff"]))
    assert caught.value.filename == os.fsencode(tmp_path) + b"/\xff"


def test_limit(tree: Path) -> None:
    results = list(ferry.read_many(tree, ["a", "b", "folder/c"], limit=5, on_error="return"))
    assert results[0] == b"first"
    assert [getattr(result, "errno", 0) for result in results] == [0, errno.EFBIG, errno.EFBIG]


def test_special_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    results: list[Any] = list(
        ferry.read_many([tmp_path / "fifo", "/dev/null", "/proc/self/status"], on_error="return")
    )
    assert [getattr(result, "errno", 0) for result in results[:2]] == [errno.EOPNOTSUPP] * 2
    assert results[2].startswith(b"Name:")
    assert list(ferry.read_many(["/dev/null"], devices=True)) == [b""]


def test_a_file_larger_than_memory(tmp_path: Path) -> None:
    contents = random.randbytes(3 << 20)
    (tmp_path / "large").write_bytes(contents)
    (tmp_path / "small").write_bytes(b"small")
    names = ["small", "large", "small"]
    expected = [b"small", contents, b"small"]
    assert list(ferry.read_many(tmp_path, names, memory=1000)) == expected


# Reads small and large files where memory has ROOM MiB left, and prints lengths or errors.
SHORT_OF_MEMORY = """
import resource
import sys

package, large, room, views = sys.argv[1:]
sys.path.insert(0, package)
import ferry

with open("small", "wb") as file:
    file.write(b"small")
with open("large", "wb") as file:
    file.truncate(int(large) << 20)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (int(room) << 20),) * 2)
names = ["small", "large", "small", "large", "small"]
results = ferry.read_many(names, views=views == "views", on_error="return", threads=1)
if views == "views":
    results = list(results)
print(*[result if isinstance(result, OSError) else len(result) for result in results])
"""


@pytest.mark.parametrize(
    ("large", "room", "kind", "lengths"),
    [
        (1 << 20, 160, "copies", [0, 0]),
        (1 << 20, 160, "views", [0, 0]),
        (64, 160, "copies", [64 << 20, 64 << 20]),
        (64, 100, "views", [64 << 20, 0]),
    ],
)
def test_files_too_large_for_memory_fail_alone(
    tmp_path: Path, large: int, room: int, kind: str, lengths: list[int]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY, conftest.PACKAGE, str(large), str(room), kind],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    error = str(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), "large"))
    first, second = (length or error for length in lengths)
    assert (done.stdout, done.stderr) == (f"5 {first} 5 {second} 5\n", "")


def test_bad_arguments(tree: Path) -> None:
    with pytest.raises(ValueError, match="limit is 0"):
        list(ferry.read_many([tree / "a"], limit=0))
    with pytest.raises(ValueError, match="memory is 0"):
        list(ferry.read_many([tree / "a"], memory=0))
    with pytest.raises(ValueError, match="on_error is \"ignore\"|on_error is 'ignore'"):
        ferry.read_many([tree / "a"], on_error="ignore")  # type: ignore[call-overload]


def test_nothing() -> None:
    assert list(ferry.read_many([])) == []
    assert list(ferry.read_chunks([])) == []


@pytest.mark.parametrize("count", [2, 20_000])
def test_the_directory_is_closed(tree: Path, count: int) -> None:
    """Also when files are being read ahead in it."""
    before = len(os.listdir("/proc/self/fd"))
    reading = ferry.read_many(tree, ["a"] * count)
    next(reading)
    conftest.work_slowly(reading)
    reading.close()  # type: ignore[attr-defined]
    assert list(reading) == []
    list(ferry.read_many(tree, ["a"]))
    assert len(os.listdir("/proc/self/fd")) == before


def calls_to_read() -> int:
    """How many the process has made so far."""
    return int(Path("/proc/self/io").read_text().split()[5])


def is_read_meanwhile() -> bool:
    before = calls_to_read()
    time.sleep(0.1)
    return calls_to_read() - before > 100


def test_the_next_files_are_read_meanwhile(tree: Path) -> None:
    many = ["a"] * 100_000
    with ferry.files.open_reader(tree, many, memory=65536) as reader:
        assert any(is_read_meanwhile() for _ in reader)
    one = ferry.call.make_options(1, None, None)
    with ferry.files.open_reader(tree, many, memory=65536, options=one) as reader:
        assert not any(is_read_meanwhile() for _ in islice(reader, 5))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_is_read_ahead_is_read_with_the_rights_of_its_time(tmp_path: Path) -> None:
    """Rights that a thread gives up are gone from the second chunk on that it then asks for."""
    names = [f"{i}" for i in range(100)]
    for name in names:
        (tmp_path / name).write_bytes(bytes(1000))
        (tmp_path / name).chmod(0o600)
    found: list[list[bool]] = []

    def work() -> None:
        chunks = ferry.read_chunks(tmp_path, names, memory=20_000)
        for _ in islice(chunks, 2):
            time.sleep(0.1)
        ctypes.CDLL(None).setfsuid(65534)
        found.extend([bool(error) for error in chunk.errors] for chunk in chunks)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found) > 3 and all(map(all, found[1:]))
