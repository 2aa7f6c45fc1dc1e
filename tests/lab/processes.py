# SPDX-License-Identifier: MIT
"""Finds the processes of a test, by a word that only their environment has."""

import os
import time
import uuid
from pathlib import Path


def new_mark() -> str:
    return f"FERRY_TEST_MARK={uuid.uuid4().hex}"


def marked(mark: str) -> list[int]:
    """The processes, zombies left out, that have MARK in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_for_count(mark: str, at_least: int, seconds: float = 20) -> None:
    """Waits until so many processes run."""
    deadline = time.monotonic() + seconds
    while len(marked(mark)) < at_least:
        assert time.monotonic() < deadline, f"{len(marked(mark))} of {at_least} processes run"
        time.sleep(0.02)


def wait_until_none(mark: str, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while left := marked(mark):
        assert time.monotonic() < deadline, f"these processes are left: {left}"
        time.sleep(0.02)
