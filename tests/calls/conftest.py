# SPDX-License-Identifier: MIT
"""What the tests of the table of calls share: the table."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from calls.table import Call, read_table  # noqa: E402


@pytest.fixture(scope="session")
def calls() -> list[Call]:
    return read_table()
