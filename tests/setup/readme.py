# SPDX-License-Identifier: MIT
"""The examples of README.md."""

import re
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text()


def block(start: str) -> str:
    """The block of code that begins with START."""
    blocks: list[str] = re.findall(r"^```\w*\n(.*?)^```$", README, re.M | re.S)
    return next(each for each in blocks if each.startswith(start))


def compile_line() -> str:
    """The command that compiles cat.c with an installed library."""
    found = re.search(r"cc cat\.c \$\(pkg-config [^`\n]*", README)
    assert found, "README.md does not say how to compile cat.c with pkg-config"
    return found[0]
