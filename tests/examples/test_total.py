# SPDX-License-Identifier: MIT
"""total: sums of bytes."""

import os
import random
import subprocess
import threading
from pathlib import Path

from conftest import Run


def test_sum_is_that_of_python(run: Run, tmp_path: Path) -> None:
    rng = random.Random(1)
    sizes = [0, 1, 7, 4095, 4096, 4097, 65536, 300_001]
    files = [tmp_path / f"file-{size}" for size in sizes]
    for file, size in zip(files, sizes, strict=True):
        file.write_bytes(rng.randbytes(size))
    done = run("total", *files)
    assert (done.returncode, done.stderr) == (0, b"")
    assert int(done.stdout) == sum(sum(file.read_bytes()) for file in files)


def test_unreadable_files_are_named_and_the_others_summed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(b"\x01\xff")
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    names = ("good", "missing", "directory", "fifo", "loop", "good")
    done = run("total", *names, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == b"512\n"
    assert done.stderr.decode().splitlines() == [
        "total: cannot read 'missing': No such file or directory",
        "total: cannot read 'directory': it is a directory",
        "total: cannot read 'fifo': it is not a file",
        "total: cannot read 'loop': Too many levels of symbolic links",
    ]


def test_every_file_is_closed(run: Run, tmp_path: Path) -> None:
    """The failing ones too: directories cannot be mapped, and their descriptors must go."""
    file = tmp_path / "file"
    file.write_bytes(b"\x02")
    done = run("total", *[file, tmp_path] * 100, shell='ulimit -n 16; exec "$@"')
    assert done.stdout == b"200\n"
    assert done.stderr.count(b"it is a directory") == 100


def test_files_are_not_kept_mapped(examples: Path, env: dict[str, str], tmp_path: Path) -> None:
    size, count = 16 << 20, 20
    file = tmp_path / "large"
    file.touch()
    os.truncate(file, size)
    process = subprocess.Popen(
        [examples / "total", *[file] * count], env=env, stdout=subprocess.PIPE
    )
    assert process.stdout and process.stdout.read() == b"0\n"
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert usage.ru_maxrss * 1024 < size * count / 2


def test_a_file_cut_short_meanwhile_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "shrinking"
    file.touch()
    stop = threading.Event()

    def cut() -> None:
        while not stop.is_set():
            os.truncate(file, 4 << 20)
            os.truncate(file, 0)

    cutter = threading.Thread(target=cut)
    cutter.start()
    try:
        for _ in range(20):
            done = run("total", *[file] * 20)
            lines = set(done.stderr.splitlines())
            message = f"total: cannot read '{file}': it was cut short meanwhile, or its disk fails"
            assert lines <= {message.encode()}
            assert (done.returncode, done.stdout) == (1 if lines else 0, b"0\n")
    finally:
        stop.set()
        cutter.join()
