# SPDX-License-Identifier: MIT
"""The tour that `make run` gives: what is here, and what batching does with real work.

Usage: show.py [BUILD] [DIRECTORY]

Sums the small files of DIRECTORY (/usr) and walks it with every engine that is here, the
engines in turn, and times small writes and reads on the loop and on io_uring.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median

from tqdm import tqdm

ROUNDS = 3
NAMES_PER_RUN = 4000
LARGEST = 256 * 1024  # bytes; larger files would time the summing


def heading(text: str) -> None:
    print(f"\n== {text}\n", flush=True)


def run(command: Sequence[str], engine: str) -> str:
    """What COMMAND prints under ENGINE.  Files that vanish meanwhile are no failure."""
    environment = os.environ | {"FERRY_ENGINE": engine}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"show: {command[0]} failed under {engine}:\n{done.stderr}")
    return done.stdout


def engines(ferry: Path) -> list[str]:
    probe = json.loads(run([str(ferry), "probe", "--json"], "auto"))
    return [engine["name"] for engine in probe["engines"] if engine["here"]]


def small_files(directory: Path) -> list[str]:
    def too_large(path: Path) -> bool:
        try:
            status = path.lstat()
        except OSError:
            return True
        return status.st_size > LARGEST

    found = []
    for root, _, names in os.walk(directory):
        paths = (Path(root) / name for name in names)
        found += [
            str(path)
            for path in paths
            if not path.is_symlink() and path.is_file() and not too_large(path)
        ]
    return found


def chunks(names: Iterable[str], size: int) -> Iterable[list[str]]:
    iterator = iter(names)
    while chunk := list(islice(iterator, size)):
        yield chunk


def total(program: Path, names: list[str], engine: str) -> int:
    return sum(int(run([str(program), *chunk], engine)) for chunk in chunks(names, NAMES_PER_RUN))


def compare(engines: Sequence[str], work: Callable[[str], object]) -> None:
    """Times WORK(engine), engines in turn, and checks that all say the same."""
    answers: dict[str, object] = {}
    times: dict[str, list[float]] = {engine: [] for engine in engines}
    steps = [engine for _ in range(ROUNDS + 1) for engine in engines]
    for step, engine in enumerate(tqdm(steps, disable=None, leave=False, unit="run")):
        start = time.perf_counter()
        answers[engine] = work(engine)
        if step >= len(engines):  # the first round warms the caches
            times[engine].append(time.perf_counter() - start)
    if len(set(answers.values())) != 1:
        sys.exit(f"show: the engines disagree: {answers}")
    loop = times["loop"]
    print(f"{'ENGINE':<10} {'SECONDS':>8}  {'AGAINST LOOP':>12}")
    for engine in engines:
        ratio = median(base / own for base, own in zip(loop, times[engine], strict=True))
        print(f"{engine:<10} {median(times[engine]):>8.3f}  {ratio:>11.2f}x")
    print(f"all say {next(iter(answers.values()))}", flush=True)


def main() -> int:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    directory = Path(sys.argv[2] if len(sys.argv) > 2 else "/usr")
    ferry = build / "tools" / "ferry"
    if not ferry.exists():
        sys.exit(f"show: {ferry} is not there; 'make build' makes it")

    heading("What this machine has (ferry probe)")
    subprocess.run([ferry, "probe"], check=True)

    here = [*engines(ferry), "auto"]
    names = small_files(directory)
    heading(
        f"total: {len(names):,} files of {directory} up to {LARGEST // 1024} KiB, "
        "opened, mapped and closed in one batch each"
    )
    compare(here, lambda engine: total(build / "examples" / "total", names, engine))

    heading(f"mdu: the whole of {directory}, sizes by batches of statx")
    compare(here, lambda engine: run([str(build / "examples" / "mdu"), str(directory)], engine))

    heading("Small writes and reads: the loop against io_uring (uring_vs_loop)")
    contest = [str(build / "bench" / "uring_vs_loop"), "--pairs", "101"]
    return subprocess.run(contest, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
