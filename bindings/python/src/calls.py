#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a line of C for each system call that the compiler's headers name.

Usage: calls.py OUTPUT COMPILER...
"""

import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    macros = subprocess.run(
        [*sys.argv[2:], "-E", "-dM", "-xc", "-"],
        input="#include <sys/syscall.h>\n",
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    names = sorted(re.findall(r"^#define SYS_(\w+) ", macros, re.M))
    Path(sys.argv[1]).write_text("".join(f'{{ "{name}", SYS_{name} }},\n' for name in names))


main()
