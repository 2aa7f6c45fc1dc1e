# SPDX-License-Identifier: MIT
"""ahead: the sum of the bytes of a file that is read by posted calls."""

import random
from pathlib import Path

import pytest
from conftest import Run

BLOCK = 65536


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, 8 * BLOCK, 40 * BLOCK + 7])
def test_sum_is_that_of_python(run: Run, tmp_path: Path, size: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(random.Random(size).randbytes(size))
    done = run("ahead", file)
    assert (done.returncode, done.stderr) == (0, b"")
    assert int(done.stdout) == sum(file.read_bytes())


def test_errors_of_posted_calls_are_reported(run: Run, tmp_path: Path) -> None:
    done = run("ahead", tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"ahead: cannot read '{tmp_path}': Is a directory\n"


def test_a_missing_file_is_named(run: Run) -> None:
    done = run("ahead", "missing")
    assert done.returncode == 1
    assert done.stderr == b"ahead: cannot open 'missing': No such file or directory\n"
