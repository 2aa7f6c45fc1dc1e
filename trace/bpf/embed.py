# SPDX-License-Identifier: MIT
"""The BPF object as an array in C: embed.py OBJECT HEADER."""

import sys
from pathlib import Path

numbers = ",".join(str(byte) for byte in Path(sys.argv[1]).read_bytes())
Path(sys.argv[2]).write_text(
    f"static const unsigned char collector_object[] __attribute__((aligned(8))) = {{{numbers}}};\n"
)
