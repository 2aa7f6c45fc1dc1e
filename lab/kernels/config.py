# SPDX-License-Identifier: MIT
"""Kernel configurations: fragments laid over a default, and a check that they took."""

import re
from collections.abc import Iterable
from pathlib import Path

from lab import REPOSITORY, LabError
from lab.targets import Target

CONFIGS = REPOSITORY / "kernel" / "config"
SETTING = re.compile(r"(CONFIG_\w+)=(.*)")
UNSET = re.compile(r"# (CONFIG_\w+) is not set")


def fragments(target: Target) -> list[Path]:
    """The files of kernel/config/ that TARGET is configured with."""
    return [CONFIGS / name for name in target.fragments if (CONFIGS / name).exists()]


def read_settings(text: str) -> dict[str, str]:
    """The options in the text of a .config or a fragment; what is not set is n."""
    settings = {}
    for line in text.splitlines():
        if match := SETTING.fullmatch(line.strip()):
            settings[match[1]] = match[2]
        elif match := UNSET.fullmatch(line.strip()):
            settings[match[1]] = "n"
    return settings


def requested(paths: Iterable[Path]) -> dict[str, str]:
    """What the fragments ask for together; the last one wins."""
    settings: dict[str, str] = {}
    for path in paths:
        settings |= read_settings(path.read_text())
    return settings


def render(settings: dict[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def check_settings(wanted: dict[str, str], config: str, target: str) -> None:
    """Fails with the names of the options that the kernel's own rules did not grant."""
    actual = read_settings(config)
    refused = [
        f"{name}={value} (it is {actual.get(name, 'n')})"
        for name, value in wanted.items()
        if actual.get(name, "n") != value
    ]
    if refused:
        raise LabError(
            f"the configuration of {target} refuses {', '.join(refused)}:"
            f" a fragment in {CONFIGS.relative_to(REPOSITORY)} lacks what they depend on"
        )
