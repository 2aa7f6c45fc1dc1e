# SPDX-License-Identifier: MIT
"""The kernels that the lab knows: one table, and values derived from its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from lab import LabError


@dataclass(frozen=True)
class Source:
    """A Debian package that holds a kernel's source."""

    version: str  # of the series: names its diffs
    package: str
    suites: tuple[str, ...]  # of Debian; those on a security mirror end in -security


@dataclass(frozen=True)
class Target:
    """A kernel to build: a source, an architecture, a configuration and patches."""

    name: str
    source: Source
    arch: Literal["x86", "um", "riscv", "arm64"]
    image: str  # what make builds, below the object directory
    base_config: str = ""  # the make target that the fragments are laid over
    fragments: tuple[str, ...] = ()  # in kernel/config/, later ones win
    steps: int = 0  # lines that make prints for a whole build, for the progress bar
    series: bool = True
    stock: bool = False  # Debian's own kernel; its source is the package with its headers
    covered: tuple[str, ...] = ()  # C files that report which places in them were reached
    only: tuple[str, ...] | None = None  # these patches of the series, in this order
    patches: tuple[Path, ...] = ()  # the user's directories, applied last
    # Somebody's image or source tree, in place of SOURCE.  It runs the tests of the target LIKE.
    given: Path | None = None
    modules: Path | None = None  # of a given image: its folder in /lib/modules
    like: str = ""

    @property
    def checked(self) -> bool:
        """Whether the kernel checks itself, which takes from 5 to 100 times as long."""
        return (self.like or self.name).endswith(CHECKED)

    @property
    def builds(self) -> str:
        """Where its finished kernels are: those with patches do not displace the others."""
        if self.only is not None:
            return f"{self.name}-steps"
        return f"{self.name}-patched" if self.patches else self.name

    @property
    def tree(self) -> str:
        """Its tree and objects: what the user's patches change is not compiled twice in turn."""
        if self.only is not None:
            return "steps"
        name = "series" if self.series else "plain"
        return f"{name}-patched" if self.patches else name


CHECKED = ("-debug", "-kcsan")

BOOKWORM = ("bookworm-security", "bookworm")
SOURCES = {
    source.version: source
    for source in (
        Source("6.12", "linux-source-6.12", BOOKWORM),
        Source("7.3", "linux-source-7.3", ("trixie-backports",)),
    )
}

BZIMAGE = "arch/x86/boot/bzImage"


# What configures the series for a version.
SERIES_FRAGMENTS = {"6.12": ("series.config",), "7.3": ("series.config", "series-7.3.config")}


def x86(version: str, steps: int) -> Target:
    own = ("guest-x86.config", "x86.config", f"x86-{version}.config")
    fragments = (*own, *SERIES_FRAGMENTS[version])
    return Target(
        f"x86-{version}", SOURCES[version], "x86", BZIMAGE, "tinyconfig", fragments, steps
    )


UML_FRAGMENTS = ("guest-um.config", "uml.config", *SERIES_FRAGMENTS["7.3"])
UML = Target("uml-7.3", SOURCES["7.3"], "um", "linux", "x86_64_defconfig", UML_FRAGMENTS, 1500)
DEFAULT_TARGETS = (x86("6.12", 1750), x86("7.3", 1850), UML)

# Without most experimental calls, and without what runs this machine's programs.
RISCV = Target(
    "riscv64-7.3",
    SOURCES["7.3"],
    "riscv",
    "arch/riscv/boot/Image",
    "tinyconfig",
    ("guest-foreign.config", "foreign.config", "riscv.config"),
    1150,
)
ARM64 = Target(
    "arm64-7.3",
    SOURCES["7.3"],
    "arm64",
    "arch/arm64/boot/Image",
    "tinyconfig",
    ("guest-foreign.config", "foreign.config", "arm64.config"),
    1350,
)

# The smallest user-mode kernel that runs batches, for whoever wants to see one soon.
TINY_TARGET = replace(
    UML,
    name="uml-7.3-tiny",
    base_config="tinyconfig",
    fragments=("guest-um.config", "uml-tiny.config", *SERIES_FRAGMENTS["7.3"]),
    steps=1050,
)

STOCK_TARGETS = tuple(
    Target(
        name=f"debian-{version}",
        source=Source(version, f"linux-headers-{version}", BOOKWORM),
        arch="x86",
        image="vmlinuz",
        series=False,
        stock=True,
    )
    for version in ("6.1", "6.12")
)
ARM64_STOCK = replace(STOCK_TARGETS[-1], name="debian-arm64-6.12", arch="arm64")
FOREIGN_TARGETS = (RISCV, ARM64, ARM64_STOCK)
TEST_TARGETS = DEFAULT_TARGETS + STOCK_TARGETS


def without_series(target: Target) -> Target:
    """The same kernel without the series: what the ordinary paths are compared with."""
    own = SERIES_FRAGMENTS[target.source.version]
    fragments = tuple(name for name in target.fragments if name not in own)
    return replace(target, name=f"{target.name}-base", fragments=fragments, series=False)


def variant(target: Target, name: str, *fragments: str) -> Target:
    """The same kernel, configured with further FRAGMENTS."""
    return replace(target, name=f"{target.name}-{name}", fragments=(*target.fragments, *fragments))


def with_patches(target: Target, patches: Sequence[Path]) -> Target:
    """The same kernel with patches of the user after the series, or without it."""
    for path in patches:
        if not path.is_dir():
            raise LabError(f"--patch {path}: there is no such directory")
    found = tuple(path.absolute() for path in patches)
    if found and target.stock:
        raise LabError(f"{target.name} is Debian's own kernel: the lab does not build it")
    return replace(target, patches=found)


# -debug has the sanitizers and lockdep.  -kcsan excludes KASAN, and user-mode Linux has none.
RACE_TARGETS = tuple(
    variant(each, "kcsan", "kcsan.config") for each in DEFAULT_TARGETS if each.arch == "x86"
)
# For the fuzzer.  KCOV is off for all other files, so that it sees the series alone.
COVERED = (
    "kernel/subcall/batch.c",
    "kernel/subcall/syscall.c",
    "kernel/subcall/watched.c",
    "kernel/subcall/flexsc.c",
    "kernel/subcall/flexsc_syscall.c",
    "mm/multi_page_alloc.c",
    # They call the series, or are called by it.
    "kernel/seccomp.c",
    "mm/memory.c",
)
KCOV_TARGETS = tuple(
    replace(variant(each, "kcov", "kcov.config"), covered=COVERED)
    for each in DEFAULT_TARGETS
    if each.source.version == "7.3"
)
TARGETS = {
    target.name: target
    for default in DEFAULT_TARGETS
    for target in (
        default,
        without_series(default),
        variant(default, "debug", "debug.config", f"debug-{default.arch}.config"),
    )
} | {
    target.name: target
    for target in (*STOCK_TARGETS, *RACE_TARGETS, *KCOV_TARGETS, TINY_TARGET, *FOREIGN_TARGETS)
}
MODULE_TARGETS = (*STOCK_TARGETS, TARGETS["x86-7.3"])  # ferry.ko is tested on them


def find_target(name: str) -> Target:
    if name not in TARGETS:
        near = get_close_matches(name, TARGETS, n=1, cutoff=0.8)
        meant = f" (did you mean '{near[0]}'?)" if near else ""
        raise LabError(f"there is no target '{name}'{meant}; the targets are {', '.join(TARGETS)}")
    return TARGETS[name]
