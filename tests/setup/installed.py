# SPDX-License-Identifier: MIT
"""Compiles the README's example as the README says, and runs it; this root has no libbpf."""

import subprocess
import tempfile
from pathlib import Path

from readme import block, compile_line

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "cat.c").write_text(block("#include"))
        subprocess.run(["bash", "-c", compile_line()], cwd=folder, check=True)
        printed = subprocess.run([f"{folder}/a.out"], stdout=subprocess.PIPE, check=True).stdout
    expected = Path("/etc/hostname").read_bytes()
    for command in ("probe", "trace --once true"):
        shown = subprocess.run(
            ["/usr/local/bin/ferry", *command.split()],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        assert "install the packages libbpf-dev and clang" in " ".join(shown.split()), shown
    assert printed == expected, f"the example printed {printed!r}, not {expected!r}"
