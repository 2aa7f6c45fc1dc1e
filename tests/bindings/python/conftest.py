# SPDX-License-Identifier: MIT
"""Lets the tests import the package from the build directory."""

import os
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

PACKAGE = Path(os.environ["FERRY_BUILD"]).absolute() / "bindings" / "python"

sys.path.insert(0, str(PACKAGE))


def work_slowly(reading: Iterator[object]) -> None:
    """Takes some of many small files, and so long that more are being read in the meantime."""
    for _ in islice(reading, 2000):
        time.sleep(0.0001)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree: two files, an empty one, a directory with a file, and a broken link."""
    (tmp_path / "a").write_bytes(b"first")
    (tmp_path / "b").write_bytes(b"second")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "c").write_bytes(b"third" * 1000)
    (tmp_path / "link").symlink_to("nowhere")
    return tmp_path
