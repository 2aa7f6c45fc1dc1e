# SPDX-License-Identifier: MIT
"""How much a step downloaded, in apt's and pip's own words."""

import re

UNITS = {"B": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
APT = re.compile(r"^Fetched ([\d.]+) ([kMG]?B) in ", re.M)
PIP = re.compile(r"Downloading \S+\.(?:whl|tar\.gz|metadata) \(([\d.]+) ([kMG]?B)\)")


def total(pattern: re.Pattern[str], text: str) -> float:
    """Megabytes."""
    return sum(float(number) * UNITS[unit] for number, unit in pattern.findall(text))


def packages(output: str) -> float:
    """Megabytes that apt fetched: lists and packages."""
    return total(APT, output.replace(",", ""))


def python_packages(log: str) -> float:
    """Megabytes that pip fetched, from its verbose log."""
    return total(PIP, log)
