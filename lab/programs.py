# SPDX-License-Identifier: MIT
"""The programs that tests of other machines run, compiled for them."""

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path

from lab import REPOSITORY, LabError
from lab.cache import cache_root, locked, make_directory
from lab.crossed import build_command
from lab.kernels.make import make_environment
from lab.targets import Target
from lab.toolchain import FOREIGN, compiler, require_toolchain

OPTIONS = "-std=gnu11 -O2 -Wall -Wextra -Werror -Wno-missing-field-initializers -fms-extensions"
# The libraries of this machine are not those of another one.
DEFINED = "-D_GNU_SOURCE -DNO_LIBRARIES"
INCLUDES = ("include", "uapi", ".")


@dataclass(frozen=True)
class Program:
    """Its place below a build directory, and patterns of its sources."""

    place: str
    sources: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    compiling: str = ""
    linking: str = "-static"
    archs: tuple[str, ...] = tuple(FOREIGN)
    calls: bool = False  # with the table of calls


# Of the libraries for cross compilers: a guest has the host's /usr.
ARM64_LINKER = "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1"

PROGRAMS = (
    Program(
        "tests/lib/conformance/conformance",
        (
            "tests/lib/conformance/*.c",
            "tests/lib/conformance/contract/*.c",
            "lib/engine/*.c",
        ),
        ("run.c",),  # by cmocka, which Debian builds for the machine that it is installed on
    ),
    Program(
        "tests/kernel/hostile",
        (
            "tests/kernel/*.c",
            "tests/lib/conformance/run_plain.c",
            "tests/lib/conformance/way.c",
            "tests/lib/conformance/contract/filter.c",
            "tests/lib/conformance/contract/suite.c",
            "tests/lib/conformance/contract/tracer.c",
            "tests/lib/conformance/contract/workload.c",
            "lib/engine/*.c",
        ),
        ("pages_ahead.c", "watched.c"),
    ),
    Program(
        "tests/kernel/storm",
        ("tests/kernel/storm/*.c", "tests/kernel/fuzz/coverage.c", "lib/engine/*.c"),
    ),
    Program(
        "tests/lib/differential/differential",
        ("tests/lib/differential/*.c", "lib/engine/*.c"),
    ),
    Program(
        "tests/lib/flexsc/stress",
        ("tests/lib/flexsc/stress.c", "lib/flexsc/*.c", "lib/engine/*.c"),
        calls=True,
    ),
    Program("measure/slots", ("measure/slots.c", "lib/engine/*.c")),
    # lib/threads/meson.build compiles it with the same options for this machine.
    Program(
        "lib/threads/libferry_threads.so",
        ("lib/threads/*.c",),
        ("switch_x86_64.c",),
        compiling="-fPIC -fexceptions -fvisibility=hidden -fno-stack-protector",
        linking="-shared -Wl,-z,nodelete -Wl,-z,now",
        archs=("arm64",),
    ),
    Program(
        "tests/lib/threads/properties",
        ("tests/lib/threads/properties/*.c",),
        linking=f"-Wl,--dynamic-linker={ARM64_LINKER}",
        archs=("arm64",),
    ),
    Program("tests/trace/deeds", ("tests/trace/deeds.c",), archs=("arm64",)),
)


def programs_for(target: Target, build: Path) -> Path:
    """The build directory for guests of TARGET: BUILD, or one with PROGRAMS for its machine."""
    machine = FOREIGN.get(target.arch)
    if not machine:
        return build
    require_toolchain(target.arch)
    output = cache_root() / "programs" / machine.name
    with locked(f"programs-{machine.name}"):
        for program in PROGRAMS:
            if target.arch in program.archs:
                compile_program(program, target.arch, output)
        if target.stock:  # the others have no BPF
            build_command(target.arch, output)
    return output


def compile_program(program: Program, arch: str, output: Path) -> None:
    """Compiles each source again: ccache knows those that have not changed."""
    sources = [
        path
        for pattern in program.sources
        for path in sorted(REPOSITORY.glob(pattern))
        if path.name not in program.left_out
    ]
    if program.calls:
        sources.append(table_of_calls(output))
    place = output / program.place
    objects = make_directory(output / "objects" / program.place)
    includes = [f"-I{REPOSITORY / name}" for name in INCLUDES]

    def compile_one(source: Path) -> Path:
        made = objects / "-".join([*source.parent.parts[-2:], source.with_suffix(".o").name])
        options = [*f"{DEFINED} {OPTIONS} {program.compiling}".split(), *includes]
        command = [*options, "-c", str(source), "-o", str(made)]
        run(arch, program, command)
        return made

    with ThreadPoolExecutor(cpu_count()) as pool:
        made = list(pool.map(compile_one, sources))
    make_directory(place.parent)
    linking = program.linking.split()
    run(arch, program, [*linking, *map(str, made), "-pthread", "-o", str(place)])


def table_of_calls(output: Path) -> Path:
    """Writes the table of calls for all machines, of which the compiler takes its own."""
    table = make_directory(output / "calls") / "calls.c"
    subprocess.run(["python3", REPOSITORY / "calls" / "table.py", table], check=True)
    return table


def run(arch: str, program: Program, arguments: Sequence[str]) -> None:
    done = subprocess.run(
        ["nice", *compiler(arch).split(), *arguments],
        env=make_environment(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LabError(f"compiling {program.place} for {arch} failed: {done.stderr.strip()}")
