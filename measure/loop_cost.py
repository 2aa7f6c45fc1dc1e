# SPDX-License-Identifier: MIT
"""What the loop engine costs per slot beyond the raw system call.

Instructions are counted by callgrind, so they are exact and repeat; time is
measured against libc's syscall(), both sides in turn.

Usage: loop_cost.py [BUILD]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SLOTS = 1024
REPEATS = (10, 110)


def instructions(program: Path, side: str, repeats: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={scratch}/out",
            str(program),
            side,
            str(repeats),
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    match = re.search(r"Collected : (\d+)", run.stderr)
    if not match:
        sys.exit(f"loop_cost: valgrind printed no count:\n{run.stderr}")
    return int(match.group(1))


def per_slot(program: Path, side: str) -> float:
    """The slope between two numbers of repeats: start and exit cancel out."""
    few, many = (instructions(program, side, repeats) for repeats in REPEATS)
    return (many - few) / (REPEATS[1] - REPEATS[0]) / SLOTS


def main() -> int:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    program = build / "measure" / "loop_cost"
    if not program.exists():
        sys.exit(f"loop_cost: {program} is not there; 'make build' makes it")
    raw, loop, libc = (per_slot(program, side) for side in ("raw", "loop", "libc"))
    print(f"User instructions per slot, {SLOTS} unimplemented calls (callgrind):")
    print(f"  raw system calls by hand  {raw:6.2f}")
    print(f"  loop engine               {loop:6.2f}   {loop - raw:+.2f} beyond raw")
    print(f"  libc's syscall() per slot {libc:6.2f}   {libc - raw:+.2f} beyond raw")
    sys.stdout.flush()
    return subprocess.run([program, "compare"], check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
