# SPDX-License-Identifier: MIT
"""The kernels that the lab knows: one table, and what can be derived from its rows."""

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
    """A kernel to build: a source, an architecture, and what is done to both."""

    name: str
    source: Source
    arch: Literal["x86", "um"]
    base_config: str  # the make target that the fragments are laid over
    fragments: tuple[str, ...]  # in kernel/config/, later ones win
    image: str  # what make builds, below the object directory
    steps: int  # lines that make prints for a whole build, for the progress bar
    series: bool = True
    stock: bool = False  # Debian's own kernel; its source is the package with its headers
    patches: tuple[Path, ...] = ()  # the user's directories, applied last

    @property
    def checked(self) -> bool:
        """Whether the kernel checks itself, which takes from 5 to 100 times as long."""
        return self.name.endswith(CHECKED)

    @property
    def builds(self) -> str:
        """Where its finished kernels are: those with patches do not displace the others."""
        return f"{self.name}-patched" if self.patches else self.name

    @property
    def tree(self) -> str:
        """Its tree and objects: what the user's patches change is not compiled twice in turn."""
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


def x86(version: str, steps: int) -> Target:
    fragments = ("x86.config", f"x86-{version}.config", "series.config")
    return Target(
        f"x86-{version}", SOURCES[version], "x86", "tinyconfig", fragments, BZIMAGE, steps
    )


def uml(version: str, steps: int) -> Target:
    fragments = ("uml.config", "series.config")
    return Target(
        f"uml-{version}", SOURCES[version], "um", "x86_64_defconfig", fragments, "linux", steps
    )


def tiny(version: str, steps: int) -> Target:
    """The smallest user-mode kernel that runs batches, for whoever wants to see one soon."""
    fragments = ("uml-tiny.config", "series.config")
    return Target(
        f"uml-{version}-tiny", SOURCES[version], "um", "tinyconfig", fragments, "linux", steps
    )


DEFAULT_TARGETS = (x86("6.12", 1750), x86("7.3", 1850), uml("7.3", 1500))

STOCK_TARGETS = tuple(
    Target(
        name=f"debian-{version}",
        source=Source(version, f"linux-headers-{version}", BOOKWORM),
        arch="x86",
        base_config="",
        fragments=(),
        image="vmlinuz",
        steps=0,
        series=False,
        stock=True,
    )
    for version in ("6.1", "6.12")
)
TEST_TARGETS = DEFAULT_TARGETS + STOCK_TARGETS
TINY_TARGET = tiny("7.3", 1050)


def without_series(target: Target) -> Target:
    """The same kernel without the series: what the ordinary paths are compared with."""
    fragments = tuple(name for name in target.fragments if name != "series.config")
    return replace(target, name=f"{target.name}-base", fragments=fragments, series=False)


def with_checks(target: Target) -> Target:
    """The same kernel with the sanitizers and lockdep."""
    checks = ("debug.config", f"debug-{target.arch}.config")
    fragments = (*target.fragments, *checks)
    return replace(target, name=f"{target.name}-debug", fragments=fragments)


def with_race_detector(target: Target) -> Target:
    """The same kernel with KCSAN, which excludes KASAN."""
    fragments = (*target.fragments, "kcsan.config")
    return replace(target, name=f"{target.name}-kcsan", fragments=fragments)


def with_patches(target: Target, patches: Sequence[Path]) -> Target:
    """The same kernel with patches of the user after the series, or without it."""
    for path in patches:
        if not path.is_dir():
            raise LabError(f"--patch {path}: there is no such directory")
    found = tuple(path.absolute() for path in patches)
    if found and target.stock:
        raise LabError(f"{target.name} is Debian's own kernel: the lab does not build it")
    return replace(target, patches=found)


# User-mode Linux has no KCSAN.
RACE_TARGETS = tuple(with_race_detector(each) for each in DEFAULT_TARGETS if each.arch == "x86")
TARGETS = {
    target.name: target
    for default in DEFAULT_TARGETS
    for target in (default, without_series(default), with_checks(default))
} | {target.name: target for target in (*STOCK_TARGETS, *RACE_TARGETS, TINY_TARGET)}
MODULE_TARGETS = (*STOCK_TARGETS, TARGETS["x86-7.3"])  # those that ferry.ko is tested on


def find_target(name: str) -> Target:
    if name not in TARGETS:
        near = get_close_matches(name, TARGETS, n=1, cutoff=0.8)
        meant = f" (did you mean '{near[0]}'?)" if near else ""
        raise LabError(f"there is no target '{name}'{meant}; the targets are {', '.join(TARGETS)}")
    return TARGETS[name]
