# SPDX-License-Identifier: MIT
"""The command, built for another machine against Debian's libraries for it."""

import os
import shutil
import sys
from pathlib import Path

from lab import REPOSITORY
from lab.cache import new_log, read_if_there, write_whole
from lab.debian.root import foreign_root
from lab.kernels.make import run_logged
from lab.toolchain import FOREIGN, compiler, tools_prefix

OPTIONS = ("-Dtests=false", "-Dcompiler=disabled")


def build_command(arch: str, output: Path) -> None:
    """Makes OUTPUT/cli/ferry, and OUTPUT/root with the libraries that it takes."""
    root = foreign_root(arch)
    build, cross = output / "meson", output / "cross"
    settings = cross_file(arch, root)
    log = new_log(f"command-{arch}")

    def run(*command: str) -> None:
        tools = f"PATH={Path(sys.executable).parent}:{os.environ['PATH']}"
        run_logged(f"ferry for {arch}", ["env", tools, "nice", *command], output, log)

    # What Meson configured is for one tree and one cross file.
    if read_if_there(cross) != settings or not (build / "build.ninja").exists():
        print(f"ferry-lab: building ferry for {arch}", file=sys.stderr)
        shutil.rmtree(build, ignore_errors=True)
        write_whole(cross, settings)
        run("meson", "setup", "--cross-file", str(cross), *OPTIONS, str(build), str(REPOSITORY))
    run("ninja", "-C", str(build), "cli/ferry")
    point(output / "cli", build / "cli")
    point(output / "root", root)


def point(link: Path, place: Path) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(place)


def cross_file(arch: str, root: Path) -> str:
    """What Meson has to know to build for ARCH with the libraries in ROOT."""
    triplet = FOREIGN[arch].triplet
    cpu = triplet.partition("-")[0]
    return f"""\
# for {REPOSITORY}
[binaries]
c = {[*compiler(arch).split(), f"--sysroot={root}"]}
ar = '{tools_prefix(arch)}ar'
strip = '{tools_prefix(arch)}strip'
pkg-config = 'pkg-config'
[properties]
sys_root = '{root}'
pkg_config_libdir = '{root}/usr/lib/{triplet}/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '{cpu}'
cpu = '{cpu}'
endian = 'little'
"""
