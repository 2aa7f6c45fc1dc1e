# SPDX-License-Identifier: MIT
"""Progress of a build: a step is a line that make prints for a file."""

import contextlib
import re
import sys
import time
from collections.abc import Callable, Iterator

STEP = re.compile(rb"^  [A-Z][A-Z0-9_]* +(?:\[M\] +)?(\S+)", re.M)
SECONDS = {True: 0.5, False: 60.0}  # between two lines: on a terminal, and elsewhere


@contextlib.contextmanager
def progress(name: str, done: int, total: int) -> Iterator[Callable[[bytes], None]]:
    """Shows how far a build is; gives what takes make's output.

    On a terminal a line replaces the one before it, and the last one is cleared.
    """
    terminal = sys.stderr.isatty()
    before, after = ("\r\033[K", "") if terminal else ("", "\n")
    last = time.monotonic()
    rest = b""

    def feed(output: bytes) -> None:
        nonlocal done, last, rest
        text, newline, rest = (rest + output).rpartition(b"\n")
        done += len(STEP.findall(text + newline))
        if time.monotonic() - last >= SECONDS[terminal]:
            last = time.monotonic()
            # Never past the end: the table's numbers of steps are estimates.
            count = f"{min(done, total)} of about {total} files"
            print(f"{before}ferry-lab: building {name}: {count}{after}", end="", file=sys.stderr)
            sys.stderr.flush()

    print(f"ferry-lab: building {name}", file=sys.stderr)
    try:
        yield feed
    finally:
        print(before, end="", file=sys.stderr, flush=True)
