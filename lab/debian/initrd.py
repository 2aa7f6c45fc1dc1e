# SPDX-License-Identifier: MIT
"""The initrd of stock kernels, whose 9P and overlay are modules: loads them, mounts the root.

For another machine it has modules only, and follows the initrd with that machine's busybox.
"""

import gzip
import lzma
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab import REPOSITORY, LabError
from lab.toolchain import require_commands

SCRIPT = REPOSITORY / "lab" / "guests" / "initrd"
WANTED = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console")
WANTED_BY_FOREIGN = ("virtio_mmio", "9pnet_virtio", "9p", "virtio_console")
COMMANDS = ("sh", "mount", "umount", "insmod", "cat", "switch_root")
DIRECTORIES = ("bin", "dev", "proc", "root")


def read_module(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        require_commands({"zstd": "zstd"})
        return subprocess.run(
            ["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True
        ).stdout
    return data


def dependencies(modules: Path) -> str:
    """What modules.dep says: a package that is only unpacked comes without it."""
    if (modules / "modules.dep").exists():
        return (modules / "modules.dep").read_text()
    if modules.parts[-3:-1] != ("lib", "modules"):
        raise LabError(f"{modules}/modules.dep is missing, and the folder is not in lib/modules")
    require_commands({"depmod": "kmod"})
    # Other tables follow in its output.
    command = ["depmod", "-n", "-b", str(modules.parents[2]), modules.name]
    shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    return "".join(re.findall(r"^\S+\.ko\S*:.*\n", shown, re.M))


def module_name(path: str) -> str:
    return Path(path).name.partition(".")[0].replace("-", "_")


def in_order(modules: Path, names: Sequence[str]) -> list[Path]:
    """The files of NAMES, each after its dependencies; built-in modules have none."""
    lines = dependencies(modules).splitlines()
    needs = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    files = {module_name(name): name for name in needs}
    built_in = set(map(module_name, (modules / "modules.builtin").read_text().splitlines()))
    ordered: dict[str, None] = {}
    for wanted in (name for name in names if name not in built_in):
        if wanted not in files:
            raise LabError(f"the kernel {modules.name} has no module {wanted}")
        # The last of what a module needs comes first.
        ordered |= dict.fromkeys([*reversed(needs[files[wanted]]), files[wanted]])
    return [modules / name for name in ordered]


def write_modules(modules: Path, names: Sequence[str], archive: Any) -> None:  # noqa: ANN401
    """Adds NAMES, from MODULES, to a CpioWriter as the files of its folder modules."""
    archive.mkdir(b"modules", 0o755)
    for number, module in enumerate(in_order(modules, names)):
        name = f"modules/{number:02}-{module.name.partition('.')[0]}.ko"
        archive.write_file(name.encode(), read_module(module), 0o644)


def write_foreign_modules(modules: Path, output: Path) -> None:
    # Here, because an installed lab may lack it.
    from virtme.cpiowriter import CpioWriter  # type: ignore[import-untyped]

    with output.open("wb") as file:
        archive = CpioWriter(file)
        write_modules(modules, WANTED_BY_FOREIGN, archive)
        archive.write_trailer()


def write_initrd(modules: Path, output: Path) -> None:
    """The initrd for the kernel whose modules are in MODULES."""
    from virtme.cpiowriter import CpioWriter

    busybox = shutil.which("busybox")
    if not busybox:
        raise LabError("busybox is missing; the Debian package busybox-static has it")
    with output.open("wb") as file:
        archive = CpioWriter(file)
        for directory in DIRECTORIES:
            archive.mkdir(directory.encode(), 0o755)
        archive.mkchardev(b"dev/console", (5, 1), 0o600)
        archive.write_file(b"bin/busybox", Path(busybox).read_bytes(), 0o755)
        for command in COMMANDS:
            archive.symlink(b"busybox", f"bin/{command}".encode())
        archive.write_file(b"init", SCRIPT.read_bytes(), 0o755)
        write_modules(modules, WANTED, archive)
        archive.write_trailer()
