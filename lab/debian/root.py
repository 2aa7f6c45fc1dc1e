# SPDX-License-Identifier: MIT
"""Debian's programs and libraries for another machine: fetched and unpacked, never installed."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from lab.cache import cache_root, locked, made_whole, make_directory, require_space
from lab.debian.packages import download_all
from lab.toolchain import FOREIGN

SUITES = ("bookworm",)
PACKAGES = (
    # what ferry is linked with
    "libbpf-dev",
    "libc6-dev",
    "libdw-dev",
    "libelf-dev",
    "libjansson-dev",
    "libsmartcols-dev",
    "liburing-dev",
    # what tests of ferry trace run
    "python3-pytest",
    "strace",
    # what packages of PyPI take
    "libstdc++6",
)


def foreign_root(arch: str) -> Path:
    """The directory with PACKAGES for ARCH and all that they depend on; made if missing."""
    machine = FOREIGN[arch].name
    key = hashlib.sha256("\0".join([*SUITES, *PACKAGES]).encode()).hexdigest()[:16]
    directory = make_directory(cache_root() / "roots") / f"{machine}-{key}"
    with locked(f"root-{machine}"):
        if not directory.is_dir():
            require_space(1, f"unpacking packages for {machine}")
            print(f"ferry-lab: fetching libraries for {machine} from Debian", file=sys.stderr)
            with made_whole(directory) as partial:
                unpack_all(machine, partial)
    return directory


def unpack_all(machine: str, root: Path) -> None:
    packages = make_directory(root / "packages")
    download_all(PACKAGES, SUITES, packages, machine)
    for package in sorted(packages.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    shutil.rmtree(packages)
