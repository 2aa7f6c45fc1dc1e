# SPDX-License-Identifier: MIT
"""What `ferry bench batch` measured: cost against batch size, engine against engine."""

from collections.abc import Callable, Sequence
from statistics import median

from .charts import Line, RatioRow, draw_lines, draw_ratios, look
from .document import AtSize, Batch, Ratio, Series
from .drawing import Panel, time_label
from .section import Figure, Section, Table, grouped, table
from .words import NONE, percent, significant, unit, whole, with_error, yes_no

NOTE = (
    "Large marks: the least time of each size; dots: every trial, those beyond the scale at its "
    "edge. Lines: a + bN fitted to the least times; shaded: the 95 % band from the errors of a "
    "and b. All scales are logarithmic. Where the time of each {item} falls with N, they share "
    "the cost of the batch."
)


def item(series: Series) -> str:
    return "slot" if series.body == 1 else "copy"


def line(series: Series, divided: bool) -> Line:
    """The time of a batch by its size, or DIVIDED by the size that of a slot."""

    def scaled(times: Sequence[float]) -> list[float]:
        """A logarithmic scale has no 0."""
        scales = series.sizes if divided else [1] * len(series.sizes)
        return [max(ns, 1e-3) / scale for ns, scale in zip(times, scales, strict=True)]

    fit = series.fit
    colour, marker = look(series.engine)
    return Line(
        name=series.engine,
        colour=colour,
        marker=marker,
        x=list(map(float, series.sizes)),
        y=scaled(series.least_ns),
        trials=list(map(list, zip(*map(scaled, series.trials_ns), strict=True))),
        style="none",
        band=(scaled(fit.line_ns), scaled(fit.low_ns), scaled(fit.high_ns)) if fit else None,
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
    return RatioRow(
        label=f"{ratio.call}: {ratio.engine} / {ratio.against}",
        text=with_error(ratio.ratio, ratio.se),
        engine=ratio.engine,
        value=ratio.ratio,
        low=ratio.low,
        high=ratio.high,
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
        return f"{significant(min(trials), 4)} ({significant(median(trials), 4)})"

    sizes = sorted({size for one in series for size in one.sizes})
    return Table(
        title=f"{series[0].label}: least time of a batch (median), {unit()}",
        head=["N", *(one.engine for one in series)],
        rows=[[f"{size:,}", *(cell(one, size) for one in series)] for size in sizes],
    )


def pairs_table(call: str, pairs: Sequence[AtSize]) -> Table:
    """Engine against engine, size by size."""
    sizes = list(dict.fromkeys(pair.size for pair in pairs))
    sides = list(dict.fromkeys(f"{pair.engine} / {pair.against}" for pair in pairs))
    found = {(pair.size, f"{pair.engine} / {pair.against}"): pair for pair in pairs}

    def cell(pair: AtSize | None) -> str:
        if not pair:
            return NONE
        doubt = "same loop" if pair.same_loop else "" if pair.significant else "noise"
        return with_error(pair.ratio, pair.ratio_se) + (f", {doubt}" if doubt else "")

    return Table(
        title=f"{call}: times as fast, size by size (medians of the ratios, ± one standard error)",
        head=["N", *sides],
        rows=[[f"{size:,}", *(cell(found.get((size, side))) for side in sides)] for size in sizes],
    )


def section(name: str, run: Batch) -> Section:
    measured = [one for one in run.series if one.trials_ns]
    calls = grouped(measured, lambda one: one.call)
    figures = [cost_figure(f"{name}-call{i}", series) for i, series in enumerate(calls.values())]
    tables = [fit_table(measured)] if measured else []
    if run.ratios:
        figures.append(ratio_figure(name, run.ratios))
        tables.append(ratio_table(run.ratios))
    at_sizes = grouped(run.at_sizes, lambda pair: pair.call)
    pairs = [pairs_table(call, at_sizes[call]) for call in calls if call in at_sizes]
    return Section(
        topic="Batches",
        title="cost against size",
        figures=figures,
        tables=tables + [size_table(series) for series in calls.values()] + pairs,
        notes=[
            f"{one.engine} on {one.call}: no trial was finished."
            for one in run.series
            if not one.trials_ns
        ],
    )
