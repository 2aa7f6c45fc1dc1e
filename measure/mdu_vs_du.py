#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times `mdu -b DIR` against `du -sbl DIR` on a warm tree, in interleaved pairs."""

import argparse
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENTRIES = 100_000
TARGET = 1.15
SEED = 1


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Example: measure/mdu_vs_du.py --mdu build/examples/mdu /usr"
    )
    parser.add_argument("dir", nargs="?", help="the tree; otherwise one is made and removed again")
    parser.add_argument("--mdu", help="the mdu to run; otherwise $FERRY_BUILD/examples/mdu")
    parser.add_argument("--pairs", type=int, default=21, help="pairs of runs (default: 21)")
    parser.add_argument("--engine", default="loop", help="mdu's FERRY_ENGINE (default: loop)")
    args = parser.parse_args()
    if args.pairs < 2:
        parser.error(f"--pairs is {args.pairs}: it must be 2 or more")
    if not args.mdu and "FERRY_BUILD" not in os.environ:
        parser.error("give --mdu, or set FERRY_BUILD to the build directory")
    args.mdu = args.mdu or str(Path(os.environ["FERRY_BUILD"], "examples", "mdu"))
    for path, good, what in (
        (args.mdu, os.access(args.mdu, os.X_OK), "a program"),
        (args.dir, args.dir is None or Path(args.dir).is_dir(), "a directory"),
    ):
        if not good:
            parser.error(f"{path}: not {what}")
    return args


def make_tree(root: Path) -> None:
    """
    Directories of 3 to 100 files, half of them with fewer than 17, and some of thousands.

    28 on average: more than in the source of Linux (15) or in Debian's /usr (9), so the
    work per directory, where mdu saves most, counts less than there.
    """
    rng = random.Random(SEED)
    parents = [root]
    made = 0
    while made < ENTRIES:
        parent = rng.choice(parents[-200:])
        directory = parent / f"directory-{made}"
        directory.mkdir()
        parents.append(directory)
        few = int(100 ** rng.uniform(0.24, 1))
        count = rng.randint(2000, 5000) if rng.random() < 0.002 else few
        made += count
        for i in range(count):
            path = f"{directory}/{rng.getrandbits(rng.choice((16, 40, 64))):x}-{i}"
            if rng.random() < 0.03:
                Path(path).symlink_to("elsewhere")
                continue
            fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
            os.ftruncate(fd, rng.randrange(16384))
            os.close(fd)


def timed(command: list[str], env: dict[str, str]) -> tuple[float, str]:
    start = time.perf_counter()
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE)
    took = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{command[0]}: exit status {done.returncode}")
    return took, os.fsdecode(done.stdout)


def cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown CPU"


def count_entries(root: str) -> tuple[int, int]:
    """How many entries there are, the root among them, and how many are directories."""
    walked = [(len(dirs), len(files)) for _, dirs, files in os.walk(root)]
    directories = 1 + sum(dirs for dirs, _ in walked)
    return directories + sum(files for _, files in walked), directories


def compare(args: argparse.Namespace, root: str) -> None:
    env = dict(os.environ, FERRY_ENGINE=args.engine, LC_ALL="C")
    mdu, du = [args.mdu, "-b", root], ["du", "-sbl", root]
    version = subprocess.run(["du", "--version"], env=env, stdout=subprocess.PIPE, text=True).stdout
    print(f"machine  {cpu()}, {os.cpu_count()} CPUs, {platform.platform()}")
    print(f"du       {version.splitlines()[0]}")
    entries, directories = count_entries(root)
    made = "" if args.dir else f" (seed {SEED})"
    print(f"tree     {root}{made}: {entries} entries, {directories} of them directories; warm")
    times: dict[str, list[float]] = {"mdu": [], "du": []}
    # One CPU for both: a program that moves to another begins there with cold caches.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for pair in range(-1, args.pairs):
        # Who goes first alternates, so that what one leaves behind helps both alike.
        order = (("mdu", mdu), ("du", du))[:: -1 if pair % 2 else 1]
        took = {name: timed(command, env) for name, command in order}
        if took["mdu"][1] != took["du"][1]:
            sys.exit(f"totals differ: mdu {took['mdu'][1]!r}, du {took['du'][1]!r}")
        if pair >= 0:
            for name in times:
                times[name].append(took[name][0])
    report(times, args.engine)


def report(times: dict[str, list[float]], engine: str) -> None:
    for name, values in times.items():
        label = f"mdu ({engine})" if name == "mdu" else name
        low, middle = min(values) * 1e3, statistics.median(values) * 1e3
        print(f"{label:12} minimum {low:.1f} ms, median {middle:.1f} ms")
    ratios = [du / mdu for mdu, du in zip(times["mdu"], times["du"], strict=True)]
    first, median, third = statistics.quantiles(ratios, n=4)
    print(
        f"mdu is {median:.2f} times as fast as du -sbl "
        f"(median of {len(ratios)} pairs; quartiles {first:.2f} to {third:.2f})"
    )
    if first <= 1 <= third:
        print("the noise could have made this difference")
    print(f"target {TARGET}: {'met' if median >= TARGET else 'NOT met'}")


def main() -> None:
    args = parse()
    if args.dir:
        compare(args, args.dir)
        return
    root = tempfile.mkdtemp(prefix="mdu-bench-")
    try:
        make_tree(Path(root))
        compare(args, root)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
