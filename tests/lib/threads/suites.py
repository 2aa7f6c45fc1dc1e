#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs other people's test suites plainly and under `ferry threads`.

What passes plainly has to pass on carriers, apart from differences with a reason.

Usage: tests/lib/threads/suites.py NAME...      (PYTHONPATH: ferry's sources)

The names are in SUITES, at the end.  Sources come from Debian's packages, and stay in the build
directory.  The status is 1 if a result differs, and 77 if a suite is not installed.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import foreign

from lab import LabError

BUILD = Path(os.environ.get("FERRY_BUILD", "build")).absolute()
CARRIED = (str(BUILD / "cli" / "ferry"), "threads", "--after", "0", "--carriers", "2")
SKIPPED = 77  # meson's
AT_ONCE = 4  # small programs, which mostly sleep

Results = dict[str, str]  # of each test: a word or two


@dataclass(frozen=True)
class Suite:
    what: str
    needs: str  # a file of it, or ""
    package: str  # that holds it
    least: int  # tests that must have passed plainly
    run: Callable[[Path], tuple[Results, Results]]  # plain and carried
    differences: Mapping[str, str] = field(default_factory=dict)  # a test, and why it may differ


def output_of(command: Sequence[str], directory: Path, seconds: int) -> str:
    """Also of a command that fails, or takes too long."""
    try:
        done = subprocess.run(
            ["timeout", "-k", "5", str(seconds), *command],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            errors="replace",
            check=False,
        )
    except OSError as error:
        return str(error)
    return done.stdout


# ---- CPython ----

PYTHON_TESTS = (
    "test_threading",
    "test_thread",
    "test_threading_local",
    "test_queue",
    "test_socket",
    "test_socketserver",
    "test_concurrent_futures",
)
# Without a listener in the host, a virtual machine's client gets no answer, and the server waits.
PYTHON_LEFT_OUT = "ThreadedVSOCK*"


def python_results(prefix: Sequence[str], directory: Path) -> Results:
    report = directory / "report.xml"
    report.unlink(missing_ok=True)
    command = [*prefix, "/usr/bin/python3", "-m", "test", "-v", "--junit-xml", str(report)]
    output = output_of([*command, "-i", PYTHON_LEFT_OUT, *PYTHON_TESTS], directory, 1800)
    if not report.exists():
        return {"the run": output[-500:]}
    return {
        f"{case.get('classname')}.{case.get('name')}": " ".join(part.tag for part in case) or "pass"
        for case in ET.parse(report).iter("testcase")
    }


def run_python(directory: Path) -> tuple[Results, Results]:
    return python_results((), directory), python_results(CARRIED, directory)


# ---- MariaDB ----

MARIADB = Path("/usr/share/mysql/mysql-test")
MARIADB_TESTS = ("main.connect", "main.connect-abstract", "main.kill", "main.kill-2")


def mariadb_results(prefix: Sequence[str], directory: Path) -> Results:
    variables = [f"sys_vars.{path.stem}" for path in MARIADB.glob("suite/sys_vars/t/*.test")]
    driver = ["perl", "mariadb-test-run.pl", "--user=root", f"--vardir={directory}/var"]
    options = ["--force", "--retry=0", "--parallel=2", "--max-test-fail=0", "--nocheck-testcases"]
    command = [*prefix, *driver, *options, *MARIADB_TESTS, *sorted(variables)]
    line = re.compile(r"^(\S+(?: '[^']+')?) +(?:w\d+ +)?\[ ([\w-]+) \]", re.M)
    return dict(line.findall(output_of(command, MARIADB, 3600)))


def run_mariadb(directory: Path) -> tuple[Results, Results]:
    return mariadb_results((), directory), mariadb_results(CARRIED, directory)


# ---- suites of small programs ----


def status_of(prefix: Sequence[str], program: Path) -> str:
    """A program's exit status; what it leaves behind ends with it."""
    with subprocess.Popen(
        ["timeout", "-k", "5", "60", *prefix, program],
        cwd=program.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        status = process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return "pass" if not status else f"status {status}"


def both_of(program: Path) -> tuple[str, str]:
    """Plain and carried: once more where they differ, as some tests are bound to a time."""
    for _ in range(2):
        plain, carried = status_of((), program), status_of(CARRIED, program)
        if plain == carried:
            break
    return plain, carried


def run_programs(make: Callable[[Path], list[Path]], directory: Path) -> tuple[Results, Results]:
    programs = make(directory)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        both = list(pool.map(both_of, programs))
    names = [program.name for program in programs]
    return (
        dict(zip(names, (plain for plain, _ in both), strict=True)),
        dict(zip(names, (carried for _, carried in both), strict=True)),
    )


# ---- all ----

KEYS = "the library has one of the PTHREAD_KEYS_MAX keys"
EARLY = "a signal may end a wait for a condition early, which POSIX allows"

GLIBC_DIFFERENCES = {
    "tst-eintr5": EARLY,
    "tst-key1": KEYS,
    "tst-key4": KEYS,
    "tst-kill2": EARLY,
    "tst-kill3": EARLY,
    "tst-pthread_cancel-exited": "it waits until the process has one kernel thread",
    "tst-tss-basic": KEYS,
}

SUITES = {
    "python": Suite(
        "CPython's tests of threads, queues, sockets and servers",
        "/usr/lib/python3*/test/test_threading.py",
        "libpython3.11-testsuite",
        1000,
        run_python,
    ),
    "mariadb": Suite(
        "MariaDB's tests of connections, KILL and system variables",
        str(MARIADB / "mariadb-test-run.pl"),
        "mariadb-test",
        300,
        run_mariadb,
    ),
    "glibc": Suite(
        "glibc's tests of POSIX and C11 threads, semaphores, timers and signals",
        "",
        "glibc-source",
        300,
        lambda directory: run_programs(foreign.glibc, directory),
        GLIBC_DIFFERENCES,
    ),
    "libstdc++": Suite(
        "libstdc++'s tests of threads, locks, conditions and futures",
        "",
        "gcc-12-source",
        150,
        lambda directory: run_programs(foreign.libstdcxx, directory),
    ),
}


def why_missing(suite: Suite) -> str | None:
    if not suite.needs or list(Path("/").glob(suite.needs.removeprefix("/"))):
        return None
    return f"{suite.needs} is missing; the Debian package {suite.package} has it"


def compare(name: str, suite: Suite) -> bool:
    directory = BUILD / "tests" / "lib" / "threads" / "suites" / name
    directory.mkdir(parents=True, exist_ok=True)
    plain, carried = suite.run(directory)
    passed = sum(result == "pass" for result in plain.values())
    different = {
        test for test, result in plain.items() if result == "pass" and carried.get(test) != "pass"
    }
    print(f"{name}: {suite.what}: {len(plain)} tests, {passed} pass plainly")
    for test in sorted(different):
        known = suite.differences.get(test)
        why = f": {known}" if known else ""
        print(f"  {test}: {carried.get(test)} carried{why}")
    if passed < suite.least:
        print(f"  fewer than {suite.least} tests pass plainly: the suite did not run")
    return passed >= suite.least and different <= suite.differences.keys()


def main(names: Sequence[str]) -> int:
    if not names or not set(names) <= SUITES.keys():
        print(f"suites.py: the suites are {', '.join(SUITES)}", file=sys.stderr)
        return 2
    status = 0
    for name in names:
        missing = why_missing(SUITES[name])
        try:
            if not missing and not compare(name, SUITES[name]):
                return 1
        except LabError as error:
            missing = str(error)
        if missing:
            print(f"{name}: skipped: {missing}")
            status = SKIPPED
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
