# SPDX-License-Identifier: MIT
"""Progress of a build: one step per line that make prints for a file."""

import contextlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

STEP = re.compile(rb"^  [A-Z][A-Z0-9_]* +(?:\[M\] +)?(\S+)", re.M)


INTERVAL = 60.0  # seconds between two lines where there is no terminal

Show = Callable[[list[bytes]], None]  # takes the files of the steps that were made


@contextlib.contextmanager
def bar(name: str, done: int, total: int) -> Iterator[Show]:
    from tqdm import tqdm

    with tqdm(
        total=total,
        initial=done,
        unit="file",
        desc=name,
        file=sys.stderr,
        leave=False,
        smoothing=0.05,
    ) as shown:

        def show(files: list[bytes]) -> None:
            shown.set_postfix_str(files[-1].decode(errors="replace")[-40:], refresh=False)
            # Never past the end: the table's numbers of steps are estimates.
            shown.update(min(len(files), shown.total - shown.n))

        yield show


@contextlib.contextmanager
def lines(name: str, done: int, total: int) -> Iterator[Show]:
    last = time.monotonic()

    def show(files: list[bytes]) -> None:
        nonlocal done, last
        done += len(files)
        if time.monotonic() - last >= INTERVAL:
            last = time.monotonic()
            count = f"{min(done, total)} of about {total} files"
            print(f"ferry-lab: building {name}: {count}", file=sys.stderr)

    yield show


@contextlib.contextmanager
def progress(name: str, done: int, total: int) -> Iterator[Callable[[bytes], None]]:
    """A bar on a terminal with tqdm, else a line a minute; gives what takes make's output."""
    print(f"ferry-lab: building {name}", file=sys.stderr)
    rest = b""
    show_as = bar if sys.stderr.isatty() and find_spec("tqdm") else lines
    with show_as(name, done, max(total, done)) as show:

        def feed(output: bytes) -> None:
            nonlocal rest
            text, newline, rest = (rest + output).rpartition(b"\n")
            if steps := STEP.findall(text + newline):
                show(steps)

        yield feed
