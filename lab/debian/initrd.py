# SPDX-License-Identifier: MIT
"""The initrd of stock kernels, whose 9P and overlay are modules: it loads them, and goes on."""

import lzma
import os
import shutil
from pathlib import Path

from lab import REPOSITORY, LabError

SCRIPT = REPOSITORY / "lab" / "guests" / "initrd"
WANTED = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console")
COMMANDS = ("sh", "mount", "umount", "insmod", "cat", "switch_root")
DIRECTORIES = ("bin", "dev", "modules", "proc", "root")

FILE, DIRECTORY, LINK, DEVICE = 0o100755, 0o040755, 0o120777, 0o020600


class Archive:
    """A cpio archive in the format that the kernel unpacks."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._count = 0

    def add(
        self, name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)
    ) -> None:
        self._count += 1
        fields = (
            *(self._count, mode, 0, 0, 1, 0, len(data), 0, 0),
            *(*device, len(name) + 1, 0),
        )
        self._data += b"070701" + b"".join(b"%08X" % field for field in fields)
        self._data += name.encode() + b"\0"
        self._pad()
        self._data += data
        self._pad()

    def _pad(self) -> None:
        self._data += bytes(-len(self._data) % 4)

    def finish(self) -> bytes:
        self.add("TRAILER!!!", 0)
        return bytes(self._data)


def read_module(path: Path) -> bytes:
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def in_order(modules: Path) -> list[Path]:
    """The files of WANTED, each after those that it depends on; built-in ones have none."""
    needs: dict[str, list[str]] = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        name, _, rest = line.partition(":")
        needs[name] = rest.split()
    built_in = {
        Path(line).name.partition(".")[0].replace("-", "_")
        for line in (modules / "modules.builtin").read_text().splitlines()
    }
    by_name = {Path(name).name.partition(".")[0].replace("-", "_"): name for name in needs}
    ordered: list[str] = []
    for wanted in WANTED:
        if wanted in built_in:
            continue
        if wanted not in by_name:
            raise LabError(f"the kernel {modules.name} has no module {wanted}")
        # The last of what a module needs comes first.
        for name in [*reversed(needs[by_name[wanted]]), by_name[wanted]]:
            if name not in ordered:
                ordered.append(name)
    return [modules / name for name in ordered]


def write_initrd(modules: Path, output: Path) -> None:
    """The initrd for the kernel whose modules are in MODULES."""
    busybox = shutil.which("busybox")
    if not busybox:
        raise LabError("busybox is missing; the Debian package busybox-static has it")
    archive = Archive()
    for directory in DIRECTORIES:
        archive.add(directory, DIRECTORY)
    archive.add("dev/console", DEVICE, device=(5, 1))
    archive.add("bin/busybox", FILE, Path(busybox).read_bytes())
    for command in COMMANDS:
        archive.add(f"bin/{command}", LINK, b"busybox")
    archive.add("init", FILE, SCRIPT.read_bytes())
    for number, module in enumerate(in_order(modules)):
        name = f"modules/{number:02}-{module.name.partition('.')[0]}.ko"
        archive.add(name, FILE, read_module(module))
    partial = output.with_name(f".{output.name}")
    partial.write_bytes(archive.finish())
    os.replace(partial, output)
