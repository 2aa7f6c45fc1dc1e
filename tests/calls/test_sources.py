# SPDX-License-Identifier: MIT
"""Every call of the kernels whose sources the lab has is in the table, as those have it.

With FERRY_SOURCES=yes it is an error when there are none.
"""

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from calls.table import GENERIC, X86, Call

CACHE = Path(os.environ.get("FERRY_CACHE", Path.home() / ".cache" / "ferry"))
NEWEST = "7.3"  # of which the table has the arguments; older kernels may lack the optional ones
TABLES = {X86: "arch/x86/entry/syscalls/syscall_64.tbl", GENERIC: "scripts/syscall.tbl"}
FOLDERS = ["arch/x86", "arch/arm64", "block", "drivers/char", "fs", "io_uring", "ipc", "kernel"]
FOLDERS += ["mm", "net", "security"]
DEFINITION = re.compile(r"SYSCALL_DEFINE(\d)\((\w+)")


@pytest.fixture(params=["6.12", NEWEST])
def source(request: pytest.FixtureRequest) -> Path:
    path = CACHE / "trees" / str(request.param) / "base"
    if not path.is_dir():
        assert os.environ.get("FERRY_SOURCES") != "yes", f"{path} is missing"
        pytest.skip(f"{path} is missing: the lab has not unpacked it")
    return path


def parts_of_table(source: Path, architecture: int) -> set[str]:
    if architecture == X86:
        return {"common", "64"}
    makefile = (source / "arch/arm64/kernel/Makefile.syscalls").read_text()
    names = re.search(r"^syscall_abis_64 \+= (.*)$", makefile, re.M)
    assert names
    return {"common", "64", *names[1].split()}


def calls_of(source: Path, architecture: int) -> Iterator[tuple[int, str, str]]:
    """The number, the name and the function of each call; "ni_syscall" for one that is gone."""
    parts = parts_of_table(source, architecture)
    for line in (source / TABLES[architecture]).read_text().splitlines():
        number, *fields = line.partition("#")[0].split() or [""]
        if number.isdecimal() and fields[0] in parts:
            function = fields[2] if len(fields) > 2 else "sys_ni_syscall"
            yield int(number), fields[1], function.removeprefix("sys_")


@cache
def argument_counts(source: Path) -> dict[str, set[int]]:
    command = ["grep", "-rhoE", "--include=*.c", r"^SYSCALL_DEFINE[0-6]\(\w+", *FOLDERS]
    found = subprocess.run(command, cwd=source, text=True, capture_output=True, check=True)
    counts = defaultdict(set)
    for count, function in DEFINITION.findall(found.stdout):
        counts[function].add(int(count))
    return counts


@pytest.mark.parametrize("architecture", TABLES)
def test_every_call_has_a_row(calls: list[Call], source: Path, architecture: int) -> None:
    found = {(number, name) for number, name, _ in calls_of(source, architecture)}
    assert len(found) > 300
    assert found <= {(call.numbers[architecture], call.name) for call in calls}


@pytest.mark.parametrize("architecture", TABLES)
def test_rows_have_the_arguments(calls: list[Call], source: Path, architecture: int) -> None:
    rows = {call.name: call for call in calls}
    wrong = []
    for _, name, function in calls_of(source, architecture):
        row, counts = rows[name], argument_counts(source)[function]
        if function == "ni_syscall":
            continue
        least = len(row.arguments) if NEWEST in source.parts else row.least
        if not any(least <= count <= len(row.arguments) for count in counts):
            wrong.append((name, counts, least))
    assert not wrong
