# SPDX-License-Identifier: MIT
"""Test programs of glibc and libstdc++, compiled from the sources in Debian's packages.

What needs glibc's build tree does not compile, and is left out.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.cache import cache_root, make_directory
from lab.debian.packages import downloaded

SUITES = ("bookworm",)
COMPILERS = 2  # at a time


def unpacked(package: str, archive: str, pattern: str, directory: Path) -> Path:
    """The files of PATTERN of the ARCHIVE of sources in a Debian package."""
    sources = directory / "sources"
    if sources.exists():
        return sources
    file = downloaded(package, SUITES, make_directory(cache_root() / "sources"))
    parts = directory / "parts"
    shutil.rmtree(parts, ignore_errors=True)
    (parts / "sources").mkdir(parents=True)
    subprocess.run(["dpkg-deb", "-x", file, parts / "package"], check=True)
    (found,) = (parts / "package").rglob(archive)
    unpack: list[str | Path] = [
        "tar",
        "-x",
        "--strip-components=1",
        "--wildcards",
        "-C",
        parts / "sources",
    ]
    subprocess.run([*unpack, "-C", parts / "sources", "-f", found, pattern], check=True)
    (parts / "sources").rename(sources)
    shutil.rmtree(parts)
    return sources


def compiled(command: Sequence[str | Path], result: Path) -> Path | None:
    """RESULT of a compiler, unless it is there; None if the compiler fails."""
    if result.exists():
        return result
    done = subprocess.run(
        [*command, "-o", result], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return None if done.returncode else result


def compile_all(jobs: Sequence[tuple[Sequence[str | Path], Path]]) -> list[Path]:
    with ThreadPoolExecutor(COMPILERS) as pool:
        made = pool.map(lambda job: compiled(*job), jobs)
        return [result for result in made if result]


# ---- glibc ----

# What these directories' tests need of glibc's own headers.
GLIBC_HEADERS = {
    "support": "support",
    "malloc": "malloc",
    "test-skeleton.c": "test-skeleton.c",
    "intprops.h": "include/intprops.h",
    "array_length.h": "include/array_length.h",
    "libc-diag.h": "include/libc-diag.h",
    "libc-pointer-arith.h": "include/libc-pointer-arith.h",
    "stackinfo.h": "sysdeps/x86_64/stackinfo.h",
}
GLIBC_TESTS = ("nptl", "sysdeps/pthread", "signal", "rt")
# Statically linked, parts of other tests, the same tests with 32 bits, or a debugger's.
GLIBC_LEFT_OUT = re.compile(r"-static$|mod[0-9a-z]*$|aux$|-common$|time64|gdb-attach")
GLIBC_PATHS = (
    "SRCDIR",
    "OBJDIR",
    "OBJDIR_ELF_LDSO",
    "INSTDIR",
    "LIBDIR",
    "BINDIR",
    "SBINDIR",
    "SLIBDIR",
    "ROOTSBINDIR",
    "COMPLOCALEDIR",
)


def glibc_headers(sources: Path, directory: Path) -> Path:
    headers = make_directory(directory / "headers")
    for name, path in GLIBC_HEADERS.items():
        link = headers / name
        if not link.is_symlink():
            link.symlink_to(sources / path)
    (headers / "config.h").touch()
    return headers


def glibc_support(sources: Path, headers: Path, directory: Path) -> list[Path]:
    """The objects of what all tests share."""
    shared = sources / "support"
    objects = make_directory(directory / "support")
    paths = [f'-D{name}_PATH="/nowhere"' for name in GLIBC_PATHS]
    options = ["-O2", "-w", "-D_GNU_SOURCE", "-DTIMEOUTFACTOR=2", "-fexceptions", *paths]
    options += ["-include", "limits.h"]
    return compile_all(
        [
            (
                ["gcc", *options, "-I", headers, "-I", shared, "-c", source],
                objects / f"{source.stem}.o",
            )
            for source in sorted(shared.glob("*.c"))
            if not re.match(r"tst-|test-|links-|.*-container|README", source.name)
        ]
    )


def glibc(directory: Path) -> list[Path]:
    sources = unpacked("glibc-source", "glibc-*.tar.xz", "*", directory)
    headers = glibc_headers(sources, directory)
    library = directory / "support.a"
    if not library.exists():
        objects = glibc_support(sources, headers, directory)
        subprocess.run(["ar", "rcs", library, *objects], check=True)
    programs = make_directory(directory / "programs")
    options = ["-O2", "-w", "-g", "-D_GNU_SOURCE", "-fexceptions", "-I", str(headers)]
    folders = [part for name in GLIBC_TESTS for part in ("-I", str(sources / name))]
    return compile_all(
        [
            (["gcc", *options, *folders, source, library, "-lm"], programs / source.stem)
            for name in GLIBC_TESTS
            for source in sorted((sources / name).glob("tst-*.c"))
            if not GLIBC_LEFT_OUT.search(source.stem)
        ]
    )


# ---- libstdc++ ----


def standard_of(text: str) -> str:
    found = re.search(r"-std=gnu\+\+\w+", text)
    return found[0] if found else "-std=gnu++17"


def libstdcxx(directory: Path) -> list[Path]:
    pattern = "*/libstdc++-v3/testsuite/*"
    sources = unpacked("gcc-12-source", "gcc-12*.tar.xz", pattern, directory)
    tests = sources / "libstdc++-v3" / "testsuite"
    programs = make_directory(directory / "programs")
    jobs: list[tuple[Sequence[str | Path], Path]] = []
    for source in sorted((tests / "30_threads").rglob("*.cc")):
        text = source.read_text(errors="replace")
        if not re.search(r"dg-do run", text):
            continue
        options = [standard_of(text), "-O2", "-w", "-pthread", "-I", str(tests / "util")]
        name = "-".join(source.relative_to(tests / "30_threads").with_suffix("").parts)
        jobs.append((["g++", *options, source], programs / name))
    return compile_all(jobs)
