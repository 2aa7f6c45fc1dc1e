# SPDX-License-Identifier: MIT
"""The table of lib/flexsc/direct.c has every call of the kernels whose sources the lab has."""

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("FERRY_BUILD", Path(__file__).parents[3] / "build"))
CACHE = Path(os.environ.get("FERRY_CACHE", Path.home() / ".cache" / "ferry"))
TABLES = sorted(CACHE.glob("trees/*/series/arch/x86/entry/syscalls/syscall_64.tbl"))


def calls(table: Path) -> Iterator[tuple[int, str]]:
    for line in table.read_text().splitlines():
        fields = line.partition("#")[0].split()
        if len(fields) > 2 and fields[1] != "x32":
            yield int(fields[0]), fields[2]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the tables are those of x86-64")
@pytest.mark.skipif(not TABLES, reason="the lab has not unpacked any kernel yet")
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.parts[-6])
def test_every_call_has_a_row(table: Path) -> None:
    library = ctypes.CDLL(str(BUILD / "lib" / "libferry.so"))
    library.ferry_direct_reason.restype = ctypes.c_char_p
    library.ferry_direct_name.restype = ctypes.c_char_p
    for number, name in calls(table):
        reason = library.ferry_direct_reason(ctypes.c_long(number)) or b""
        assert b"does not know" not in reason, f"{number} {name} has no row"
        assert library.ferry_direct_name(ctypes.c_long(number)) in (None, name.encode())
