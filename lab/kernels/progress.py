# SPDX-License-Identifier: MIT
"""Progress of a build: one step per line that make prints for a file."""

import re
import sys
from types import TracebackType
from typing import Self

from tqdm import tqdm

STEP = re.compile(rb"^  [A-Z][A-Z0-9_]* +(?:\[M\] +)?(\S+)", re.M)


class Progress:
    """A bar on a terminal; elsewhere only a line at the start and one at the end."""

    def __init__(self, name: str, done: int, total: int) -> None:
        self._rest = b""
        print(f"ferry-lab: building {name}", file=sys.stderr)
        self._bar = tqdm(
            total=max(total, done),
            initial=done,
            unit="file",
            desc=name,
            file=sys.stderr,
            disable=not sys.stderr.isatty(),
            leave=False,
            smoothing=0.05,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.close()

    def feed(self, output: bytes) -> None:
        """Counts the steps in the next piece of make's output."""
        lines, newline, self._rest = (self._rest + output).rpartition(b"\n")
        steps = STEP.findall(lines + newline)
        if not steps:
            return
        self._bar.set_postfix_str(steps[-1].decode(errors="replace")[-40:], refresh=False)
        # Never past the end: the table's numbers of steps are estimates.
        self._bar.update(min(len(steps), self._bar.total - self._bar.n))
