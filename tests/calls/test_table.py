# SPDX-License-Identifier: MIT
"""The table can be read, and agrees with this machine's headers and with what is made of it."""

import re
from pathlib import Path

import pytest
from conftest import ROOT

from calls.table import GENERIC, HEADER, X86, Call, header, read_table

NUMBER = re.compile(r"^#define __NR(?:3264)?_(\w+) (\d+)$", re.M)
# In the generic header: what 64-bit architectures do not have, or call newfstatat.
NO_CALLS = {"syscalls", "arch_specific_syscall", "sync_file_range2", "fstatat"}
OF_32_BITS = range(403, 424)
HEADERS = {
    X86: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    GENERIC: Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("architecture", HEADERS)
def test_numbers_and_names_are_unique(calls: list[Call], architecture: int) -> None:
    numbers = [call.numbers[architecture] for call in calls if call.numbers[architecture]]
    assert len(numbers) == len(set(numbers))
    assert len({call.name for call in calls}) == len(calls)


@pytest.mark.parametrize("architecture", HEADERS)
def test_installed_headers_have_no_other_calls(calls: list[Call], architecture: int) -> None:
    if not HEADERS[architecture].exists():
        pytest.skip(f"no {HEADERS[architecture]}")
    known = {(call.name, call.numbers[architecture]) for call in calls}
    found = {
        (name, int(nr))
        for name, nr in NUMBER.findall(HEADERS[architecture].read_text())
        if name not in NO_CALLS and int(nr) not in OF_32_BITS
    }
    assert len(found) > 250
    assert found <= known


def test_each_row_can_be_read_back(calls: list[Call]) -> None:
    by_name = {call.name: call for call in calls}
    read = by_name["read"].arguments
    assert [(a.letter, a.length, a.sizes) for a in read] == [
        ("d", None, (0, 0)),
        ("r", 2, (1, 1)),
        ("l", None, (0, 0)),
    ]
    assert by_name["fstat"].arguments[1].sizes == (144, 128)
    polled = by_name["ppoll"].arguments[0]
    assert (polled.length, polled.sizes) == (1, (8, 8))
    assert (by_name["openat"].least, len(by_name["openat"].arguments)) == (3, 4)


@pytest.mark.parametrize("row", ["1 1 f any never other x:nonsense", "1 1 f any never other x[2]"])
def test_a_wrong_argument_is_named(row: str) -> None:
    with pytest.raises(ValueError, match="'x.*' is not an argument"):
        read_table(f"who any any\n{row}\n")


def test_the_kernel_header_is_what_the_table_gives(calls: list[Call]) -> None:
    text = HEADER.read_text()
    assert header(calls, text) == text, "run calls/table.py --blocked"
    assert text.count("X(ctx, ") == sum(call.who.name == "IN_NO_BATCH" for call in calls)


def test_calls_of_the_series_have_the_numbers_of_its_header(calls: list[Call]) -> None:
    text = (ROOT / "uapi/linux/ferry.h").read_text()
    defined = {n.lower(): int(nr) for n, nr in re.findall(r"FERRY_NR_(\w+)\s+(50\d)\b", text)}
    ours = {call.name: call.numbers[X86] for call in calls if (call.numbers[X86] or 0) >= 500}
    assert ours == defined


def test_the_kernel_blocks_the_calls_of_the_table(calls: list[Call]) -> None:
    """kernel/core/batch.c has its own list, and patches and the module block calls of flexsc."""
    texts = [
        (ROOT / "kernel" / name).read_text()
        for name in ("core/batch.c", "series/0010-flexsc/any.diff")
    ]
    listed = re.findall(r"\bBLOCKED\((\w+)\)(?! \[)", "\n".join(texts))
    expected = {call.name for call in calls if call.who.name == "IN_NO_BATCH"}
    assert sorted(listed) == sorted(expected)
