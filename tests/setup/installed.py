# SPDX-License-Identifier: MIT
"""After make install in a minimal root: the README's example, and the commands' output there."""

import subprocess
import tempfile
from pathlib import Path

from readme import block, compile_line

BPF = "install the packages libbpf-dev and clang"
SAYS = {
    "/usr/local/bin/ferry probe": BPF,
    "/usr/local/bin/ferry trace true": BPF,
    "lab/ferry-lab --help": "ferry-lab show",
}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "cat.c").write_text(block("#include"))
        subprocess.run(["bash", "-c", compile_line()], cwd=folder, check=True)
        printed = subprocess.run([f"{folder}/a.out"], stdout=subprocess.PIPE, check=True).stdout
    expected = Path("/etc/hostname").read_bytes()
    for command, words in SAYS.items():
        shown = subprocess.run(
            command.split(), stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        assert words in " ".join(shown.split()), shown
    assert printed == expected, f"the example printed {printed!r}, not {expected!r}"
