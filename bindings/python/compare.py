#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares functions of ferry with plain Python: wall time and CPU time, the sides in turns.

Usage: compare.py [TREE [ROUNDS]]

A ratio says how many times as fast ferry was: the median of the rounds, and their range.  Wall time
is of use on a machine that is idle otherwise; CPU time hardly depends on that.
"""

import hashlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

# In a build tree the package is in the folder below this file's.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "build" / "bindings" / "python"))
import ferry

Side = Callable[[], object]

MOST_FILES = 20_000
LARGEST = 64 << 10


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def cpu_time() -> float:
    times = os.times()
    return times.user + times.system


def measure(side: Side) -> tuple[float, float, object]:
    cpu, wall = cpu_time(), time.perf_counter()
    result = side()
    return time.perf_counter() - wall, cpu_time() - cpu, result


def in_words(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):5.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def compare(what: str, ours: Side, theirs: Side, rounds: int) -> None:
    walls, cpus = [], []
    for turn in range(rounds + 1):
        sides = (ours, theirs) if turn % 2 else (theirs, ours)
        taken = {side: measure(side) for side in sides}
        assert taken[ours][2] == taken[theirs][2], f"{what}: the results differ"
        if turn:  # the first is to warm up
            walls.append(taken[theirs][0] / taken[ours][0])
            cpus.append(taken[theirs][1] / max(taken[ours][1], 1e-3))
    print(f"{what:<44} {in_words(walls):>20} {in_words(cpus):>20}", flush=True)


def main() -> None:
    tree = sys.argv[1] if len(sys.argv) > 1 else "/usr/share"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    found = ferry.walk(tree, stat=["size"])
    small = (found["type"] == ferry.DT_REG) & (found["size"] < LARGEST)
    names = found.paths(small).tolist()[:MOST_FILES]
    print(f"{len(names)} files below 64 KiB of {tree}, {len(found)} entries; {rounds} rounds\n")
    print(f"{'':<44} {'wall time':>20} {'CPU time':>20}")

    def plainly() -> int:
        return sum(len(read(name)) for name in names)

    sides: list[tuple[str, Side, Side]] = [
        (
            "list(read_many()), open().read()",
            lambda: sum(map(len, list(ferry.read_many(names, regular=True)))),
            lambda: sum(map(len, [read(name) for name in names])),
        ),
        (
            "read_many(views=True), open().read()",
            lambda: sum(map(len, ferry.read_many(names, regular=True, views=True))),
            plainly,
        ),
        (
            'hash_many("sha256"), hashlib in a loop',
            lambda: ferry.hash_many(names, "sha256", regular=True),
            lambda: [hashlib.sha256(read(name)).digest() for name in names],
        ),
        (
            "walk_blocks(), walk()",
            lambda: sum(map(len, ferry.walk_blocks(tree, stat=True))),
            lambda: len(ferry.walk(tree, stat=True)),
        ),
    ]
    for what, ours, theirs in sides:
        compare(what, ours, theirs, rounds)


if __name__ == "__main__":
    main()
