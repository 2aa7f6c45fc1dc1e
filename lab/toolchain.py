# SPDX-License-Identifier: MIT
"""The programs and headers that building and booting kernels needs."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
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
SETUP_FOREIGN = "./setup machines"
STOCK = {"busybox": "busybox-static", "depmod": "kmod"}
LIBELF = Path("/usr/include/libelf.h")  # of objtool, for x86


@dataclass(frozen=True)
class Foreign:
    """A machine whose programs this one cannot run: the tools for it, and QEMU."""

    name: str  # as Debian has it
    triplet: str  # precedes the names of its tools
    qemu: tuple[str, ...]  # the command, and what describes the machine
    qemu_package: str
    console: str  # the serial port of that machine


FOREIGN = {
    "riscv": Foreign(
        name="riscv64",
        triplet="riscv64-linux-gnu",
        qemu=("qemu-system-riscv64", "-machine", "virt"),
        qemu_package="qemu-system-misc",
        console="ttyS0",
    ),
    "arm64": Foreign(
        name="arm64",
        triplet="aarch64-linux-gnu",
        qemu=("qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a76"),
        qemu_package="qemu-system-arm",
        console="ttyAMA0",
    ),
}


def require(there: object, what: str, package: str, setup: str = "./setup") -> None:
    if not there:
        raise LabError(
            f"the {what} is missing; the Debian package {package} has it, and {setup} installs it"
        )


def require_commands(commands: Mapping[str, str], setup: str = "./setup") -> None:
    for command, package in commands.items():
        require(shutil.which(command), f"command {command}", package, setup)


def require_toolchain(arch: str) -> None:
    """Fails with the name of what is missing for building a kernel of ARCH."""
    require_commands(BUILDING)
    if foreign := FOREIGN.get(arch):
        tools = {"gcc": "gcc", "ld": "binutils"}
        require_commands(
            {f"{foreign.triplet}-{tool}": f"{tools[tool]}-{foreign.triplet}" for tool in tools},
            SETUP_FOREIGN,
        )
    require(arch != "x86" or LIBELF.exists(), f"header {LIBELF}", "libelf-dev")


def lacking_tools(arch: str) -> str:
    """A sentence on the first tool for another machine that is missing; "" if none is."""
    try:
        require_toolchain(arch)
        require_emulator(arch)
    except LabError as error:
        return str(error) if arch in FOREIGN else ""
    return ""


def require_emulator(arch: str) -> None:
    if foreign := FOREIGN.get(arch):
        require_commands({foreign.qemu[0]: foreign.qemu_package}, SETUP_FOREIGN)


def tools_prefix(arch: str) -> str:
    """What precedes the names of the tools for ARCH, as in CROSS_COMPILE."""
    return f"{FOREIGN[arch].triplet}-" if arch in FOREIGN else ""


def compiler(arch: str) -> str:
    """What make is told to compile for ARCH with: ccache's gcc where there is a ccache."""
    gcc = f"{tools_prefix(arch)}gcc"
    return f"ccache {gcc}" if shutil.which("ccache") else gcc


def compiler_version(arch: str) -> str:
    """The versions of what the objects for ARCH depend on."""
    versions = [
        subprocess.run(
            [tools_prefix(arch) + tool, "--version"], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        for tool in ("gcc", "ld")
    ]
    return "".join(text.partition("\n")[0] + "\n" for text in versions)
