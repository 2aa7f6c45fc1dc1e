# SPDX-License-Identifier: MIT
"""Decides when to end a guest, and describes the outcome."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from lab.guests.console import Watcher
from lab.guests.load import Meter
from lab.guests.machine import Options, Outcome
from lab.kernels.build import Kernel
from lab.process import Kept

BOOT_TIMEOUT = 300.0
END_TIMEOUT = 20.0  # from the command's end to the guest's


class Watch:
    """One guest, from its start to its outcome."""

    def __init__(
        self,
        run: Path,
        guest: Kept,
        options: Options,
        watcher: Watcher,
        give_up: Callable[[], str],
        meter: Meter,
    ) -> None:
        self.run = run
        self.guest = guest
        self.options = options
        self.watcher = watcher
        self.give_up = give_up
        self.meter = meter
        meter.attach(guest.process.pid)
        self.given_up = ""
        self.asked = False
        self.started = time.monotonic()
        self.status_seen = 0.0
        self.timed_out = False
        self.not_booted = False

    def guard(self, take: Callable[[bytes], bool]) -> Callable[[bytes], None]:
        """Ends the guest when the user asks for it."""

        def sink(data: bytes) -> None:
            if not take(data):
                self.asked = True
                self.guest.end()

        return sink

    def tick(self) -> bool:
        """Whether the guest may go on."""
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
        self.given_up = self.give_up()
        if self.given_up:
            return False
        elapsed = now - self.started
        if self.options.timeout is not None and elapsed > self.options.timeout:
            self.timed_out = True
            self.not_booted = not (self.run / "started").exists()
            return False
        if elapsed * share > BOOT_TIMEOUT and not (self.run / "started").exists():
            self.timed_out = self.not_booted = True
            return False
        return True

    def outcome(self, kernel: Kernel) -> Outcome:
        status = read_status(self.run)
        console = self.run / "console.log"
        findings = self.watcher.findings
        name = kernel.target.name
        failure = ""
        if self.asked:
            status = 0
        elif self.not_booted:
            seconds = time.monotonic() - self.started
            failure = f"{name} did not boot within {seconds:.0f} s; its console is in {console}"
        elif self.timed_out:
            failure = (
                f"the command did not end within {self.options.timeout:g} s on {name};"
                f" its console is in {console}"
            )
        elif self.given_up:
            failure = f"{self.given_up} on {name}; its console is in {console}"
        elif findings:
            failure = f"the console of {name} says '{findings[0]}'; all of it is in {console}"
        elif status is None:
            reached = "command ended" if (self.run / "started").exists() else "command started"
            failure = (
                f"{name} went down before the {reached}: {last_line(console)};"
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
