# SPDX-License-Identifier: MIT
"""The kernel's own selftests, which have to print the same with the series and without it."""

import difflib
from pathlib import Path

from lab import REPOSITORY
from lab.guests.machine import Options
from lab.guests.run import run_in_guest
from lab.kernels.build import Kernel, build
from lab.kernels.selftests import build_own_selftests, programs_in
from lab.targets import Target, without_series
from lab.tests.manifest import GuestTest
from lab.tests.session import Result

VERDICTS = REPOSITORY / "lab" / "tests" / "verdicts"
TEST = GuestTest(name="kernel-selftests", command="true")
SECONDS = 120  # for one program, in an emulator on a busy machine
TRIES = 3  # a test that depends on timing may differ once


def verdicts(kernel: Kernel, directory: Path, programs: list[str]) -> dict[str, list[str]]:
    """What PROGRAMS print in KERNEL.  Those after one that ends the guest print nothing."""
    output = bytearray()
    limit = (SECONDS + 5) * len(programs)
    run_in_guest(
        kernel,
        [str(VERDICTS), str(SECONDS), str(directory), *programs],
        Options(timeout=60 + 10 * limit, quick=True),
        out=output.extend,
        err=output.extend,
    )
    lines: dict[str, list[str]] = {program: [] for program in programs}
    for line in output.decode(errors="replace").splitlines():
        program, colon, verdict = line.partition(": ")
        if colon and program in lines:
            lines[program].append(verdict)
    return lines


def differences(kernels: tuple[Kernel, Kernel], directory: Path) -> tuple[int, list[str]]:
    """How many lines were compared, and the lines that differ each time."""
    programs = programs_in(directory)
    count = 0
    lines: list[str] = []
    for _ in range(TRIES):
        without, own = (verdicts(kernel, directory, programs) for kernel in kernels)
        count += sum(len(own[p]) for p in programs if own[p] == without[p])
        programs = [program for program in programs if own[program] != without[program]]
        lines = [
            f"{directory.name}/{program}: {line}"
            for program in programs
            for line in difflib.unified_diff(without[program], own[program], n=0, lineterm="")
            if not line.startswith(("---", "+++", "@@"))
        ]
        if not programs:
            break
    return count, lines


def compare_selftests(target: Target) -> Result:
    """Runs what the kernel's source has for what the series touches, in both kernels."""
    without, own = build(without_series(target)), build(target)
    result = Result(TEST, status=0)
    total = 0
    for directory in build_own_selftests(without):
        count, lines = differences((without, own), directory)
        total += count
        result.output += f"{directory.name}: {count} lines are the same\n".encode()
        result.output += "".join(f"{line}\n" for line in lines).encode()
        if lines:
            result.status = 1
    if not total:
        result.status = None
    return result
