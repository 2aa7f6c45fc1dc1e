# SPDX-License-Identifier: MIT
"""The same figure in several runs, and in the earlier run that a run was compared with."""

import math
from collections.abc import Sequence

from .folder import Measured
from .schema import (
    Against,
    AnyRun,
    Apps,
    Batch,
    Cell,
    Comparison,
    Flexsc,
    Pagefault,
    Row,
    Touch,
)
from .section import Table
from .statistics import NORMAL_95
from .words import NONE, significant, with_error

Figures = dict[str, tuple[float, float | None]]  # what: value and standard error


def figures(run: AnyRun) -> Figures:
    """The figures by which runs of a bench are compared."""
    if isinstance(run, Batch):
        return batch_figures(run)
    if isinstance(run, Apps):
        return {
            f"{each.app}: {each.side} / {each.against}, ratio": (each.ratio.median, None)
            for each in run.comparisons
            if isinstance(each, Comparison)
        }
    if isinstance(run, Flexsc):
        cells = [cell for cell in run.cells if isinstance(cell, Cell)]
        return {f"{cell.name}, ns": (cell.median, cell.se) for cell in cells}
    if isinstance(run, Pagefault):
        touches = [touch for touch in run.touches if isinstance(touch, Touch)]
        return {f"{touch.name}, ns": (touch.median, touch.se) for touch in touches}
    return {f"{row.label}, ns": (row.median, row.se) for row in run.rows if isinstance(row, Row)}


def batch_figures(run: Batch) -> Figures:
    found: Figures = {}
    for series in run.series:
        if series.fit:
            name = f"{series.engine} on {series.call}"
            found[f"{name}: a, ns"] = (series.fit.a_ns, series.fit.a_se)
            found[f"{name}: b, ns"] = (series.fit.b_ns, series.fit.b_se)
    return found


def differ(one: tuple[float, float | None], other: tuple[float, float | None]) -> bool:
    if one[1] is None or other[1] is None:
        return False
    return abs(one[0] - other[0]) > NORMAL_95 * math.hypot(one[1], other[1])


def runs_table(measured: Sequence[Measured]) -> Table | None:
    """The figures that several of MEASURED have, or None.  All are of one bench."""
    if len(measured) < 2:
        return None
    found = [figures(each.run) for each in measured]
    names = list(dict.fromkeys(name for each in found for name in each))
    shared = [name for name in names if sum(name in each for each in found) > 1]
    if not shared:
        return None

    def cells(name: str) -> list[str]:
        there = [each[name] for each in found if name in each]
        values = [with_error(*each[name]) if name in each else NONE for each in found]
        if any(error is None for _, error in there):
            return [name, *values, "not known"]
        return [name, *values, "yes" if any(differ(there[0], one) for one in there) else "no"]

    return Table(
        title=f"{measured[0].run.bench}: the same figures, run by run (± one standard error)",
        head=["", *(f"{each.file}, {each.run.started}" for each in measured), "differ"],
        rows=[cells(name) for name in shared],
        open=True,
    )


def against_table(against: Against) -> Table:
    return Table(
        title=f"Compared with {against.file} of {against.started} (± one standard error)",
        head=["figure", "before", "now", "now / before", "differ"],
        rows=[
            [
                f"{row.what}, {row.unit}",
                with_error(row.before, row.before_se),
                with_error(row.now, row.now_se),
                significant(row.now / row.before) if row.before else NONE,
                "yes" if row.different else "no",
            ]
            for row in against.rows
        ],
    )
