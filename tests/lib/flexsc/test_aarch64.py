# SPDX-License-Identifier: MIT
"""flexsc on aarch64, in emulation: its weaker memory order.

The emulator runs on this machine's processor, whose order is stronger than that of
aarch64: what a real one may reorder, it does not.
"""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
COMPILER = "aarch64-linux-gnu-gcc -std=gnu11 -O2 -static -Wall -Wextra -Werror -D_GNU_SOURCE"


@pytest.fixture(scope="module")
def stress(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("aarch64") / "stress"
    sources = [
        *sorted((ROOT / "lib" / "flexsc").glob("*.c")),
        *sorted((ROOT / "lib" / "engine").glob("*.c")),
        Path(os.environ["FERRY_BUILD"]) / "calls" / "calls.c",
        HERE / "stress.c",
    ]
    includes = [f"-I{ROOT / name}" for name in ("include", "uapi", ".")]
    command = [*COMPILER.split(), *includes, *map(str, sources), "-pthread", "-o", str(program)]
    subprocess.run(command, check=True)
    return program


# Not `restarts`: it would report the emulator's own memory as a leak.
@pytest.mark.parametrize("part", ["calls 50000", "differential 5000", "kills 20"])
def test_stress(stress: Path, part: str) -> None:
    command = ["qemu-aarch64", str(stress), *part.split()]
    done = subprocess.run(command, text=True, capture_output=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
