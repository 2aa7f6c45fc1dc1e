# SPDX-License-Identifier: MIT
"""The same figures in several runs."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from .document import KINDS, Column, Run, Table
from .files import Measured
from .words import NONE, joined, with_error


def figures(run: Run) -> dict[str, tuple[float, float | None]]:
    return {f"{one.what}, {one.unit}": (one.value, one.se) for one in run.figures}


def differ(values: Sequence[tuple[float, float | None]], limit: float) -> str:
    """Whether the first differs from any other by more than LIMIT errors of the difference."""
    (first, first_se), *others = values
    far = False
    for value, se in others:
        if first_se is None or se is None:
            return "not known"
        far = far or abs(value - first) > limit * math.hypot(first_se, se)
    return "yes" if far else "no"


def name_of(each: Measured) -> str:
    """A heading: to the minute, and without the bench, which the table names."""
    name = each.file.removesuffix(f"/{each.run.bench}.json")
    started = each.run.started[:16].replace("T", " ")
    return f"{name}, {started}" + ("" if each.run.complete else ", incomplete")


def reasons(measured: Sequence[Measured]) -> list[str]:
    """Why runs share no figure with another."""
    found = []
    for each in measured:
        others = [one for one in measured if one is not each and one.run.bench == each.run.bench]
        mine = figures(each.run).keys()
        if any(mine & figures(other.run).keys() for other in others):
            continue
        why = [
            f"{other.file} counts {other.run.unit} instead of {each.run.unit}"
            if other.run.unit != each.run.unit
            else f"{other.file} measured other things"
            for other in others
        ]
        alone = f"no other run is of the bench {each.run.bench}"
        found.append(f"{each.file}: {joined(why) or alone}.")
    return found


def runs_table(measured: Sequence[Measured]) -> Table | None:
    """The figures that several of MEASURED have, or None.  All are of one bench."""
    found = [figures(each.run) for each in measured]
    names = dict.fromkeys(name for each in found for name in each)
    shared = [name for name in names if sum(name in each for each in found) > 1]
    if not shared:
        return None
    tests = len(shared) * (len(measured) - 1)
    limit = NormalDist().inv_cdf(1 - 0.025 / tests)
    headings = ["", *(name_of(each) for each in measured), "differ"]
    return Table(
        title=f"{measured[0].run.bench}: the same figures, run by run (± one standard error)",
        columns=[Column(heading=heading, text=False) for heading in headings],
        rows=[
            [
                name,
                *(with_error(*each[name]) if name in each else NONE for each in found),
                differ([each[name] for each in found if name in each], limit),
            ]
            for name in shared
        ],
    )


def histories(measured: Sequence[Measured]) -> list[Table]:
    by_bench = [[each for each in measured if each.run.bench == bench] for bench in KINDS]
    return [shared for runs in by_bench if len(runs) > 1 and (shared := runs_table(runs))]
