# SPDX-License-Identifier: MIT
"""hash_many() against hashlib and the packages of other hashes."""

import errno
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import conftest
import ferry
import pytest

LARGE = 3_000_000  # more than is read at once, so that it comes in parts


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    root = tmp_path_factory.mktemp("files")
    sizes = [0, 1, 63, 64, 65, 2047, 2048, 5000, 70_000] * 3 + [LARGE] + [100] * 500
    for i, size in enumerate(sizes):
        (root / f"{i}").write_bytes(os.urandom(size))
    return [str(root / f"{i}") for i in range(len(sizes))]


def of_package(name: str, function: str) -> Callable[[bytes], bytes]:
    make = getattr(pytest.importorskip(name), function)
    return lambda data: bytes(make(data).digest())


OTHERS: dict[Any, Callable[[], Callable[[bytes], bytes]]] = {
    "sha256": lambda: of_package("hashlib", "sha256"),
    "xxh3": lambda: of_package("xxhash", "xxh3_64"),
    "blake3": lambda: of_package("blake3", "blake3"),
}


@pytest.mark.parametrize("algorithm", OTHERS)
@pytest.mark.parametrize("threads", [0, 1, 4])
def test_digests(files: list[str], algorithm: Any, threads: int) -> None:  # noqa: ANN401
    other = OTHERS[algorithm]()
    expected = [other(Path(path).read_bytes()) for path in files]
    assert ferry.hash_many(files, algorithm, threads=threads) == expected
    assert ferry.hash_many(ferry.Names(files), algorithm, regular=True) == expected


def test_without_the_library_of_a_hash(files: list[str]) -> None:
    """What the library computes, the package does; without both, the error says what to install."""
    program = (
        "import sys, ctypes; sys.path.insert(0, sys.argv[1]); import hashlib\n"
        "sys.modules.update(xxhash=None, blake3=None, _hashlib=None); import ferry\n"
        "for name in 'blake3', 'xxh3':\n"
        "    try: ferry.hash_many([], name)\n"
        "    except ImportError as error: print(error)\n"
        "print(ferry.hash_many(['/dev/null'], devices=True)[0].hex())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, conftest.PACKAGE], capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    assert done.stderr == "" and lines[-1] == hashlib.sha256().hexdigest()
    assert lines[0] == "blake3 needs the Python package blake3: pip install blake3"
    assert all("pip install xxhash" in line for line in lines[1:-1])


def test_errors(tree: Path) -> None:
    paths = [tree / "a", tree / "missing", tree / "folder"]
    with pytest.raises(FileNotFoundError) as caught:
        ferry.hash_many(paths)
    assert caught.value.filename == str(tree / "missing")
    digest, missing, folder = ferry.hash_many(paths, on_error="return")
    assert digest == hashlib.sha256(b"first").digest()
    assert isinstance(missing, OSError) and missing.errno == errno.ENOENT
    assert isinstance(folder, IsADirectoryError)
    assert ferry.hash_many(["a"], directory=tree) == [digest]
    assert ferry.hash_many([]) == []
    with pytest.raises(ValueError, match="there are sha256, xxh3, blake3"):
        ferry.hash_many(paths, "md6")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="name of a hash"):
        ferry.hash_many(paths, None)  # type: ignore[call-overload]


def test_it_can_be_interrupted(tree: Path) -> None:
    many = ferry.Names([str(tree / "a")] * 2_000_000)
    with pytest.raises(ZeroDivisionError):
        ferry.hash_many(many, progress=lambda done: 1 // 0)


@pytest.mark.parametrize("algorithm", ["sha256", "blake3"])
def test_other_threads_go_on(files: list[str], algorithm: Any) -> None:  # noqa: ANN401
    if algorithm == "blake3":
        pytest.importorskip("blake3")
    done = threading.Event()
    results: list[list[bytes]] = []

    def work() -> None:
        results.append(ferry.hash_many(files * 5, algorithm))
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    count = 0
    while not done.is_set():
        count += 1
        time.sleep(0.001)
    thread.join()
    assert count > 3 and results[0][: len(files)] == results[0][-len(files) :]
