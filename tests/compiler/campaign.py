# SPDX-License-Identifier: MIT
"""Many programs of random_calls.py: campaign.py FERRY LOG [FIRST_SEED [FUNCTIONS [MODE [FOLDER]]]].

Each program has 100 functions.  It runs without batches and with them (MODE, as FERRY_AUTO: loop),
and has to return the same.  LOG gets a line for each program; those that it has are not run again,
so that a campaign can be stopped and goes on.  LLVM's version and the level go by the seed.  FOLDER
keeps the programs.  A guest compiles slowly, so the host compiles, and the guest only runs them.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAME_RESULTS = Path(__file__).with_name("same_results.py")
GENERATOR = Path(__file__).with_name("random_calls.py")
EACH = 100
LEVELS = ("-O2", "-O1", "-O3", "-Os")


def options_for(ferry: Path, seed: int) -> list[str]:
    versions = sorted(
        path.stem.rpartition("-")[2] for path in ferry.parent.parent.glob("compiler/ferry-cc-*.so")
    )
    return [f"--llvm={versions[seed % len(versions)]}", LEVELS[seed // 2 % len(LEVELS)]]


def compile_program(ferry: Path, seed: int, program: Path) -> None:
    words = [sys.executable, str(GENERATOR), str(seed), str(EACH)]
    text = subprocess.run(words, capture_output=True, check=True).stdout
    words = [str(ferry), "cc", *options_for(ferry, seed), "-w", f"-I{ROOT / 'include'}"]
    subprocess.run([*words, "-x", "c", "-", "-o", program], input=text, check=True)


def same(ferry: Path, seed: int, mode: str, folder: Path) -> str:
    program = folder / f"program-{seed}"
    if not program.exists():
        compile_program(ferry, seed, program)
    command = [sys.executable, str(SAME_RESULTS), str(program), mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout, end="")
    verdict = "differs" if done.returncode else "same"
    return f"{seed} {verdict} {EACH} {' '.join(options_for(ferry, seed))} {mode}"


def main() -> int:
    ferry, log = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    first, functions = (
        int(word) for word in (*sys.argv[3:5], *("1", "10000")[len(sys.argv[3:5]) :])
    )
    mode = sys.argv[5] if len(sys.argv) > 5 else "loop"
    lines = log.read_text().splitlines() if log.exists() else []
    done = {int(line.split()[0]) for line in lines}
    os.nice(5)
    with tempfile.TemporaryDirectory(prefix="ferry-cc-") as temporary:
        folder = Path(sys.argv[6] if len(sys.argv) > 6 else temporary).resolve()
        for seed in range(first, first + functions // EACH):
            if seed in done:
                continue
            lines.append(same(ferry, seed, mode, folder))
            with log.open("a") as out:
                out.write(lines[-1] + "\n")
            print(lines[-1], flush=True)
    differing = [line for line in lines if line.split()[1] == "differs"]
    print(f"{len(lines) * EACH} functions, {len(differing)} programs differ")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
