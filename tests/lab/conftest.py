# SPDX-License-Identifier: MIT
"""What the tests of the lab share: a cache of their own, a small kernel, a fake guest."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lab.kernels import build as building  # noqa: E402
from lab.targets import find_target  # noqa: E402


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "cache"
    monkeypatch.setenv("FERRY_CACHE", str(root))
    return root


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A few files that stand for a kernel's source."""
    root = tmp_path / "linux"
    (root / "kernel").mkdir(parents=True)
    (root / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\n")
    (root / "kernel" / "sys.c").write_text("".join(f"line {n}\n" for n in range(1, 41)))
    return root


def write_patch(series: Path, name: str, **files: str) -> Path:
    """A directory of a series; the names of FILES have _ for a dot."""
    directory = series / name
    directory.mkdir(parents=True)
    files.setdefault("message", f"toy: {name}\n\nWhat it is for.\n")
    for file, text in files.items():
        (directory / file.replace("v", "").replace("_", ".")).write_text(text)
    return directory


@pytest.fixture
def fake_guest(tmp_path: Path) -> building.Kernel:
    """A user-mode kernel that is a shell script: it does what the file `behaviour` says."""
    directory = tmp_path / "kernel"
    directory.mkdir()
    image = directory / "linux"
    image.write_text(FAKE_KERNEL)
    image.chmod(0o755)
    return building.Kernel(find_target("uml-7.3"), "fake", directory)


FAKE_KERNEL = r"""#!/bin/bash
# Takes the parameters of a user-mode kernel: the console and the two lines are fd:N.
for word in "$@"; do
	case $word in
	init=*) run=${word#*=} run=${run%/init} ;;
	con0=*) console=${word##*fd:} ;;
	ssl0=*) out=${word##*fd:} ;;
	ssl1=*) err=${word##*fd:} ;;
	esac
done
say() { echo "[    0.000001] $*" >&"$console"; }
say Linux version 0
run_command() {
	: > "$run/started"
	sh "$run/command" >&"$out" 2>&"$err" < /dev/null
	echo $? > "$run/status"
}
. "$(dirname "$0")/behaviour"
"""
