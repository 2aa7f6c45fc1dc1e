# SPDX-License-Identifier: MIT
"""The root of a guest that cannot run the host's programs: busybox, built for its machine."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab import LabError
from lab.cache import cache_root, locked, made_whole, make_directory, new_log
from lab.debian.packages import downloaded_source
from lab.kernels.config import read_settings, render
from lab.kernels.make import run_logged
from lab.toolchain import compiler, compiler_version, require_toolchain, tools_prefix

SCRIPT = Path(__file__).with_name("foreign")
CONFIG = Path(__file__).with_name("busybox.config")
SUITES = ("bookworm",)
DIRECTORIES = ("bin", "dev", "proc", "run", "sys", "tmp")


def foreign_initrd(arch: str) -> Path:
    """The initrd of guests for ARCH; built unless one with the same inputs is there."""
    require_toolchain(arch)
    with locked(f"initrd-{arch}"):
        source = downloaded_source("busybox", SUITES, make_directory(cache_root() / "busybox"))
        directory = cache_root() / "initrds" / f"{arch}-{key_of(arch, source)}"
        if not directory.is_dir():
            with made_whole(directory) as partial:
                built = build_busybox(arch, source, partial / "busybox")
                write_initrd(built, partial / "initrd")
                shutil.rmtree(built)
        return directory / "initrd"


def key_of(arch: str, source: Path) -> str:
    parts = (source.name, compiler_version(arch), CONFIG.read_text(), SCRIPT.read_text())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def build_busybox(arch: str, source: Path, tree: Path) -> Path:
    """Builds the commands of CONFIG in TREE, statically, and a list of their names."""
    command = ["tar", "-xf", str(source), "-C", str(make_directory(tree)), "--strip-components=1"]
    if subprocess.run(command, check=False).returncode:
        source.unlink()
        raise LabError(f"cannot unpack {source.name}; the next run fetches it again")
    make = ["nice", "make", "-s", f"ARCH={arch}", f"CROSS_COMPILE={tools_prefix(arch)}"]
    what, log = f"busybox for {arch}", new_log(f"busybox-{arch}")

    def run(*command: str) -> None:
        run_logged(what, command, tree, log)

    run(*make, "allnoconfig")
    wanted = read_settings(CONFIG.read_text())
    config = tree / ".config"
    others = {n: v for n, v in read_settings(config.read_text()).items() if n not in wanted}
    config.write_text(render(others | wanted))
    # What is left is asked for; each empty line takes the default.
    run("sh", "-c", 'yes "" | "$@"', "sh", *make, "oldconfig")
    jobs = f"-j{os.cpu_count() or 1}"
    run(*make, jobs, f"CC={compiler(arch)}", "busybox", "busybox.links")
    return tree


def command_names(links: str) -> Sequence[str]:
    return [Path(line).name for line in links.splitlines()]


def write_initrd(built: Path, output: Path) -> None:
    # Here, because an installed lab may lack it.
    from virtme.cpiowriter import CpioWriter  # type: ignore[import-untyped]

    with output.open("wb") as file:
        archive = CpioWriter(file)
        for directory in DIRECTORIES:
            archive.mkdir(directory.encode(), 0o755)
        archive.mkchardev(b"dev/console", (5, 1), 0o600)
        archive.write_file(b"bin/busybox", (built / "busybox").read_bytes(), 0o755)
        for name in command_names((built / "busybox.links").read_text()):
            archive.symlink(b"busybox", f"bin/{name}".encode())
        archive.write_file(b"init", SCRIPT.read_bytes(), 0o755)
        archive.write_trailer()
