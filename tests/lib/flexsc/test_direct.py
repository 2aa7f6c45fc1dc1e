# SPDX-License-Identifier: MIT
"""The table of lib/flexsc/direct.c has every call of the kernels whose sources the lab has."""

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("FERRY_BUILD", Path(__file__).parents[3] / "build"))
CACHE = Path(os.environ.get("FERRY_CACHE", Path.home() / ".cache" / "ferry"))
SERIES = Path(__file__).parents[3] / "kernel" / "series"
TABLE = "arch/x86/entry/syscalls/syscall_64.tbl"
# A kernel's own calls, and those that the series adds.
TABLES = [*sorted(CACHE.glob(f"trees/*/base/{TABLE}")), *sorted(SERIES.glob("*/*.diff"))]


def calls(table: Path) -> Iterator[tuple[int, str]]:
    """The calls in a table, or in a patch of one."""
    for line in table.read_text().splitlines():
        number, *fields = line.removeprefix("+").partition("#")[0].split() or [""]
        if number.isdecimal() and len(fields) > 1 and fields[0] in ("64", "common", "ferry"):
            yield int(number), fields[1]


def test_the_series_adds_calls() -> None:
    assert {name for table in TABLES for _, name in calls(table)} >= {"batch", "flexsc_serve"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the tables are those of x86-64")
@pytest.mark.parametrize(
    "table", TABLES, ids=lambda table: "-".join(table.parts[-7:-5]) or table.name
)
def test_every_call_has_a_row(table: Path) -> None:
    assert table.suffix == ".diff" or len(list(calls(table))) > 300
    library = ctypes.CDLL(str(BUILD / "lib" / "libferry.so"))
    library.ferry_direct_reason.restype = ctypes.c_char_p
    library.ferry_direct_name.restype = ctypes.c_char_p
    for number, name in calls(table):
        reason = library.ferry_direct_reason(ctypes.c_long(number)) or b""
        assert b"does not know" not in reason, f"{number} {name} has no row"
        assert library.ferry_direct_name(ctypes.c_long(number)) in (None, name.encode())
