# SPDX-License-Identifier: MIT
"""Runs make in a kernel's tree, with a log, and says in one sentence what went wrong."""

import errno
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from lab import LabError
from lab.cache import cache_root
from lab.process import run_to

CCACHE_SIZE = "3G"
# They would change what make does, or what ccache takes for the same.
NOT_PASSED_ON = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KBUILD_OUTPUT", "CFLAGS", "LDFLAGS")


def make_environment() -> dict[str, str]:
    environment = {n: v for n, v in os.environ.items() if n not in NOT_PASSED_ON}
    return environment | {
        "LC_ALL": "C",
        "CCACHE_DIR": str(cache_root() / "ccache"),
        "CCACHE_MAXSIZE": CCACHE_SIZE,
        "CCACHE_NOHASHDIR": "1",
    }


def run_logged(
    what: str,
    command: Sequence[str],
    tree: Path,
    log: Path,
    feed: Callable[[bytes], None] = lambda _: None,
) -> None:
    """Runs COMMAND to build WHAT; its output goes to the end of LOG and to FEED."""
    try:
        status = run_to(log, command, env=make_environment(), cwd=tree, feed=feed)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise LabError(
            f"building {what} failed: no space left in {cache_root()}; free some,"
            " or let FERRY_CACHE name another place. The next run goes on from there"
        ) from None
    if status:
        raise LabError(
            f"building {what} failed: {first_complaint(log)}; see {log}."
            " The next run goes on from there"
        )


def first_complaint(log: Path) -> str:
    """The line of a build log that says what went wrong."""
    lines = log.read_text(errors="replace").splitlines()
    for pattern in (r"No space left on device", r"\berror:|fatal:|undefined reference", r"\*\*\*"):
        for line in lines:
            if re.search(pattern, line):
                return line.strip()
    return lines[-1].strip() if lines else "make printed nothing"
