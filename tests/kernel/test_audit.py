# SPDX-License-Identifier: MIT
"""An audit rule logs each call of a batch, or of a runner, once."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from audit_link import AuditLink

from calls import Maker, Seen, check

RECORD = re.compile(
    r" syscall=(?P<number>\d+) .*?exit=(?P<result>-?\d+)"
    r" a0=(?P<a0>[0-9a-f]+) a1=(?P<a1>[0-9a-f]+) a2=(?P<a2>[0-9a-f]+)"
)


def test_a_rule_logs_each_call(watched: Path, maker: Maker) -> None:
    try:
        link = AuditLink()
    except OSError as error:
        pytest.skip(f"this kernel has no audit: {error}")
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
