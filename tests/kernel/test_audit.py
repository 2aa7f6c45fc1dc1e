# SPDX-License-Identifier: MIT
"""An audit rule logs each call of a batch, or of a runner, once; getdents_statx() makes way."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from audit_link import AuditLink

from calls import Maker, Seen, check

RECORD = re.compile(
    r" syscall=(?P<number>\d+) .*?exit=(?P<result>-?\d+)"
    r" a0=(?P<a0>[0-9a-f]+) a1=(?P<a1>[0-9a-f]+) a2=(?P<a2>[0-9a-f]+)"
)

# Prints the error of getdents_statx() for /, or 0.
LIST = """
import ctypes, os
call = ctypes.CDLL(None, use_errno=True).syscall
entries = ctypes.create_string_buffer(4096)
result = call(507, os.open("/", os.O_RDONLY), entries, ctypes.c_size_t(4096), 0, 0)
print(ctypes.get_errno() if result < 0 else 0)
"""


def open_audit() -> AuditLink:
    try:
        return AuditLink()
    except OSError as error:
        pytest.skip(f"this kernel has no audit: {error}")


def error_of_list() -> int:
    done = subprocess.run([sys.executable, "-c", LIST], stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def test_under_a_rule_attributes_take_calls_of_their_own() -> None:
    if error_of_list() == errno.ENOSYS:
        pytest.skip("only ferry's patches for Linux 7.3 have getdents_statx()")
    assert error_of_list() == 0  # the first test: a rule stays
    link = open_audit()
    with link:
        link.log_children()
        assert error_of_list() == errno.EOPNOTSUPP


def test_a_rule_logs_each_call(watched: Path, maker: Maker) -> None:
    link = open_audit()
    with link:
        link.log_children()
        subprocess.run([watched, maker.word], stdout=subprocess.PIPE, check=True)
        link.wait_for(" syscall=1 ", 2)  # the one that is made, and what the program prints
    seen: list[Seen] = []
    for record in link.records:
        if 'comm="watched"' in record and (m := RECORD.search(record)):
            words = tuple(int(m[name], 16) for name in ("a0", "a1", "a2"))
            seen.append((int(m["number"]), words, int(m["result"])))
    check(seen, maker, os.getpgid(0))
