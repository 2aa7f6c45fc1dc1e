# SPDX-License-Identifier: MIT
"""The running kernel's tracepoints have the argument counts of the table.

With FERRY_TRACEPOINTS=yes it is an error when there are none.
"""

import os
import re
from pathlib import Path

import pytest

from calls.table import X86, Call

EVENTS = Path("/sys/kernel/tracing/events/syscalls")
# __data_loc: the contents of a buffer, which kernels of 2026 record beside the arguments.
FIELD = re.compile(r"^\tfield:(?!__data_loc).*[ *](\w+);", re.M)
# The kernel names a tracepoint by its function.
FUNCTIONS = {
    "fstat": "newfstat",
    "lstat": "newlstat",
    "sendfile": "sendfile64",
    "stat": "newstat",
    "umount2": "umount",
    "uname": "newuname",
}


def test_argument_counts(calls: list[Call]) -> None:
    if not EVENTS.is_dir() and os.environ.get("FERRY_TRACEPOINTS") != "yes":
        pytest.skip("this kernel has no system call tracepoints, or tracefs is not mounted")
    compared, wrong = 0, []
    for call in calls:
        event = EVENTS / f"sys_enter_{FUNCTIONS.get(call.name, call.name)}" / "format"
        if call.numbers[X86] is None or not event.exists():
            continue
        _, _, arguments = event.read_text().partition("__syscall_nr;")
        count = len(FIELD.findall(arguments))
        compared += 1
        if not call.least <= count <= len(call.arguments):
            wrong.append((call.name, count, call.least, len(call.arguments)))
    assert compared > 250
    assert not wrong
