# SPDX-License-Identifier: MIT
"""The cells of `ferry bench flexsc`: their names, which are shown, where flexsc is ahead."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .axes import size_ticks
from .schema import Cell
from .words import counted

USUAL_THREADS, USUAL_WORK = 64, 150.0  # most is said of what is nearest to these
MOST_RUNNERS, MOST_THREADS = 4, 8  # in a figure; the table has all
WAYS = {"batch": "batches of 64", "uring": "io_uring", "sqpoll": "io_uring, SQPOLL"}


def cpu(cell: Cell) -> float:
    """CPU time of both sides, ns per call."""
    return cell.caller_cpu_ns + cell.other_cpu_ns


def nearest(values: Sequence[float], wanted: float) -> float:
    return min(values, key=lambda value: abs(value - wanted))


def some(values: set[int], most: int) -> list[int]:
    return [int(value) for value in size_ticks(sorted(values), most)]


@dataclass(frozen=True)
class Call:
    """What was measured of a call, with at least one cell of flexsc and one of plain calls."""

    name: str
    cells: Sequence[Cell]

    @property
    def flexsc(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.way == "flexsc"]

    @property
    def threads(self) -> int:
        """Of which most is said."""
        return int(nearest([cell.threads or 0 for cell in self.flexsc], USUAL_THREADS))

    @property
    def work(self) -> float:
        """Of which most is said, ns."""
        return nearest([cell.work_ns for cell in self.flexsc], USUAL_WORK)

    @property
    def runners(self) -> list[int]:
        """The numbers of runners that are shown: the first and the last, and some between."""
        return some({cell.runners or 0 for cell in self.flexsc}, MOST_RUNNERS)

    def plain(self, work: float) -> Cell | None:
        found = (cell for cell in self.cells if cell.way == "plain" and cell.work_ns == work)
        return next(found, None)

    def others(self) -> list[Cell]:
        """The ways that have no threads, at the usual work; plain calls first."""
        return [cell for cell in self.cells if cell.way != "flexsc" and cell.work_ns == self.work]

    def by_threads(self, runners: int) -> list[Cell]:
        """Of flexsc, at the usual work."""
        found = [cell for cell in self.flexsc if cell.work_ns == self.work]
        found = [cell for cell in found if cell.runners == runners]
        return sorted(found, key=lambda cell: cell.threads or 0)

    def by_work(self, way: str, runners: int | None = None) -> list[Cell]:
        """Of flexsc, with the usual threads."""
        found = [cell for cell in self.cells if cell.way == way and cell.runners == runners]
        found = [cell for cell in found if cell.threads in (None, self.threads)]
        return sorted(found, key=lambda cell: cell.work_ns)

    def usual(self) -> Cell | None:
        """Of flexsc, with the usual threads and work and the fewest runners."""
        found = (cell for cell in self.flexsc if cell.threads == self.threads)
        return next((cell for cell in found if cell.work_ns == self.work), None)

    def shown(self) -> list[Cell]:
        """Of flexsc at the usual work: the threads with the fewest runners, then more runners."""
        fewest = self.by_threads(self.runners[0])
        threads = some({cell.threads or 0 for cell in fewest}, MOST_THREADS) if fewest else []
        more = [cell for runners in self.runners[1:] for cell in self.by_threads(runners)]
        return [cell for cell in fewest if cell.threads in {*threads, self.threads}] + [
            cell for cell in more if cell.threads == self.threads
        ]

    def trial_ratios(self, cell: Cell) -> list[float]:
        """Times the throughput of plain calls, trial by trial."""
        base = self.plain(cell.work_ns)
        # An interrupted trial ends in the middle: plain calls may have one more.
        pairs = zip(base.trials_ns, cell.trials_ns, strict=False) if base else ()
        return [before / now for before, now in pairs]


def label(cell: Cell) -> str:
    if cell.way == "flexsc":
        return f"{counted(cell.threads or 0, 'thread')} and {counted(cell.runners or 0, 'runner')}"
    return WAYS.get(cell.way, "plain calls")


def ahead(cells: Sequence[Cell]) -> list[tuple[float, float]]:
    """The ranges of W in which the ratio is above 1, by straight lines between those measured.

    CELLS are in the order of their work."""
    found = []
    start = cells[0].work_ns if cells and cells[0].ratio > 1 else None
    for one, other in pairwise(cells):
        if (one.ratio > 1) == (other.ratio > 1):
            continue
        share = (1 - one.ratio) / (other.ratio - one.ratio)
        crossing = one.work_ns + share * (other.work_ns - one.work_ns)
        if start is None:
            start = crossing
        else:
            found.append((start, crossing))
            start = None
    return found if start is None else [*found, (start, cells[-1].work_ns)]


def break_evens(cells: Sequence[Cell]) -> list[float]:
    """The W at which the ratio crosses 1."""
    measured = {cell.work_ns for cell in cells[:1]} | {cell.work_ns for cell in cells[-1:]}
    return [end for ends in ahead(cells) for end in ends if end not in measured]


def wins(cell: Cell) -> bool:
    return cell.ratio > 1 and cell.significant
