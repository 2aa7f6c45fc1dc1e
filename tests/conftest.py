# SPDX-License-Identifier: MIT
"""What most tests share: the build directory, and the command in it."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def build() -> Path:
    path = os.environ.get("FERRY_BUILD")
    assert path, "set FERRY_BUILD to the build directory"
    return Path(path).absolute()


@pytest.fixture(scope="session")
def ferry_path(build: Path) -> Path:
    return build / "cli" / "ferry"
