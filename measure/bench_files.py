# SPDX-License-Identifier: MIT
"""The Python sides of `ferry bench files`, which take turns; a line of JSON for each pair of sides.

Usage: bench_files.py TREE PAIRS WARMUP < NAMES

NAMES are paths of files with a NUL byte after each.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
# In a build tree the package is in the folder beside this one.
sys.path.append(str(Path(__file__).parent.parent / "bindings" / "python"))

Side = tuple[str, Callable[[], object]]


def package(name: str) -> Any:  # noqa: ANN401 (a module)
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


ferry, scandir_rs = package("ferry"), package("scandir_rs")


def say(side: str, against: str, **more: object) -> None:
    print(json.dumps({"side": f"{side}, {PYTHON}", "against": against} | more), flush=True)


def compare(what: str, ours: Side, theirs: Side, repeats: int = 1) -> None:
    """Prints how long both took, pair by pair, and whether they returned the same."""
    pairs, equal = int(sys.argv[2]), True
    times: list[list[int]] = []
    cpu_times: list[list[int]] = []
    for trial in range(pairs + int(sys.argv[3])):
        taken, used, found = [0, 0], [0, 0], [None, None]  # type: list[int], list[int], list[object]
        for side in (0, 1) if trial % 2 == 0 else (1, 0):
            run = (ours, theirs)[side][1]
            start, cpu = time.perf_counter_ns(), time.process_time_ns()
            for _ in range(repeats):
                found[side] = run()
            taken[side] = time.perf_counter_ns() - start
            used[side] = time.process_time_ns() - cpu
        times.append(taken)
        cpu_times.append(used)
        equal = equal and found[0] == found[1]
    kept = {"pairs_ns": times[-pairs:], "pairs_cpu_ns": cpu_times[-pairs:]}
    say(ours[0], theirs[0], what=what, equal=equal, **kept)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def walk_and_stat(tree: str) -> int:
    count = 1
    for root, directories, files in os.walk(tree):
        for name in directories + files:
            os.lstat(os.path.join(root, name))
            count += 1
    return count


def scan(tree: str) -> int:
    count = 1
    with os.scandir(tree) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)
            count += scan(entry.path) if entry.is_dir(follow_symlinks=False) else 1
    return count


def compare_small(names: list[str], count: int) -> None:
    few, words = names[:count], f"{count} paths" if count != 1 else "one path"
    compare(
        f"Both ask for the attributes of {words}, 500 times.",
        (f"stat_many, {words}", lambda: len(ferry.stat_many(few)[0])),
        ("os.stat", lambda: len([os.stat(name) for name in few])),
        500,
    )
    compare(
        f"Both read {words}, 500 times.",
        (f"read_many, {words}", lambda: sum(map(len, ferry.read_many(few, regular=True)))),
        ("open().read()", lambda: sum(len(read(name)) for name in few)),
        500,
    )


def compare_all(tree: str, names: list[str]) -> None:
    stat_what = f"Both ask for the attributes of {len(names)} files."
    read_what = f"Both read {len(names)} files below 64 KiB"
    walk_what = "Both ask for the attributes of everything in a tree."

    compare(
        stat_what,
        ("stat_many", lambda: int(ferry.stat_many(names)[0]["size"].sum())),
        ("os.stat", lambda: sum(each.st_size for each in [os.stat(n) for n in names])),
    )
    compare(
        f"{read_what}, and keep all of them.",
        ("list(read_many)", lambda: sum(map(len, list(ferry.read_many(names, regular=True))))),
        ("open().read()", lambda: sum(map(len, [read(name) for name in names]))),
    )
    compare(
        f"{read_what}, one after the other.",
        (
            "read_many as views",
            lambda: sum(map(len, ferry.read_many(names, regular=True, views=True))),
        ),
        ("open().read()", lambda: sum(len(read(name)) for name in names)),
    )
    walk = ("walk", lambda: len(ferry.walk(tree, stat=True)))
    compare(walk_what, walk, ("os.walk and os.lstat", lambda: walk_and_stat(tree)))
    compare(walk_what, walk, ("os.scandir", lambda: scan(tree)))
    if scandir_rs:

        def collect() -> int:
            entries = scandir_rs.Scandir(tree, return_type=scandir_rs.ReturnType.Ext)
            return 1 + len(entries.collect()[0])

        compare(walk_what, walk, ("scandir_rs", collect))
    for count in (0, 1, 10):
        compare_small(names, count)


def main() -> None:
    names = os.fsdecode(sys.stdin.buffer.read()).split("\0")[:-1]
    if ferry:
        compare_all(sys.argv[1], names)
    else:
        say("ferry", "plain calls", missing=f"{PYTHON} has no package ferry")


if __name__ == "__main__":
    main()
