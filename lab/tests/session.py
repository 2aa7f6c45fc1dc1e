# SPDX-License-Identifier: MIT
"""Several tests in one guest: the script that runs them there, and the reading of its output."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from lab.guests.console import STALL, Watcher
from lab.guests.load import ENOUGH
from lab.targets import Target
from lab.tests.manifest import GuestTest

SKIPPED = (4, 77)  # of the kernel's selftests, of Meson
TIMED_OUT = (124, 137)  # of timeout(1)
# Of the kernel's test harness, and of ours: what it says of a test that reached the harness's
# own time limit, and of any test that failed.
HARNESSES = (
    (re.compile(rb"(?m): Test terminated by timeout$"), re.compile(rb"(?m)^not ok ")),
    (re.compile(rb"(?m)signal 14 \(Alarm clock\)$"), re.compile(rb"(?m)^\[  ERROR   \]")),
)
MARK_LINE = re.compile(rb"\x1eferry-lab (?P<what>begin|end) (?P<name>\S+)(?: (?P<status>\d+))?\n")
PARTIAL_MARK = re.compile(rb"\x1e[^\n]*\Z")
ON_CONSOLE = "ferry-lab: begin "


def script(tests: Sequence[GuestTest]) -> str:
    """For sh in the guest: runs each test, and marks where its output begins and ends.

    The console gets the marks as well, so that its bad lines can be laid to a test.  A test that
    its time limit ended has cleaned up nothing, so the others are left for another guest.
    """
    lines = ["exec 2>&1"]
    timed_out = "|".join(map(str, TIMED_OUT))
    for test in tests:
        command = shlex.join(["timeout", "-k", "5", f"{test.timeout:g}", "sh", "-c", test.command])
        lines += [
            f"echo '{ON_CONSOLE}{test.name}' > /dev/kmsg",
            f"printf '\\036ferry-lab begin {test.name}\\n'",
            f"{command}; status=$?",
            f"printf '\\036ferry-lab end {test.name} %d\\n' $status",
            f"case $status in {timed_out}) exit 0 ;; esac",
        ]
    return "\n".join([*lines, "exit 0", ""])


Verdict = Literal["passed", "failed", "skipped"]


@dataclass
class Result:
    """The outcome of one test."""

    test: GuestTest
    output: bytearray = field(default_factory=bytearray)
    status: int | None = None
    findings: list[str] = field(default_factory=list)
    trouble: str = ""  # with the guest, not with the test's own status
    hung: bool = False  # it did not heed its time limit
    seconds: float = 0.0
    share: float = 1.0  # of the CPU time that the guest wanted
    repeats: str = ""  # why an earlier run of it does not count
    reported: Verdict | None = None

    @property
    def verdict(self) -> Verdict:
        if self.trouble or self.findings or self.status is None:
            return "failed"
        if self.status in SKIPPED:
            return "skipped"
        return "passed" if self.status == 0 else "failed"

    @property
    def timed_out(self) -> bool:
        return self.hung or self.status in TIMED_OUT or self.harness_timed_out

    @property
    def harness_timed_out(self) -> bool:
        """Whether all tests that failed in a program with a harness took too long."""
        return any(
            0 < len(late.findall(self.output)) == len(failed.findall(self.output))
            for late, failed in HARNESSES
        )

    def starved(self, target: Target) -> bool:
        """Whether it failed only because the host kept the CPU from its guest.

        User-mode Linux runs at its natural speed, and what a kernel that checks itself says counts.
        """
        if self.verdict != "failed" or self.share >= ENOUGH:
            return False
        if not self.findings:
            return self.timed_out
        emulated = target.arch != "um" and not target.checked
        ended_well = self.timed_out or self.status in (None, 0, *SKIPPED)
        return emulated and ended_well and all(STALL.search(line) for line in self.findings)

    @property
    def reason(self) -> str:
        if self.trouble:
            return self.trouble
        if self.findings:
            return f"the console says '{self.findings[0]}'"
        if self.status is None:
            return "the guest was done before it had ended"
        if self.status in TIMED_OUT:
            return f"it did not end within {self.test.timeout:g} s"
        if self.harness_timed_out:
            return "a test in it reached the harness's time limit"
        return f"it exited with {self.status}"


class Transcript:
    """Takes the guest's output apart by test."""

    def __init__(
        self, tests: Sequence[GuestTest], repeats: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """REPEATS are the tests that run again, and why."""
        self._repeats = repeats
        self._tests = {test.name: test for test in tests}
        self._rest = b""
        self.current: Result | None = None
        self.results: list[Result] = []

    def feed(self, data: bytes) -> list[Result]:
        """The results of the tests that ended in this piece of output."""
        data = self._rest + data
        ended = []
        position = 0
        for mark in MARK_LINE.finditer(data):
            self._keep(data[position : mark.start()])
            position = mark.end()
            name = mark["name"].decode()
            if mark["what"] == b"begin" and name in self._tests:
                self.current = Result(self._tests[name], repeats=self._repeats.get(name, ""))
                self.results.append(self.current)
            elif mark["what"] == b"end" and self.current and self.current.test.name == name:
                self.current.status = int(mark["status"] or 0)
                ended.append(self.current)
                self.current = None
        partial = PARTIAL_MARK.search(data, position)
        end = partial.start() if partial else len(data)
        self._keep(data[position:end])
        self._rest = data[end:]
        return ended

    def _keep(self, output: bytes) -> None:
        if self.current:
            self.current.output += output


class AttributingWatcher(Watcher):
    """A console watcher that knows during which test a bad line came."""

    def __init__(self) -> None:
        super().__init__()
        self.by_test: dict[str, list[str]] = {}
        self._current = ""

    def look_at(self, line: str) -> None:
        _, mark, name = line.partition(ON_CONSOLE)
        if mark:
            self._current = name.strip()
            return
        before = len(self.findings)
        super().look_at(line)
        if len(self.findings) > before:
            self.by_test.setdefault(self._current, []).append(self.findings[-1])
