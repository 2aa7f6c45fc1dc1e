# SPDX-License-Identifier: MIT
"""The programs and headers that building and booting kernels needs."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab import LabError

# command, and the Debian package that has it
BUILDING = {
    "make": "make",
    "gcc": "gcc",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
    "git": "git",
    "xz": "xz-utils",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
}
BOOTING_X86 = {"qemu-system-x86_64": "qemu-system-x86"}
STOCK = {"busybox": "busybox-static", "depmod": "kmod"}
X86_HEADERS = {Path("/usr/include/libelf.h"): "libelf-dev"}  # of objtool


def require(there: object, what: str, package: str) -> None:
    if not there:
        raise LabError(
            f"the {what} is missing; the Debian package {package} has it, and ./setup installs it"
        )


def require_commands(commands: Mapping[str, str]) -> None:
    for command, package in commands.items():
        require(shutil.which(command), f"command {command}", package)


def require_toolchain(arch: str) -> None:
    """Fails with the name of what is missing for building a kernel of ARCH."""
    require_commands(BUILDING)
    for header, package in X86_HEADERS.items() if arch == "x86" else ():
        require(header.exists(), f"header {header}", package)


def compiler() -> str:
    """What make is told to compile with: ccache's gcc where there is a ccache."""
    return "ccache gcc" if shutil.which("ccache") else "gcc"


def compiler_version() -> str:
    """The versions of what the objects depend on."""
    versions = [
        subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for tool in ("gcc", "ld")
    ]
    return "".join(text.partition("\n")[0] + "\n" for text in versions)
