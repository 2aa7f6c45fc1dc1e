# SPDX-License-Identifier: MIT
"""What `ferry bench batch` measured: cost against batch size, engine against engine."""

from collections.abc import Callable, Sequence

import numpy as np

from .charts import Floats, Line, RatioRow, colour_of, draw_lines, draw_ratios, marker
from .document import Batch, Fit, Ratio, Series
from .drawing import Panel, time_label
from .section import Figure, Section, Table, table
from .words import NONE, percent, significant, unit, whole, with_error, yes_no

NORMAL_95 = 1.96  # standard errors to either side of a 95 % interval
NOTE = (
    "Large marks: the least time of each size; dots: every trial, those beyond the scale at its "
    "edge. Lines: a + bN fitted to the least times; shaded: the 95 % band from the errors of a "
    "and b. All scales are logarithmic. Where the time of each {item} falls with N, they share "
    "the cost of the batch."
)


def item(series: Series) -> str:
    return "slot" if series.body == 1 else "copy"


def least(series: Series) -> list[float]:
    return [min(times) for times in zip(*series.trials_ns, strict=True)]


def band(series: Series, fit: Fit, divided: bool) -> tuple[Floats, Floats, Floats, Floats]:
    n = np.geomspace(min(series.sizes), max(series.sizes), 60)
    line = fit.a_ns + fit.b_ns * n
    variance = fit.a_se**2 + 2 * fit.correlation * fit.a_se * fit.b_se * n + (fit.b_se * n) ** 2
    half = NORMAL_95 * np.sqrt(np.maximum(variance, 0))
    low = np.maximum(line - half, 1e-3)  # a logarithmic scale has no 0
    scale = n if divided else np.ones_like(n)
    return n, line / scale, low / scale, (line + half) / scale


def line(series: Series, divided: bool) -> Line:
    """The time of a batch by its size, or DIVIDED by the size that of a slot."""

    trials = [
        [ns / size if divided else ns for ns in times]
        for size, times in zip(series.sizes, zip(*series.trials_ns, strict=True), strict=True)
    ]
    return Line(
        name=series.engine,
        colour=colour_of(series.engine),
        marker=marker(series.engine),
        x=list(map(float, series.sizes)),
        y=list(map(min, trials)),
        trials=trials,
        style="none",
        band=band(series, series.fit, divided) if series.fit else None,
    )


def cost_figure(name: str, series: Sequence[Series]) -> Figure:
    first = series[0]

    def panel(what: str, title: str, divided: bool) -> Panel:
        lines = [line(one, divided) for one in series]
        x_label = f"{'slots' if first.body == 1 else 'copies'} in a batch (N)"
        return draw_lines(f"{name}-{what}", title, x_label, lines, time_label)

    return Figure(
        name=name,
        title=f"Cost against batch size: {first.label}",
        panels=[
            panel("whole", "time of a whole batch", divided=False),
            panel("divided", f"time of each {item(first)}", divided=True),
        ],
        note=NOTE.format(item=item(first)),
        about={first.call},
    )


def ratio_row(ratio: Ratio) -> RatioRow:
    half = NORMAL_95 * ratio.se
    return RatioRow(
        label=f"{ratio.call}: {ratio.engine} / {ratio.against}",
        text=with_error(ratio.ratio, ratio.se),
        engine=ratio.engine,
        value=ratio.ratio,
        interval=(max(ratio.ratio - half, 1e-3), ratio.ratio + half),
    )


def ratio_figure(name: str, ratios: Sequence[Ratio]) -> Figure:
    rows = [ratio_row(ratio) for ratio in ratios]
    return Figure(
        name=f"{name}-ratios",
        title="Slope against slope",
        panels=[draw_ratios(f"{name}-ratios", rows)],
        note="The ratio of the slopes: how many times as fast each engine runs a slot as the "
        "engine it is compared with. Bars: 95 % intervals from the errors of both slopes; the "
        "numbers give one standard error.",
    )


def fit_table(series: Sequence[Series]) -> Table:
    columns: dict[str, Callable[[Series], str]] = {
        "engine, call": lambda one: f"{one.engine}, {one.call}",
        "a, each batch": lambda one: with_error(one.fit.a_ns, one.fit.a_se) if one.fit else NONE,
        "b, each slot": lambda one: with_error(one.fit.b_ns, one.fit.b_se) if one.fit else NONE,
        "correlation": lambda one: significant(one.fit.correlation, 2) if one.fit else NONE,
        "misfit": lambda one: percent(one.fit.misfit) if one.fit else NONE,
        "trials": lambda one: str(len(one.trials_ns)),
    }
    return table(f"Fitted lines ({unit()}, ± one standard error)", series, columns)


def ratio_table(ratios: Sequence[Ratio]) -> Table:
    columns: dict[str, Callable[[Ratio], str]] = {
        "call": lambda ratio: ratio.call,
        "engine": lambda ratio: ratio.engine,
        "against": lambda ratio: ratio.against,
        "times as fast": lambda ratio: with_error(ratio.ratio, ratio.se),
        "beyond noise": lambda ratio: yes_no(ratio.significant),
        "break-even N": lambda ratio: with_error(ratio.break_even, ratio.break_even_se),
        "faster from": lambda ratio: whole(ratio.first_faster),
        "in the largest batch": lambda ratio: significant(ratio.at_largest),
    }
    return table("Ratios of the slopes (± one standard error)", ratios, columns)


def size_table(series: Sequence[Series]) -> Table:
    def cell(one: Series, size: int) -> str:
        if size not in one.sizes:
            return NONE
        trials = [trial[one.sizes.index(size)] for trial in one.trials_ns]
        return f"{significant(min(trials), 4)} ({significant(float(np.median(trials)), 4)})"

    sizes = sorted({size for one in series for size in one.sizes})
    return Table(
        title=f"{series[0].label}: least time of a batch (median), {unit()}",
        head=["N", *(one.engine for one in series)],
        rows=[[f"{size:,}", *(cell(one, size) for one in series)] for size in sizes],
    )


def section(name: str, run: Batch) -> Section:
    measured = [one for one in run.series if one.trials_ns]
    calls = {
        call: [one for one in measured if one.call == call]
        for call in dict.fromkeys(one.call for one in measured)
    }
    figures = [cost_figure(f"{name}-call{i}", series) for i, series in enumerate(calls.values())]
    tables = [fit_table(measured)] if measured else []
    if run.ratios:
        figures.append(ratio_figure(name, run.ratios))
        tables.append(ratio_table(run.ratios))
    return Section(
        topic="Batches",
        title="cost against size",
        figures=figures,
        tables=[*tables, *(size_table(series) for series in calls.values())],
        notes=[
            f"{one.engine} on {one.call}: no trial was finished."
            for one in run.series
            if not one.trials_ns
        ],
    )
