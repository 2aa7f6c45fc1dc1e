# SPDX-License-Identifier: MIT
"""Runs a program of random_calls.py without batches and with them: same_results.py PROGRAM [MODE].

MODE is FERRY_AUTO; without it, the kernel has to have an engine.  The two have to print the same.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def run(program: Path, mode: str | None) -> tuple[str, str]:
    """What it prints, and the state of the run time at its end."""
    environment = {k: v for k, v in os.environ.items() if k != "FERRY_AUTO"}
    if mode:
        environment["FERRY_AUTO"] = mode
    with tempfile.TemporaryDirectory(prefix="ferry-cc-") as folder:
        done = subprocess.run(
            [program], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    return f"{done.stdout}status {done.returncode}\n", done.stderr


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    plain, plainly = run(program, "off")
    batched, batchwise = run(program, sys.argv[2] if len(sys.argv) > 2 else None)
    differing = [
        f"- {one}\n+ {other}\n"
        for one, other in zip(plain.splitlines(), batched.splitlines(), strict=False)
        if one != other
    ]
    print("".join(differing[:10]), f"{len(plain.splitlines()) - 1} results, {batchwise}", end="")
    return plain != batched or (plainly, batchwise) != ("state 0\n", "state 1\n")


if __name__ == "__main__":
    sys.exit(main())
