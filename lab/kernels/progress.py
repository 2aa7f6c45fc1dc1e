# SPDX-License-Identifier: MIT
"""Progress of a build: one step per line that make prints for a file."""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator

from tqdm import tqdm

STEP = re.compile(rb"^  [A-Z][A-Z0-9_]* +(?:\[M\] +)?(\S+)", re.M)


@contextlib.contextmanager
def progress(name: str, done: int, total: int) -> Iterator[Callable[[bytes], None]]:
    """A bar on a terminal, else only a line at the start; gives what takes make's output."""
    print(f"ferry-lab: building {name}", file=sys.stderr)
    rest = b""
    with tqdm(
        total=max(total, done),
        initial=done,
        unit="file",
        desc=name,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
        leave=False,
        smoothing=0.05,
    ) as bar:

        def feed(output: bytes) -> None:
            nonlocal rest
            lines, newline, rest = (rest + output).rpartition(b"\n")
            if steps := STEP.findall(lines + newline):
                bar.set_postfix_str(steps[-1].decode(errors="replace")[-40:], refresh=False)
                # Never past the end: the table's numbers of steps are estimates.
                bar.update(min(len(steps), bar.total - bar.n))

        yield feed
