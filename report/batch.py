# SPDX-License-Identifier: MIT
"""What `ferry bench batch` measured: cost against batch size, engine against engine."""

from collections.abc import Sequence

from .charts import Line, RatioRow, draw_lines, draw_ratios, look
from .document import Batch, Ratio, Series
from .drawing import time_label
from .section import TOPICS, Figure, Section, grouped
from .words import with_error

NOTE = (
    "Large marks: the least time of each size; dots: every trial, those beyond the scale at its "
    "edge. Lines: a + bN fitted to the least times; shaded: the 95 % band from the errors of a "
    "and b, divided by N. Both scales are logarithmic. Where the time falls with N, the cost of "
    "the batch itself is shared by more {items}."
)


def line(series: Series) -> Line:
    """The time of a slot in batches of each size."""

    def scaled(times: Sequence[float]) -> list[float]:
        """A logarithmic scale has no 0."""
        return [max(ns, 1e-3) / size for ns, size in zip(times, series.sizes, strict=True)]

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
    one, several = ("slot", "slots") if first.body == 1 else ("copy", "copies")
    title, x_label = f"time of each {one}", f"{several} in a batch (N)"
    return Figure(
        name=name,
        title=f"Cost against batch size: {first.label}",
        panels=[draw_lines(name, title, x_label, list(map(line, series)), time_label)],
        note=NOTE.format(items=several),
        about={first.call},
    )


def ratio_figure(name: str, ratios: Sequence[Ratio]) -> Figure:
    rows = [
        RatioRow(
            label=f"{each.call}: {each.engine} / {each.against}",
            text=with_error(each.ratio, each.se),
            engine=each.engine,
            value=each.ratio,
            low=each.low,
            high=each.high,
        )
        for each in ratios
    ]
    return Figure(
        name=f"{name}-ratios",
        title="Slope against slope",
        panels=[draw_ratios(f"{name}-ratios", rows)],
        note="The ratio of the slopes: how many times as fast each engine runs a slot as the "
        "engine it is compared with. Bars: 95 % intervals from the errors of both slopes; the "
        "numbers give one standard error.",
    )


def section(name: str, run: Batch) -> Section:
    measured = [one for one in run.series if one.trials_ns]
    calls = grouped(measured, lambda one: one.call)
    figures = [cost_figure(f"{name}-call{i}", series) for i, series in enumerate(calls.values())]
    if run.ratios:
        figures.append(ratio_figure(name, run.ratios))
    none = [
        f"{x.engine} on {x.call}: no trial was finished." for x in run.series if not x.trials_ns
    ]
    return Section(*TOPICS[run.bench], figures, notes=none)
