# SPDX-License-Identifier: MIT
"""A Python whose C library is musl, of the version that runs this.

Debian has no Python for musl, and its musl may be older than NumPy needs: RELR relocations came
with 1.2.4.  So both are built out of Debian's sources, with two libraries that the tests need, and
stay in the lab's cache.
"""

import hashlib
import os
import shutil
import sys
import sysconfig
import tarfile
from pathlib import Path

from lab import LabError
from lab.cache import cache_root, locked, log_file, make_directory, new_log, prune_builds
from lab.debian.packages import downloaded_source
from lab.process import run_to

VERSION = sysconfig.get_python_version()
PYTHON = f"python{VERSION}"
SUITES = {"zlib": "bookworm", "libffi": "bookworm", "musl": "trixie"}
SUITES |= {"python3.11": "bookworm", "python3.13": "trixie"}
# In this order, all in one folder.  libffi's trampolines would need headers of the kernel.
OPTIONS = {
    "musl": (),
    "zlib": ("--static",),
    "libffi": ("--disable-shared", "--disable-docs", "--disable-exec-static-tramp"),
    PYTHON: ("--build=x86_64-pc-linux-musl", "--without-ensurepip", "--disable-test-modules"),
}

CFLAGS = "-O1 -g0 -fPIC"

# GCC would name the folder of the C library that it is for.
COMPILER = """#!/bin/sh
case $1 in *-print-multiarch) exec echo x86_64-linux-musl ;; esac
exec "${0%/*}/musl-gcc" "$@"
"""


def step(folder: Path, *words: str | Path, **variables: str) -> None:
    log = log_file("musl-python")
    if run_to(log, list(map(str, words)), cwd=folder, env=os.environ | variables):
        raise LabError(f"cannot build a Python for musl: {words[0]} fails in {folder}; see {log}")


def unpacked(package: str, folder: Path) -> Path:
    suite = SUITES[package]
    archive = downloaded_source(package, [suite], make_directory(cache_root() / "musl" / suite))
    with tarfile.open(archive) as file:  # a machine may have no bzip2
        file.extractall(folder)
        return folder / file.getnames()[0].partition("/")[0]


def install(package: str, home: Path, source: Path) -> None:
    places = [f"--prefix={home}"]
    variables = {"CFLAGS": CFLAGS, "PKG_CONFIG_LIBDIR": f"{home}/lib/pkgconfig"}
    if package == "musl":
        places.append(f"--syslibdir={home}/lib")
    else:
        variables["CC"] = f"{home}/bin/cc"
    if package == "python3.11":
        # Later ones do so by themselves: make builds the modules that configure has found.
        (source / "Modules" / "Setup.local").symlink_to("Setup.stdlib")
    step(source, "./configure", *places, *OPTIONS[package], **variables)
    step(source, "make", f"-j{os.cpu_count()}")
    step(source, "make", "install")


def build(home: Path) -> None:
    compiler = make_directory(home / "bin") / "cc"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    for package in OPTIONS:
        install(package, home, unpacked(package, home / "sources"))
    shutil.rmtree(home / "sources")


def musl_python() -> Path:
    """The interpreter, which is built unless a whole one is there."""
    if PYTHON not in SUITES:
        known = ", ".join(name for name in SUITES if name.startswith("python"))
        raise LabError(f"no source of {PYTHON} is known in Debian, only of {known}")
    name = f"musl-{PYTHON}"
    recipe = repr((OPTIONS, CFLAGS, COMPILER))
    key = hashlib.sha256(recipe.encode()).hexdigest()[:16]
    home = make_directory(cache_root() / "builds" / name) / key
    with locked(name):
        if not (home / "whole").exists():
            print(f"building {PYTHON} for musl", file=sys.stderr, flush=True)
            new_log("musl-python")
            shutil.rmtree(home, ignore_errors=True)
            build(home)
            (home / "whole").touch()
            prune_builds(name)
    return home / "bin" / PYTHON
