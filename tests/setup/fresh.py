# SPDX-License-Identifier: MIT
"""Runs ferry's set-up and what depends on it in minimal Debian roots.

Each root has only what Debian itself, apt, TLS certificates and make take.  The sources are a
clone of this repository's last commit.  Kernels and downloads of the lab come from its cache.
A step whose inputs have passed within KEPT_DAYS is not repeated.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

from downloads import packages, python_packages
from roots import CODENAMES, KEPT_DAYS, fresh_root, in_root, running

from lab import REPOSITORY, LabError
from lab.cache import cache_root, make_directory

FOLDER = "/root/ferry"
NAMES = (
    "apt-get update -q -o Acquire::Languages=none && for size in run run-kernel check; do "
    "apt-get install -q --simulate --no-install-recommends $(./setup --list $size debian-{release})"
    " >/root/names || exit; done"
)
COMPILERS = (
    "apt-get update -q -o Acquire::Languages=none && apt-get install -q -y"
    " --no-install-recommends $(./setup --list run debian-{release}) g++ clang meson &&"
    " tests/setup/compilers"
)
# Inputs of steps, as paths in the repository.
SET_UP = ("setup", "packages.txt", "tests/setup")
BUILT = (
    *SET_UP,
    *("meson.build", "meson_options.txt", "include", "uapi", "calls", "lib", "common", "cli"),
    *("measure", "trace", "compiler", "examples", "man", "tests/lib/headers"),
)
INSTALLED = (*BUILT, "Makefile", "README.md", "requirements.txt", "lab", "report", "bindings")
MODULE = (*SET_UP, "Makefile", "requirements.txt", "requirements-check.txt", "lab", "kernel")
INPUTS = {"names": SET_UP, "compilers": BUILT, "install": INSTALLED, "module": MODULE}
STEPS = {
    "names": ("all packages of setup exist", NAMES),
    "compilers": ("the release's own GCC and Clang do not warn", COMPILERS),
    "build": ("make build", "make build"),
    "install": (
        "make install, and the README's example",
        "make install && python3 tests/setup/installed.py",
    ),
    "run": ("make run", "make run"),
    "run-kernel": ("make run-kernel", "make run-kernel"),
    "module": (
        "make setup, and the module for Debian's 6.12",
        "make setup && PYTHONPATH=. .venv/bin/python3 tests/setup/module.py",
    ),
    "check": ("make check", "make check"),
}
NOTABLE = re.compile(r"^ferry-lab: (?:building|fetching|unpacking) .*", re.M)
LAST_LINES = 40


@dataclass
class Step:
    """One step in one root, and how it went."""

    release: str
    title: str
    seconds: float = 0.0
    status: int = 0
    downloaded: dict[str, float] = field(default_factory=dict)  # megabytes
    notes: list[str] = field(default_factory=list)

    def line(self) -> str:
        took = f"{self.seconds // 60:.0f} min {self.seconds % 60:02.0f} s"
        parts = [f"{size:.0f} MB {what}" for what, size in self.downloaded.items() if size >= 0.5]
        fetched = f", downloaded {' and '.join(parts)}" if parts else ""
        how = "passed" if self.status == 0 else f"FAILED with status {self.status}"
        return f"debian-{self.release}: {self.title}: {how} in {took}{fetched}"


def skipped_tests(clone: Path) -> list[str]:
    """The tests that Meson skipped in there."""
    names = set()
    for log in clone.glob("build*/meson-logs/testlog.json"):
        for line in log.read_text().splitlines():
            test = json.loads(line)
            if test["result"] == "SKIP":
                names.add(f"{log.parts[-3]}: {test['name']}")
    return sorted(names)


def read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def run_step(release: str, name: str, root: Path) -> Step:
    title, command = STEPS[name]
    step = Step(release, title)
    log = make_directory(cache_root() / "logs") / f"fresh-debian-{release}-{name}.log"
    pip_log, set_up_log = root / "root/pip.log", root / FOLDER[1:] / "build/set-up.log"
    for old in (log, pip_log, set_up_log):
        old.unlink(missing_ok=True)
    print(f"debian-{release}: {title} (log: {log})", flush=True)
    start = time.monotonic()
    shell = ["bash", "-c", command.replace("{release}", release)]
    with running(in_root(root, FOLDER, shell), log) as process:
        step.status = process.wait()
    step.seconds = time.monotonic() - start
    output = read(log)
    step.downloaded = {
        "of packages": packages(output + read(set_up_log)),
        "from PyPI": python_packages(read(pip_log)),
    }
    step.notes = NOTABLE.findall(output)
    if name == "check":
        step.notes += [f"skipped: {test}" for test in skipped_tests(root / FOLDER[1:])]
    if step.status:
        step.notes += output.strip().splitlines()[-LAST_LINES:]
    print("\n".join([step.line(), *(f"  {note}" for note in step.notes)]), flush=True)
    return step


def inputs_of(name: str, clone: Path) -> str:
    """Changes with every committed change of the step's inputs; empty when it has none."""
    objects = [f"HEAD:{path}" for path in INPUTS.get(name, ())]
    if not objects:
        return ""
    found = subprocess.run(
        ["git", "-C", clone, "rev-parse", *objects],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return found.stdout


def record_of(release: str, name: str) -> Path:
    return make_directory(cache_root() / "fresh") / f"debian-{release}-{name}.passed"


def has_passed(release: str, name: str) -> bool:
    record = record_of(release, name)
    inputs = inputs_of(name, REPOSITORY)
    if not inputs or read(record) != inputs:
        return False
    return time.time() - record.stat().st_mtime < KEPT_DAYS * 86400


def run_release(release: str, names: Sequence[str]) -> list[Step]:
    """The steps one after the other in one root, up to the first that fails."""
    steps: list[Step] = []
    with fresh_root(release) as root:
        clone = root / FOLDER[1:]
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", REPOSITORY, clone], check=True)
        for name in names:
            steps.append(run_step(release, name, root))
            if steps[-1].status:
                break
            record_of(release, name).write_text(inputs_of(name, clone))
    return steps


def run_new(release: str, names: Sequence[str]) -> list[Step]:
    """The steps whose inputs have not passed."""
    new = [name for name in names if not has_passed(release, name)]
    for name in names:
        if name not in new:
            print(f"debian-{release}: {STEPS[name][0]}: passed before, with the same inputs")
    return run_release(release, new) if new else []


def warn_of_changes() -> None:
    changed = subprocess.run(
        ["git", "-C", REPOSITORY, "status", "--porcelain"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    if changed:
        print("check-fresh: changes that are not committed are left out", file=sys.stderr)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="check-fresh", description=__doc__)
    parser.add_argument("--release", nargs="+", choices=CODENAMES, default=list(CODENAMES))
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=["run", "check"])
    return parser.parse_args(arguments)


def end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def main() -> int:
    args = parse(sys.argv[1:])
    if os.geteuid() != 0:
        raise LabError("making and entering minimal roots needs root")
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    warn_of_changes()
    steps = [step for release in args.release for step in run_new(release, args.steps)]
    print()
    for release in args.release:
        mine = [step for step in steps if step.release == release]
        good = all(step.status == 0 for step in mine)
        minutes = sum(step.seconds for step in mine) / 60
        names = ", ".join(args.steps)
        print(f"debian-{release}: {names}: {'passed' if good else 'FAILED'} in {minutes:.0f} min")
    return 1 if any(step.status for step in steps) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"check-fresh: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
