# SPDX-License-Identifier: MIT
"""What the tests of watchers share: the program that is watched."""

import os
import subprocess
from pathlib import Path

import pytest

SKIPPED = 77


@pytest.fixture(scope="session")
def watched() -> Path:
    """The program, on a kernel that has batch()."""
    build = os.environ.get("FERRY_BUILD")
    assert build, "set FERRY_BUILD to the build directory"
    program = Path(build).absolute() / "tests" / "kernel" / "watched"
    done = subprocess.run([program, "batch"], stdout=subprocess.DEVNULL, check=False)
    if done.returncode == SKIPPED:
        pytest.skip("this kernel does not have the batch system call")
    assert done.returncode == 0
    return program
