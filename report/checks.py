# SPDX-License-Identifier: MIT
"""Whether the figures in a run are what SciPy makes of its trials."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .schema import (
    AnyRun,
    Apps,
    Batch,
    Cell,
    Comparison,
    Fit,
    Flexsc,
    Measurement,
    Pagefault,
    Ratio,
    Row,
    Series,
    Touch,
)
from .statistics import Line, fit, least, median_interval, quartiles
from .words import significant

TOLERANCE = 1e-6  # of the value: both computed the same from the same numbers
BOOTSTRAP_TOLERANCE = 0.3  # of the error: drawn with other random numbers
RESAMPLES = 800
PARTS = 8

Draw = NDArray[np.int64]  # which trials
Compared = TypeVar("Compared", Cell, Touch)


@dataclass(frozen=True)
class Check:
    what: str
    stated: float | None
    computed: float | None
    scale: float  # what the tolerance is a part of
    tolerance: float = TOLERANCE
    at_least: bool = False  # the stated one may be larger

    def holds(self) -> bool:
        if self.stated is None or self.computed is None:
            return self.stated is self.computed
        slack = self.tolerance * self.scale
        if self.at_least and self.stated > self.computed:
            return True
        return abs(self.stated - self.computed) <= slack

    def complaint(self) -> str:
        stated = "none" if self.stated is None else significant(self.stated, 6)
        computed = "none" if self.computed is None else significant(self.computed, 6)
        return f"{self.what}: the file says {stated}, SciPy computes {computed}."


def exact(what: str, stated: float | None, computed: float | None) -> Check:
    return Check(what, stated, computed, abs(computed or 0))


def row_checks(row: Measurement) -> Iterator[Check]:
    trials = np.asarray(row.trials_ns)
    yield exact(f"{row.name}, mean", row.mean, float(trials.mean()))
    yield exact(f"{row.name}, min", row.min, float(trials.min()))
    yield exact(f"{row.name}, max", row.max, float(trials.max()))
    yield exact(f"{row.name}, median", row.median, quartiles(row.trials_ns)[1])
    if row.sd is not None and len(trials) > 1:
        yield Check(f"{row.name}, sd", row.sd, float(stats.tstd(trials)), float(trials.mean()))


def scatter(statistic: Callable[[Draw], tuple[float, ...]], trials: int) -> list[float]:
    """The scatter of each of the values of STATISTIC when whole trials are drawn anew: the
    least of several bootstraps, since one disturbed draw in a hundred can double it."""
    result = stats.bootstrap(
        (np.arange(trials),),
        statistic,
        vectorized=False,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    drawn = np.asarray(result.bootstrap_distribution).reshape(-1, PARTS, RESAMPLES // PARTS)
    return [float(least) for least in drawn.std(axis=2, ddof=1).min(axis=1)]


def line_of(series: Series, drawn: Draw) -> Line:
    return fit(series.sizes, np.asarray(series.trials_ns)[drawn].min(axis=0))


def error_check(what: str, stated: float, computed: float) -> Check:
    """A stated error may be larger than the bootstrap's: it may hold drift as well."""
    name = f"{what}, at least the bootstrap's"
    return Check(name, stated, computed, computed, BOOTSTRAP_TOLERANCE, at_least=True)


def fit_checks(series: Series, stated: Fit) -> Iterator[Check]:
    name = f"{series.engine} on {series.call}"
    smallest = least(series.trials_ns)
    line = fit(series.sizes, smallest)
    # A small a is the difference of large times, so its digits are theirs.
    yield Check(f"{name}, a", stated.a_ns, line.a, abs(line.a) + float(smallest[0]))
    yield Check(f"{name}, b", stated.b_ns, line.b, abs(line.b))

    def a_and_b(drawn: Draw) -> tuple[float, float]:
        found = line_of(series, drawn)
        return found.a, found.b

    a_error, b_error = scatter(a_and_b, len(series.trials_ns))
    yield error_check(f"{name}, error of a", stated.a_se, a_error)
    yield error_check(f"{name}, error of b", stated.b_se, b_error)


def ratio_checks(ratio: Ratio, series: dict[tuple[str, str], Series]) -> Iterator[Check]:
    own = series.get((ratio.call, ratio.engine))
    other = series.get((ratio.call, ratio.against))
    if not own or not other or not own.fit or not other.fit:
        return
    name = f"{ratio.engine} against {ratio.against} on {ratio.call}"
    yield exact(f"{name}, ratio", ratio.ratio, other.fit.b_ns / own.fit.b_ns)
    if len(own.trials_ns) == len(other.trials_ns):
        # The trials of both were made in turn, so they are drawn together.
        (error,) = scatter(
            lambda drawn: (line_of(other, drawn).b / line_of(own, drawn).b,), len(own.trials_ns)
        )
        yield error_check(f"{name}, error of the ratio", ratio.se, error)


def batch_checks(run: Batch) -> Iterator[Check]:
    series = {(one.call, one.engine): one for one in run.series}
    for one in run.series:
        if one.fit:
            yield from fit_checks(one, one.fit)
    for ratio in run.ratios:
        yield from ratio_checks(ratio, series)


def comparison_checks(comparison: Comparison) -> Iterator[Check]:
    ratios = [against / side for side, against in comparison.pairs_ns]
    name = f"{comparison.app}, {comparison.side} against {comparison.against}"
    ends = median_interval(ratios)
    yield exact(f"{name}, median ratio", comparison.ratio.median, quartiles(ratios)[1])
    yield exact(f"{name}, low end", comparison.ratio.low, ends[0] if ends else None)
    yield exact(f"{name}, high end", comparison.ratio.high, ends[1] if ends else None)


def ratio_to_base(one: Compared, base: Compared | None) -> Iterator[Check]:
    """The median of the ratios, trial by trial."""
    if base:
        # An interrupted trial ends in the middle: the base may have one more.
        pairs = zip(base.trials_ns, one.trials_ns, strict=False)
        ratios = [before / now for before, now in pairs]
        yield exact(f"{one.name}, ratio", one.ratio, quartiles(ratios)[1])


def compared_checks(
    measured: Sequence[Compared], base_way: str, same: Callable[[Compared], object]
) -> Iterator[Check]:
    """Each, also beside the one of BASE_WAY for which SAME gives the same."""
    bases = {same(one): one for one in measured if one.way == base_way}
    for one in measured:
        yield from row_checks(one)
        yield from ratio_to_base(one, bases.get(same(one)))


def cell_checks(run: Flexsc) -> Iterator[Check]:
    cells = [cell for cell in run.cells if isinstance(cell, Cell)]
    return compared_checks(cells, "plain", lambda cell: (cell.call, cell.work_ns))


def touch_checks(run: Pagefault) -> Iterator[Check]:
    touches = [touch for touch in run.touches if isinstance(touch, Touch)]
    return compared_checks(touches, "base", lambda touch: (touch.access, touch.order))


def checks(run: AnyRun) -> list[Check]:
    """Every figure of RUN that was computed again."""
    if isinstance(run, Batch):
        return list(batch_checks(run))
    if isinstance(run, Apps):
        measured = [each for each in run.comparisons if isinstance(each, Comparison)]
        return [check for each in measured for check in comparison_checks(each)]
    if isinstance(run, Flexsc):
        return list(cell_checks(run))
    if isinstance(run, Pagefault):
        return list(touch_checks(run))
    rows = [row for row in run.rows if isinstance(row, Row)]
    return [check for row in rows for check in row_checks(row)]
