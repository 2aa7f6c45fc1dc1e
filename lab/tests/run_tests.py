# SPDX-License-Identifier: MIT
"""Runs the tests of lab/tests.toml in guests; tests that want the same guest share one."""

import itertools
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.cache import log_file, write_whole
from lab.guests.load import Meter, Usage, describe
from lab.guests.machine import Options
from lab.guests.run import run_in_guest
from lab.kernels.build import Kernel
from lab.kernels.modules import FERRY, build_module, lacking
from lab.kernels.places import PLACES
from lab.kernels.selftests import added_selftests, programs_in
from lab.targets import Target
from lab.tests.manifest import GuestTest, needs_module
from lab.tests.session import AttributingWatcher, Result, Transcript, script

CHECKED_FACTOR = 5  # the kernel's own checks take their time
GRACE = 30.0  # beyond its own time limit, until a test is taken for a hung guest
WORDS = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}
TAIL = 30  # lines of a failed test's output that are shown
PASSED_LINE = re.compile(r"\s*(ok \d|#\s+(RUN|OK)\s)")  # of the kernel's test harness


@dataclass
class Session:
    """One guest and the tests that run in it, one after the other."""

    kernel: Kernel
    tests: Sequence[GuestTest]
    build: Path
    selftests: Path
    repeats: Mapping[str, str]
    watcher: AttributingWatcher = field(default_factory=AttributingWatcher)
    meter: Meter = field(default_factory=Meter)
    began: tuple[float, Usage] = (0.0, Usage())  # when the test began, and the usage until then
    given_up: str = ""

    def __post_init__(self) -> None:
        self.transcript = Transcript(self.tests, self.repeats)

    def run(self) -> list[Result]:
        """The results of the tests that began; all others are still to be run."""
        first = self.tests[0]
        environment = {"FERRY_BUILD": str(self.build), "FERRY_KSELFTEST": str(self.selftests)}
        if self.kernel.target.covered:
            environment["FERRY_PLACES"] = str(self.kernel.directory / PLACES)
        if any(needs_module(test.name) for test in self.tests):
            environment["FERRY_MODULE"] = str(build_module(self.kernel, FERRY))
        outcome = run_in_guest(
            self.kernel,
            ["sh", "-c", script(self.tests)],
            Options(cpus=first.cpus, memory=first.memory, environment=environment),
            out=self.take,
            err=self.take,
            watcher=self.watcher,
            give_up=self.give_up,
            meter=self.meter,
        )
        results = self.transcript.results
        for result in results:
            result.findings = self.watcher.by_test.get(result.test.name, [])
        if current := self.transcript.current:
            self.measure(current)
            current.hung = bool(self.given_up)
            if not self.watcher.findings:
                current.trouble = outcome.failure
        outside = self.watcher.by_test.get("", [])
        if outside or not results:
            boot = Result(GuestTest(name="boot", command="true"))
            boot.findings, boot.trouble = outside, outcome.failure
            boot.share = self.meter.usage.share
            results = [boot, *results]
        return results

    def take(self, data: bytes) -> None:
        if self.given_up:
            # The processes of a guest that is being ended do not die all at once.
            return
        before = self.transcript.current
        for result in self.transcript.feed(data):
            self.measure(result)
            result.findings = self.watcher.by_test.get(result.test.name, [])
            report(self.kernel, result)
        if self.transcript.current is not before:
            self.meter.sample(0)
            self.began = (time.monotonic(), self.meter.usage)

    def measure(self, result: Result) -> None:
        """Notes how long the test that runs has taken, and its share of the CPU."""
        began, usage = self.began
        self.meter.sample(0)
        result.seconds = time.monotonic() - began
        result.share = (self.meter.usage - usage).share

    def give_up(self) -> str:
        """Why the guest has to be ended, when a test hangs in spite of its time limit."""
        if current := self.transcript.current:
            began, usage = self.began
            share = (self.meter.usage - usage).share
            if (time.monotonic() - began) * share > current.test.timeout + GRACE:
                self.given_up = f"'{current.test.name}' hangs"
        return self.given_up


def report(kernel: Kernel, result: Result) -> None:
    """One line for the test; the end of its output when it failed."""
    result.reported = result.verdict
    name = f"{kernel.target.name}/{result.test.name}"
    log = log_file(f"tests/{name}")
    load = describe(result.share)
    log.write_bytes(bytes(result.output) + f"ferry-lab: {load}\n".encode())
    starved = result.starved(kernel.target) and not result.repeats
    word = "slow" if starved else WORDS[result.verdict]
    line = f"{word} {name}"
    if result.repeats:
        line += f" ({result.repeats}; repeated: {word.strip()})"
    if starved:
        line += f": {result.reason}; starved: {load}; it runs again"
    elif result.verdict == "failed":
        line += f": {result.reason}; {load}; {log} has its output"
    print(line, flush=True)
    if result.verdict == "passed" and result.test.shown:
        print(result.output.decode(errors="replace"), end="", flush=True)
    if result.verdict == "failed" and not starved:
        for line in end_of_failure(result.output.decode(errors="replace")):
            print(f"     {line}", flush=True)


def end_of_failure(output: str) -> list[str]:
    """The last lines of a failed test's output, without those on what passed."""
    return [line for line in output.splitlines() if not PASSED_LINE.match(line)][-TAIL:]


def scaled(kernel: Kernel, test: GuestTest) -> GuestTest:
    if not kernel.target.checked:
        return test
    return test.model_copy(update={"timeout": test.timeout * CHECKED_FACTOR})


def added_tests(target: Target, selftests: Path) -> list[GuestTest]:
    """The programs that build_selftests() made in SELFTESTS from the user's patches of TARGET."""
    return [
        GuestTest(
            name=f"kselftest-{program}".lower(),
            command=f"$FERRY_KSELFTEST/{folder}/{program}",
            targets=(target.name,),
        )
        for folder in added_selftests(target)
        for program in programs_in(selftests / folder)
    ]


def without_missing(kernel: Kernel, tests: list[GuestTest], selftests: Path) -> list[GuestTest]:
    """TESTS, but for those of what somebody's kernel comes without."""
    if not kernel.target.given:
        return tests

    def reason(test: GuestTest) -> str:
        kind, _, name = test.name.partition("-")
        if kind == "kselftest" and not (selftests / name).exists():
            return "the kernel comes without this selftest"
        return lacking(kernel, test.needs, takes_module=needs_module(test.name))

    reasons = {test.name: reason(test) for test in tests}
    for name in filter(reasons.get, reasons):
        print(f"{WORDS['skipped']} {kernel.target.name}/{name}: {reasons[name]}", flush=True)
    return [test for test in tests if not reasons[test.name]]


def run_tests(
    kernel: Kernel, tests: Sequence[GuestTest], build: Path, selftests: Path
) -> list[Result]:
    """Runs TESTS in KERNEL; a test that could not run has failed.

    BUILD has ferry's programs, SELFTESTS the kernel selftests that the series adds.
    """
    done: list[Result] = []
    key = lambda test: (test.cpus, test.memory, test.name if test.alone else "")  # noqa: E731
    for _, group in itertools.groupby(sorted(tests, key=key), key):
        done += run_group(kernel, [scaled(kernel, test) for test in group], build, selftests)
    return done


def run_group(kernel: Kernel, left: list[GuestTest], build: Path, selftests: Path) -> list[Result]:
    """Runs tests that share a guest; when it goes down, the others get another.

    What failed only for want of CPU time runs once more, with as much more time.
    """
    done: list[Result] = []
    repeats: dict[str, str] = {}
    while left:
        results = Session(kernel, left, build, selftests, repeats).run()
        begun = {result.test.name for result in results}
        again = []
        for result in results:
            name = result.test.name
            if result.reported != result.verdict:
                report(kernel, result)
            if result.starved(kernel.target) and name not in repeats:
                repeats[name] = f"starved: {describe(result.share)}"
                timeout = result.test.timeout / max(result.share, 0.1)
                again.append(result.test.model_copy(update={"timeout": timeout}))
            else:
                done.append(result)
        left = [test for test in left if test.name not in begun]
        if begun == {"boot"} and not again:
            print(f"FAIL {kernel.target.name}: {len(left)} tests did not run", flush=True)
            return done + [Result(test) for test in left]
        left += [test for test in again if test.name != "boot"]
    return done


def write_record(path: Path, results: Mapping[str, Sequence[Result]]) -> None:
    """The results by target as JSON, with how long they took and what CPU they got."""
    rows = [
        {
            "target": target,
            "test": result.test.name,
            "verdict": result.verdict,
            "seconds": round(result.seconds, 2),
            "share": round(result.share, 3),
            "starved": result.repeats,
        }
        for target, found in results.items()
        for result in found
    ]
    write_whole(path, json.dumps(rows, indent=1) + "\n")


def count(results: Iterable[Result]) -> Counter[str]:
    return Counter(result.verdict for result in results)


def summary(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "skipped"))


def exit_status(counts: Counter[str]) -> int:
    if counts["failed"]:
        return 1
    if not counts["passed"]:
        print("ferry-lab: no test ran", file=sys.stderr)
        return 1
    return 0
