# SPDX-License-Identifier: MIT
"""Shared by the tests of watchers: the watched program."""

import os
import subprocess
from pathlib import Path

import pytest

from calls import MAKERS, Maker

SKIPPED = 77


@pytest.fixture(scope="session", params=MAKERS)
def maker(request: pytest.FixtureRequest) -> Maker:
    return MAKERS[request.param]


@pytest.fixture(scope="session")
def watched(maker: Maker) -> Path:
    """The program, on a kernel that has MAKER."""
    build = os.environ.get("FERRY_BUILD")
    assert build, "set FERRY_BUILD to the build directory"
    program = Path(build).absolute() / "tests" / "kernel" / "watched"
    done = subprocess.run([program, maker.word], stdout=subprocess.DEVNULL, check=False)
    if done.returncode == SKIPPED:
        pytest.skip(f"this kernel does not have the system call of {maker.word}")
    assert done.returncode == 0
    return program
