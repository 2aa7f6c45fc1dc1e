# SPDX-License-Identifier: MIT
"""Decides when to end a guest, and describes the outcome."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lab.guests.console import Watcher
from lab.guests.load import Meter
from lab.guests.machine import Options, Outcome
from lab.process import Kept

BOOT_TIMEOUT = 300.0
END_TIMEOUT = 20.0  # from the command's end to the guest's


@dataclass
class Watch:
    """One guest, from its start to its outcome."""

    name: str  # of the target
    run: Path
    guest: Kept
    options: Options
    watcher: Watcher
    give_up: Callable[[], str]
    meter: Meter
    started: float = field(default_factory=time.monotonic)
    asked: bool = False  # by the user, to end
    status_seen: float = 0.0
    failure: str = ""  # why the guest is ended
    timed_out: bool = False

    def __post_init__(self) -> None:
        self.meter.attach(self.guest.process.pid)

    def guard(self, take: Callable[[bytes], bool]) -> Callable[[bytes], None]:
        """Ends the guest when the user asks for it."""

        def sink(data: bytes) -> None:
            if not take(data):
                self.asked = True
                self.guest.end()

        return sink

    def tick(self) -> bool:
        """Whether the guest may continue."""
        if self.guest.process.poll() is not None:
            return False
        self.meter.sample()
        # A guest that gets half of the CPU time it wants has twice the time.
        share = self.meter.usage.share
        now = time.monotonic()
        if self.status_seen:
            return (now - self.status_seen) * share < END_TIMEOUT
        if (self.run / "status").exists():
            self.status_seen = now
            return True
        self.failure = self.why_to_end(now - self.started, share)
        return not self.failure

    def why_to_end(self, elapsed: float, share: float) -> str:
        if reason := self.give_up():
            return f"{reason} on {self.name}"
        limit = self.options.timeout
        booted = (self.run / "started").exists()
        late = elapsed * share > BOOT_TIMEOUT and not booted
        self.timed_out = late or (limit is not None and elapsed > limit)
        if not self.timed_out:
            return ""
        if not booted:
            return f"{self.name} did not boot within {elapsed:.0f} s"
        return f"the command did not end within {limit:g} s on {self.name}"

    def outcome(self) -> Outcome:
        status = read_status(self.run)
        console = self.run / "console.log"
        findings = self.watcher.findings
        failure = ""
        if self.asked:
            status = 0
        elif self.failure:
            failure = f"{self.failure}; its console is in {console}"
        elif findings:
            failure = f"the console of {self.name} says '{findings[0]}'; all of it is in {console}"
        elif status is None:
            reached = "command ended" if (self.run / "started").exists() else "command started"
            failure = (
                f"{self.name} went down before the {reached}: {last_line(console)};"
                f" its console is in {console}"
            )
        return Outcome(status, self.timed_out, findings, failure, console)


def read_status(run: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int((run / "status").read_text())
    return None


def last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return f"'{lines[-1].strip()}'" if lines else "it printed nothing"
