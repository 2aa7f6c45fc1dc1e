#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often the same bench, run twice, agrees with itself within its own stated errors."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

TARGET = 0.8


@dataclass
class Tally:
    """How many comparisons of each figure there were, and how many agreed."""

    made: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)

    def add(self, rows: list[dict[str, object]]) -> None:
        for row in rows:
            what = str(row["what"])
            self.made[what] += 1
            self.agreed[what] += not row["different"]


def parse() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        description=__doc__,
        usage="%(prog)s [--times N] [--ferry FERRY] BENCH [OPTION...]",
        epilog="What it does not know it gives to ferry bench. "
        "Example: measure/repeatability.py --times 20 batch --call write",
    )
    parser.add_argument("--times", type=int, default=10, help="pairs of runs (default: 10)")
    parser.add_argument("--ferry", default="build/cli/ferry", help="the ferry to run")
    parser.add_argument("bench", help="crossing, batch, dispatch or apps")
    args, options = parser.parse_known_args()
    if args.times < 1:
        parser.error(f"--times is {args.times}: it must be 1 or more")
    if not Path(args.ferry).is_file():
        parser.error(f"{args.ferry}: not there; 'make build' makes it")
    return args, options


def bench(ferry: str, words: list[str]) -> None:
    done = subprocess.run([ferry, "bench", *words], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def run_twice(args: argparse.Namespace, options: list[str], scratch: Path) -> dict[str, object]:
    """The second run, which holds the comparison with the first."""
    first, second = scratch / "first.json", scratch / "second.json"
    bench(args.ferry, [args.bench, *options, "--json", str(first)])
    bench(args.ferry, [args.bench, *options, "--json", str(second), "--against", str(first)])
    document: dict[str, object] = json.loads(second.read_text())
    return document


def report(tally: Tally, busiest: float) -> bool:
    for what, made in tally.made.items():
        print(f"{tally.agreed[what]:4} of {made:<4} {what}")
    made, agreed = tally.made.total(), tally.agreed.total()
    print(f"{agreed} of {made} figures agree ({agreed / made:.0%}); wanted {TARGET:.0%}")
    if busiest > 0.02:
        print(f"The machine was not quiet: others took up to {busiest:.0%} of the CPU in a run.")
    return agreed >= TARGET * made


def main() -> int:
    args, options = parse()
    tally = Tally()
    busiest = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        for _ in tqdm(range(args.times), disable=None, leave=False, unit="pair"):
            document = run_twice(args, options, Path(scratch))
            against, machine = document["against"], document["machine"]
            assert isinstance(against, dict) and isinstance(machine, dict)
            tally.add(against["rows"])
            busiest = max(busiest, machine["others"] or 0.0)
    return 0 if report(tally, busiest) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
