#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of the Python package with its wheel for musl: wheels.py FOLDER.

FOLDER is what `make wheels` filled.  pip takes that wheel, and what the tests use, for a machine
with musl; a Python for musl runs them.  The rest of tests/bindings/python is left out: test_bench
runs the command `ferry`, and test_wheel builds the wheel for this machine.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from musl_python import musl_python

from lab import REPOSITORY, LabError

PLATFORMS = ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64")
USED = ("pytest", "numpy", "pandas", "pyarrow", "fsspec", "xxhash", "blake3")
TESTS = REPOSITORY / "tests" / "bindings" / "python"
LEFT_OUT = ("test_bench.py", "test_wheel.py")


def pinned() -> list[str]:
    files = (REPOSITORY / name for name in ("requirements.txt", "requirements-check.txt"))
    lines = "\n".join(file.read_text() for file in files)
    return re.findall(rf"^(?:{'|'.join(USED)})==\S+", lines, re.M)


def install(wheel: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--target", str(folder), "--no-compile", "--only-binary=:all:"]
    command += [f"--platform={platform}" for platform in PLATFORMS]
    subprocess.run([*command, wheel, *pinned()], check=True)


def run_tests(python: Path, build: Path, packages: Path) -> int:
    own = {"FERRY_BUILD": str(build), "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(TESTS)]
    command += [f"--ignore={TESTS / name}" for name in LEFT_OUT]
    return subprocess.run(command, env=os.environ | own, check=False).returncode


def main() -> int:
    [wheel] = Path(sys.argv[1]).glob("libferry-*-musllinux_*_x86_64.whl")
    python = musl_python()
    with tempfile.TemporaryDirectory() as name:
        packages = Path(name, "bindings", "python")  # where the tests look for the package
        install(wheel, packages)
        return run_tests(python, Path(name), packages)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"check-wheels: {error}")
