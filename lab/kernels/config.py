# SPDX-License-Identifier: MIT
"""Kernel configurations: fragments laid over a default, and a check that they took."""

import re
from collections.abc import Iterable
from pathlib import Path

from lab import REPOSITORY, LabError
from lab.targets import Target
from lab.toolchain import FOREIGN

CONFIGS = REPOSITORY / "kernel" / "config"
SETTING = re.compile(r"^(?:(CONFIG_\w+)=(.*?)|# (CONFIG_\w+) is not set)\s*$", re.M)


def fragments(target: Target) -> list[Path]:
    """The files of kernel/config/ that TARGET is configured with."""
    return [CONFIGS / name for name in target.fragments if (CONFIGS / name).exists()]


def read_settings(text: str) -> dict[str, str]:
    """The options in the text of a .config or a fragment; what is not set is n."""
    return {one[1] or one[3]: one[2] if one[1] else "n" for one in SETTING.finditer(text)}


def requested(paths: Iterable[Path]) -> dict[str, str]:
    """What the fragments ask for together; the last one wins."""
    settings: dict[str, str] = {}
    for path in paths:
        settings |= read_settings(path.read_text())
    return settings


def render(settings: dict[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def refused(wanted: dict[str, str], config: str) -> list[str]:
    """The options of WANTED that the kernel's own rules did not grant, with what they are."""
    actual = read_settings(config)
    return [
        f"{name}={value} (it is {actual.get(name, 'n')})"
        for name, value in wanted.items()
        if actual.get(name, "n") != value
    ]


def check_settings(wanted: dict[str, str], config: str, target: str) -> None:
    """Fails with the names of the options that were not granted."""
    if lacking := refused(wanted, config):
        raise LabError(
            f"the configuration of {target} refuses {', '.join(lacking)}:"
            f" a fragment in {CONFIGS.relative_to(REPOSITORY)} lacks what they depend on"
        )


def guest_fragment(arch: str) -> Path:
    """The options without which a kernel for ARCH cannot be a guest of the lab."""
    return CONFIGS / f"guest-{'foreign' if arch in FOREIGN else arch}.config"


def check_guest(arch: str, settings: dict[str, str], where: str, modules: bool = False) -> None:
    """Fails with the names of the options without which a kernel cannot be a guest of the lab.

    With MODULES, those that are m are loaded before the root is mounted.
    """
    fragment = guest_fragment(arch)
    enough = ("y", "m") if modules else ("y",)
    found = {name: settings.get(name, "n") for name in requested([fragment])}
    lacking = [f"{name} is {value}" for name, value in found.items() if value not in enough]
    if lacking:
        hint = "" if modules or arch != "x86" else "; for m, --modules may name their folder"
        raise LabError(
            f"the configuration {where} does not suffice for a guest: {', '.join(lacking)}{hint}."
            f" In its tree, 'ARCH={arch} scripts/kconfig/merge_config.sh .config {fragment}'"
            " adds them"
        )
