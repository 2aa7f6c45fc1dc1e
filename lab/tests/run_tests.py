# SPDX-License-Identifier: MIT
"""Runs the tests of lab/tests.toml in guests; tests that want the same guest share one."""

import itertools
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lab.cache import log_file
from lab.guests.machine import Options
from lab.guests.run import run_in_guest
from lab.kernels.build import Kernel
from lab.kernels.modules import FERRY, build_module
from lab.tests.manifest import GuestTest
from lab.tests.session import AttributingWatcher, Result, Transcript, script

DEBUG_FACTOR = 5  # the checks of a -debug kernel take their time
GRACE = 30.0  # beyond its own time limit, until a test is taken for a hung guest
TAIL = 30  # lines of a failed test's output that are shown


class Session:
    """One guest and the tests that run in it, one after the other."""

    def __init__(
        self, kernel: Kernel, tests: Sequence[GuestTest], build: Path, selftests: Path
    ) -> None:
        self.kernel = kernel
        self.tests = tests
        self.build = build
        self.selftests = selftests
        self.transcript = Transcript(tests)
        self.watcher = AttributingWatcher()
        self.began = 0.0  # the test that runs
        self.given_up = ""

    def module_environment(self) -> dict[str, str]:
        if not any(test.module for test in self.tests):
            return {}
        return {"FERRY_MODULE": str(build_module(self.kernel, FERRY))}

    def run(self) -> list[Result]:
        """The results of the tests that began; all others are still to be run."""
        first = self.tests[0]
        outcome = run_in_guest(
            self.kernel,
            ["sh", "-c", script(self.tests)],
            Options(
                cpus=first.cpus,
                memory=first.memory,
                environment={
                    "FERRY_BUILD": str(self.build),
                    "FERRY_KSELFTEST": str(self.selftests),
                }
                | self.module_environment(),
            ),
            out=self.take,
            err=self.take,
            watcher=self.watcher,
            give_up=self.give_up,
        )
        results = self.transcript.results
        for result in results:
            result.findings = self.watcher.by_test.get(result.test.name, [])
        if self.transcript.current and not self.watcher.findings:
            self.transcript.current.trouble = outcome.failure
        outside = self.watcher.by_test.get("", [])
        if outside or not results:
            boot = Result(GuestTest(name="boot", command="true"))
            boot.findings, boot.trouble = outside, outcome.failure
            results = [boot, *results]
        return results

    def take(self, data: bytes) -> None:
        if self.given_up:
            # The processes of a guest that is being ended do not die all at once.
            return
        before = self.transcript.current
        ended = self.transcript.feed(data)
        if self.transcript.current is not before:
            self.began = time.monotonic()
        for result in ended:
            result.findings = self.watcher.by_test.get(result.test.name, [])
            report(self.kernel, result)

    def give_up(self) -> str:
        """Why the guest has to be ended, when a test hangs in spite of its time limit."""
        current = self.transcript.current
        if current and time.monotonic() - self.began > current.test.timeout + GRACE:
            self.given_up = f"'{current.test.name}' hangs"
        return self.given_up


def report(kernel: Kernel, result: Result) -> None:
    """One line for the test; the end of its output when it failed."""
    name = f"{kernel.target.name}/{result.test.name}"
    log = log_file(f"tests/{name}")
    log.write_bytes(bytes(result.output))
    words = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}
    why = f": {result.reason}; {log} has its output" if result.verdict == "failed" else ""
    print(f"{words[result.verdict]} {name}{why}", flush=True)
    if result.verdict == "failed":
        for line in result.output.decode(errors="replace").splitlines()[-TAIL:]:
            print(f"     {line}", flush=True)


def scaled(kernel: Kernel, test: GuestTest) -> GuestTest:
    if not kernel.target.name.endswith("-debug"):
        return test
    return test.model_copy(update={"timeout": test.timeout * DEBUG_FACTOR})


def run_tests(
    kernel: Kernel, tests: Sequence[GuestTest], build: Path, selftests: Path
) -> Counter[str]:
    """Runs TESTS in KERNEL; how many passed, failed and were skipped.

    BUILD has ferry's programs, SELFTESTS those that the series adds to the kernel's.
    """
    counts: Counter[str] = Counter()
    key = lambda test: (test.cpus, test.memory, test.name if test.alone else "")  # noqa: E731
    for _, group in itertools.groupby(sorted(tests, key=key), key):
        left = [scaled(kernel, test) for test in group]
        while left:
            session = Session(kernel, left, build, selftests)
            results = session.run()
            late = [r for r in results if r.verdict == "failed" and r.status in (None, 0, 4, 77)]
            for result in late:
                report(kernel, result)
            counts.update(result.verdict for result in results)
            begun = {result.test.name for result in results}
            if begun == {"boot"}:
                counts["failed"] += len(left)
                print(f"FAIL {kernel.target.name}: {len(left)} tests did not run", flush=True)
                break
            left = [test for test in left if test.name not in begun]
    return counts


def summary(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "skipped"))


def exit_status(counts: Counter[str]) -> int:
    if counts["failed"]:
        return 1
    if not counts["passed"]:
        print("ferry-lab: no test ran", file=sys.stderr)
        return 1
    return 0
