#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how many of the places that KCOV knows were reached, file by file, and what was not.

PLACES is a file of the lab (lab/kernels/places.py), and each REACHED one that `fuzz --reached` or
`storm --reached` wrote.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Of files that have more than the series, what the series adds there, calls or is called by.
CALLERS = {
    "kernel/seccomp.c": ("seccomp_permit_call", "seccomp_permit_subcall", "__seccomp_filter"),
    "mm/memory.c": ("do_anonymous_page", "wp_page_copy"),
}


@dataclass(frozen=True)
class Place:
    """A basic block: where it is, and in which function it ended up."""

    address: int
    file: str  # that was compiled
    function: str  # as written
    line: str  # FILE:LINE, of a header if the function is inlined from there
    within: tuple[str, ...]  # the functions that it was inlined into

    @property
    def counts(self) -> bool:
        wanted = CALLERS.get(self.file)
        return wanted is None or any(name in wanted for name in (self.function, *self.within))


def read_places(path: Path) -> list[Place]:
    places = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        try:
            address, file, function, line, *within = text.split()
            places.append(Place(int(address, 16), file, function, line, tuple(within)))
        except ValueError:
            sys.exit(f"report: {path}:{number}: no line of a list of places: '{text}'")
    return [place for place in places if place.counts]


def read_reached(paths: Iterable[Path]) -> set[int]:
    reached: set[int] = set()
    for path in paths:
        for number, text in enumerate(path.read_text().splitlines(), 1):
            try:
                reached.add(int(text, 16))
            except ValueError:
                sys.exit(f"report: {path}:{number}: '{text}' is not an address")
    return reached


def table(places: list[Place], reached: set[int]) -> Iterator[str]:
    files = list(dict.fromkeys(place.file for place in places))
    yield f"{'FILE':<32}{'REACHED':>8}{'THERE':>7}"
    for file in [*files, "all"]:
        there = [place for place in places if file in (place.file, "all")]
        here = sum(place.address in reached for place in there)
        yield f"{file:<32}{here:>8}{len(there):>7}{100 * here / len(there):>6.0f} %"


def never_entered(places: list[Place], reached: set[int]) -> Iterator[str]:
    """Functions of the files, not of headers, of which no place was reached, inlined or not."""
    own = [place for place in places if place.line.startswith(f"{place.file}:")]
    entered = {(p.file, p.function) for p in own if p.address in reached}
    there = dict.fromkeys((p.file, p.function) for p in own)
    for file, function in there:
        if (file, function) not in entered:
            yield f"  {file} {function}"


def never_reached(places: list[Place], reached: set[int]) -> Iterator[str]:
    for place in sorted(places, key=lambda place: (place.file, place.line)):
        if place.address not in reached:
            yield f"  {place.line} {place.function}  ({' < '.join(place.within)})"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("places", type=Path, metavar="PLACES")
    parser.add_argument("reached", type=Path, nargs="+", metavar="REACHED")
    parser.add_argument("--missing", action="store_true", help="also list each place not reached")
    return parser.parse_args()


def main() -> None:
    args = parse()
    try:
        places, reached = read_places(args.places), read_reached(args.reached)
    except OSError as error:
        sys.exit(f"report: {error.filename}: {error.strerror}")
    if not places:
        sys.exit(f"report: {args.places} has no places: was the kernel built with KCOV?")
    print("\n".join(table(places, reached)))
    print("functions never entered:", *never_entered(places, reached), sep="\n")
    if args.missing:
        print("places never reached:", *never_reached(places, reached), sep="\n")


if __name__ == "__main__":
    main()
