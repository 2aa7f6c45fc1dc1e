#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of the Python package with its wheels: wheels.py FOLDER.

`make wheels` puts the wheels into FOLDER.  pip installs each, and the packages that the tests use,
for the wheel's machine.  A Python for that machine runs the tests; an emulator of programs runs
the Python for arm64.  Two tests are left out: test_bench runs the command `ferry`, and test_wheel
builds a wheel.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from musl_python import PYTHON, musl_python

from lab import REPOSITORY, LabError
from lab.debian.root import foreign_root

USED = ("pytest", "numpy", "pandas", "pyarrow", "fsspec", "xxhash", "blake3")
TESTS = "tests/bindings/python"  # relative: --deselect takes names as pytest prints them
LEFT_OUT = (f"--ignore={TESTS}/test_bench.py", f"--ignore={TESTS}/test_wheel.py")


def emulated_python(folder: Path) -> Path:
    """Debian's for arm64, and a command in FOLDER that runs it; so do its children."""
    root = foreign_root("arm64")
    python = root / "usr" / "bin" / PYTHON
    if not python.exists():
        raise LabError(f"the wheel is for {PYTHON}, which {root} lacks: make it on Debian 12")
    # With its option -L, the emulator would show ROOT as the file system.
    libraries = ":".join(f"{root}/{name}/aarch64-linux-gnu" for name in ("lib", "usr/lib"))
    loader = f"{root}/lib/ld-linux-aarch64.so.1 --library-path {libraries}"
    command = folder / PYTHON
    command.write_text(
        f"#!/bin/sh\nexport PYTHONHOME={root}/usr\n"
        f'exec qemu-aarch64 {loader} --argv0 "$0" {python} "$@"\n'
    )
    command.chmod(0o755)
    return command


@dataclass(frozen=True)
class Machine:
    """Where a wheel is tested."""

    platforms: tuple[str, ...]  # the wheel's own, and others whose wheels pip may take
    python: Callable[[Path], Path]
    left_out: tuple[str, ...] = ()  # options of pytest


MACHINES = (
    Machine(
        ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
        lambda _: Path(sys.executable),
    ),
    Machine(
        ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
        lambda _: musl_python(),
    ),
    Machine(
        ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
        emulated_python,
        # The emulator ignores madvise() and RLIMIT_AS, has memory and threads of its own, and keeps
        # its locks in the child of a process with threads.
        (
            f"--ignore={TESTS}/test_prefault.py",
            *("-k", "not fork"),
            f"--deselect={TESTS}/test_read_many.py::test_files_too_large_for_memory_fail_alone",
            f"--deselect={TESTS}/test_interruptions.py::test_nothing_leaks",
            f"--deselect={TESTS}/test_walk_blocks.py::test_where_there_can_be_no_thread",
        ),
    ),
)


def pinned() -> list[str]:
    files = (REPOSITORY / name for name in ("requirements.txt", "requirements-check.txt"))
    lines = "\n".join(file.read_text() for file in files)
    return re.findall(rf"^(?:{'|'.join(USED)})==\S+", lines, re.M)


def install(wheel: Path, platforms: tuple[str, ...], folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--target", str(folder), "--no-compile", "--only-binary=:all:"]
    command += [f"--platform={platform}" for platform in platforms]
    subprocess.run([*command, wheel, *pinned()], check=True)


def run_tests(machine: Machine, wheel: Path) -> int:
    """The status of pytest."""
    with tempfile.TemporaryDirectory() as name:
        build = Path(name)
        packages = build / "bindings" / "python"  # where the tests look for the package
        install(wheel, machine.platforms, packages)
        own = {"FERRY_BUILD": name, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(machine.python(build)), "-m", "pytest", "-q", "-rs"]
        command += ["-p", "no:cacheprovider", TESTS, *LEFT_OUT, *machine.left_out]
        done = subprocess.run(command, env=os.environ | own, cwd=REPOSITORY, check=False)
        return done.returncode


def main() -> int:
    failed = 0
    for machine in MACHINES:
        [wheel] = Path(sys.argv[1]).glob(f"libferry-*-{machine.platforms[0]}.whl")
        print(f"testing {wheel.name}", flush=True)
        failed |= run_tests(machine, wheel)
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"check-wheels: {error}")
