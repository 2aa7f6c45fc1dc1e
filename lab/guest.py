# SPDX-License-Identifier: MIT
"""What a guest is asked to do, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TIMED_OUT = 124
FAILED = 125


@dataclass(frozen=True)
class Options:
    """How a guest runs.  Times are wall-clock seconds on the host."""

    cpus: int = 2
    memory: str = "1G"
    timeout: float | None = None  # for all of it: boot, command, end
    icount: bool = False  # one instruction is one nanosecond of the guest; one CPU
    writable: tuple[Path, ...] = ()  # directories of the host that the guest may change
    qemu: tuple[str, ...] = ()  # further arguments
    kernel: tuple[str, ...] = ()  # further kernel parameters
    environment: Mapping[str, str] = field(default_factory=dict)
    terminal: bool = False  # the command talks to the user's terminal
    quick: bool = False  # without the search for leaks at the end


@dataclass(frozen=True)
class Lines:
    """Descriptors that the guest's lines are connected to."""

    console: int  # kernel messages
    out: int  # the command's output
    err: int  # the command's errors
    keys: int  # the command's input, -1 for none


@dataclass(frozen=True)
class Outcome:
    """What came of a command in a guest."""

    status: int | None  # the command's exit status, None if it did not end
    timed_out: bool
    findings: list[str]  # bad lines on the console
    failure: str  # one sentence, empty when the guest did well
    console: Path  # the log of the console

    @property
    def exit_status(self) -> int:
        """The command's, exactly, unless the guest failed."""
        if self.timed_out:
            return TIMED_OUT
        if self.failure or self.status is None:
            return FAILED
        return self.status
