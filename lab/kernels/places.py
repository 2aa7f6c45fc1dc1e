# SPDX-License-Identifier: MIT
"""The places of a kernel with KCOV: where the compiler put a call that records the way taken.

There is one in each basic block.  A place is named by its return address, which is what KCOV
records.  In the file that a build keeps, a line has this address, the C file that was compiled,
the function and line that the place is from, of a header if that was inlined, and the functions
that it was inlined into, from the inside.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab import LabError
from lab.targets import Target
from lab.toolchain import tools_prefix

PLACES = "places"  # in the directory of a finished kernel
CALL = re.compile(
    r"^ *([0-9a-f]+):\s+((?:[0-9a-f]{2} )+)\s*(?:call|jmp)\S*\s+\S+ <__sanitizer_cov_trace_pc>$",
    re.M,
)


def run(*command: str, stdin: str = "") -> str:
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def variables(target: Target) -> list[str]:
    """For make: they have the files of TARGET instrumented, with debug information.

    The patches that are mailed need not say so.  OBJ is the directory that make is in: another
    file of the same name, as arch/x86/boot/memory.c, may run where nothing can record it.
    """
    if not target.covered:
        return []
    files = [Path(file) for file in target.covered]
    named = [
        f"KCOV_INSTRUMENT_{file.stem}.o=$(if $(filter {file.parent},$(obj)),y)" for file in files
    ]
    # In user-mode Linux calls go through registers otherwise, which no disassembly tells apart.
    model = " -mcmodel=small" if target.arch == "um" else ""
    return [*named, f"CFLAGS_KCOV=-fsanitize-coverage=trace-pc -g{model}"]


def addresses(disassembly: str) -> list[int]:
    return [int(call[1], 16) + len(call[2].split()) for call in CALL.finditer(disassembly)]


def frames(output: str) -> Iterator[list[tuple[str, str]]]:
    """For each address that addr2line -a was given: function and place, innermost first."""
    for part in re.split(r"^0x[0-9a-f]+\n", output, flags=re.M)[1:]:
        lines = part.splitlines()
        yield list(zip(lines[::2], lines[1::2], strict=True))


def in_tree(place: str, tree: Path) -> str:
    path = os.path.normpath(place.partition(" (discriminator")[0])
    return path.removeprefix(f"{tree}/")


def find_places(target: Target, tree: Path, vmlinux: Path) -> str:
    """The lines of the file for VMLINUX, which was compiled from TREE."""
    prefix = tools_prefix(target.arch)
    found = addresses(run(f"{prefix}objdump", "-d", str(vmlinux)))
    # A return address may belong to the next line.
    asked = "".join(f"{address - 1:#x}\n" for address in found)
    symbols = frames(run(f"{prefix}addr2line", "-a", "-f", "-i", "-e", str(vmlinux), stdin=asked))
    lines = (
        describe(a, each, tree, target.covered) for a, each in zip(found, symbols, strict=True)
    )
    return "".join(lines)


def describe(address: int, chain: list[tuple[str, str]], tree: Path, covered: Sequence[str]) -> str:
    file = in_tree(chain[-1][1], tree).rpartition(":")[0]
    if file not in covered:
        return ""
    (function, place), outer = chain[0], " ".join(name for name, _ in chain[1:])
    return f"{address:x} {file} {function} {in_tree(place, tree)} {outer}".rstrip() + "\n"
