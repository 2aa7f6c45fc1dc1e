# SPDX-License-Identifier: MIT
"""What `ferry bench batch` measured: cost against batch size, engine against engine."""

from collections.abc import Sequence

from . import forest
from .batch_cost import above_scale, draw_cost
from .schema import Batch, Fit, Ratio, Series
from .section import Figure, Section, Table
from .statistics import NORMAL_95, least, quartiles
from .words import (
    NONE,
    counted,
    doubt,
    joined,
    percent,
    significant,
    time_with_error,
    times,
    with_error,
)

MOST_LINES = 2  # in words; more are better read in the table
MISFIT = 0.02  # beyond this the straight line says little: ferry-bench(5)

READING = (
    "Large marks: the least time of each size; dots: every trial. Lines: a + bN fitted to the "
    "least times; shaded: the 95 % band from the stated errors of a and b. All scales "
    "are logarithmic. Where the cost of a slot falls with N, slots share the cost of the batch; "
    "where it is flat, they themselves are the cost."
)


def unit(series: Series) -> str:
    return "slot" if series.body == 1 else "copy"


def line_words(series: Series, fit: Fit) -> str:
    a = time_with_error(fit.a_ns, fit.a_se)
    b = time_with_error(fit.b_ns, fit.b_se)
    return f"{series.engine} {a} for the batch and {b} for each {unit(series)}"


def lines_sentence(series: Sequence[Series]) -> str:
    lines = [line_words(one, one.fit) for one in series if one.fit]
    if not lines:
        return "There are too few trials to fit a line."
    return f"Fitted: {joined(lines)}." if len(lines) <= MOST_LINES else ""


def break_even_words(ratio: Ratio) -> str:
    if ratio.break_even is None:
        return "its line has no break-even to tell"
    if ratio.break_even <= 1:
        return f"its line is below that of {ratio.against} from the first one on"
    at = with_error(ratio.break_even, ratio.break_even_se)
    return f"its line passes below that of {ratio.against} at N = {at}"


def measured_words(ratio: Ratio) -> str:
    if ratio.first_faster is None:
        return "it was not the faster one in the largest batch"
    text = f"it was the faster one in batches of {ratio.first_faster:,} or more"
    if ratio.at_largest is not None:
        text += f", {times(ratio.at_largest)} as fast in the largest"
    return text


def ratio_sentence(ratio: Ratio, what: str) -> str:
    """What the lines say of two engines, and what the times themselves say."""
    value = with_error(ratio.ratio, ratio.se)
    unsure = doubt(ratio.significant)
    text = f"For each {what}, {ratio.engine} is {value} times as fast as {ratio.against}{unsure}"
    return f"{text}; {break_even_words(ratio)}. Without any line, {measured_words(ratio)}."


def misfit_sentence(series: Sequence[Series]) -> str:
    bent = [one.engine for one in series if one.fit and one.fit.misfit > MISFIT]
    if not bent:
        return ""
    return (
        f"The least times of {joined(bent)} lie off the line by more than "
        f"{percent(MISFIT)}, so read the marks, not the line."
    )


def left_out_sentence(series: Sequence[Series]) -> str:
    outside = above_scale(series)
    every = sum(len(one.trials_ns) * len(one.sizes) for one in series)
    if not outside:
        return ""
    return (
        f" {outside:,} of the {every:,} times per {unit(series[0])} lie above the scale; the "
        "figure of whole batches has them."
    )


def cost_figure(name: str, series: Sequence[Series], ratios: Sequence[Ratio]) -> Figure:
    first = series[0]
    sentences = [ratio_sentence(ratio, unit(first)) for ratio in ratios]
    sentences += [lines_sentence(series), misfit_sentence(series)]
    description = "; ".join(
        f"{one.engine} takes {significant(float(least(one.trials_ns)[0]))} ns at "
        f"N = {one.sizes[0]:,} and {significant(float(least(one.trials_ns)[-1]))} ns at "
        f"N = {one.sizes[-1]:,}"
        for one in series
    )
    return Figure(
        name=name,
        title=f"Cost against batch size: {first.label}",
        see=" ".join(filter(None, sentences)),
        description=f"Two plots over batch size, for a batch and for a {unit(first)}: "
        f"{description}.",
        wide=draw_cost(f"{name}-wide", "wide", series),
        narrow=draw_cost(f"{name}-narrow", "narrow", series),
        note=READING + left_out_sentence(series),
    )


def ratio_figure(name: str, ratios: Sequence[Ratio]) -> Figure:
    drawn = [
        forest.Ratio(
            label=f"{ratio.call}: {ratio.engine} / {ratio.against}",
            text=with_error(ratio.ratio, ratio.se),
            engine=ratio.engine,
            value=ratio.ratio,
            interval=(
                ratio.ratio - NORMAL_95 * ratio.se,
                ratio.ratio + NORMAL_95 * ratio.se,
            ),
        )
        for ratio in ratios
        if ratio.ratio > 0
    ]
    return Figure(
        name=name,
        title="Slope against slope",
        see=verdict(ratios),
        description="Ratios with intervals: "
        + "; ".join(f"{ratio.label} {ratio.text}" for ratio in drawn)
        + ".",
        wide=forest.draw_ratios(f"{name}-wide", "wide", drawn),
        narrow=forest.draw_ratios(f"{name}-narrow", "narrow", drawn),
        note="How many times as fast a slot is on each engine as on the one it is compared with: "
        "the ratio of the slopes. Bars: 95 % intervals, from the errors of both slopes; in "
        "figures, one standard error.",
    )


def verdict(ratios: Sequence[Ratio]) -> str:
    """What holds over all calls, in a sentence."""
    faster = [ratio for ratio in ratios if ratio.significant and ratio.ratio > 1]
    slower = [ratio for ratio in ratios if ratio.significant and ratio.ratio < 1]
    unclear = len(ratios) - len(faster) - len(slower)
    parts = [
        f"{len(faster)} gain{'s' if len(faster) == 1 else ''} beyond the noise" if faster else "",
        f"{len(slower)} lose{'s' if len(slower) == 1 else ''}" if slower else "",
        f"{unclear} cannot be told from 1" if unclear else "",
    ]
    text = f"Of {counted(len(ratios), 'comparison')}, {joined(list(filter(None, parts)))}."
    best = max(ratios, key=lambda ratio: ratio.ratio)
    if best in faster:
        text += (
            f" The largest gain is {best.engine} on {best.call}: {times(best.ratio)} as fast as "
            f"{best.against}."
        )
    return text


def fit_table(series: Sequence[Series]) -> Table:
    return Table(
        title="Fitted lines (ns, ± one standard error)",
        head=["engine, call", "a, each batch", "b, each slot", "correlation", "misfit", "trials"],
        rows=[
            [
                f"{one.engine}, {one.call}",
                with_error(one.fit.a_ns, one.fit.a_se) if one.fit else NONE,
                with_error(one.fit.b_ns, one.fit.b_se) if one.fit else NONE,
                significant(one.fit.correlation, 2) if one.fit else NONE,
                f"{100 * one.fit.misfit:.1f} %" if one.fit else NONE,
                str(len(one.trials_ns)),
            ]
            for one in series
        ],
    )


def ratio_table(ratios: Sequence[Ratio]) -> Table:
    def break_even(ratio: Ratio) -> str:
        if ratio.break_even is None:
            return "none"
        return with_error(ratio.break_even, ratio.break_even_se)

    return Table(
        title="Ratios of the slopes (± one standard error)",
        head=[
            "call", "engine", "against", "times as fast", "beyond noise", "break-even N",
            "faster from",
        ],
        rows=[
            [
                ratio.call,
                ratio.engine,
                ratio.against,
                with_error(ratio.ratio, ratio.se),
                "yes" if ratio.significant else "no",
                break_even(ratio),
                NONE if ratio.first_faster is None else f"{ratio.first_faster:,}",
            ]
            for ratio in ratios
        ],
    )  # fmt: skip


def size_table(series: Sequence[Series]) -> Table:
    def cell(one: Series, size: int) -> str:
        if size not in one.sizes:
            return NONE
        place = one.sizes.index(size)
        trials = [trial[place] for trial in one.trials_ns]
        return f"{significant(min(trials), 4)} ({significant(quartiles(trials)[1], 4)})"

    sizes = sorted({size for one in series for size in one.sizes})
    return Table(
        title=f"{series[0].label}: least time of a batch (median), ns",
        head=["N", *(one.engine for one in series)],
        rows=[[f"{size:,}", *(cell(one, size) for one in series)] for size in sizes],
    )


def by_call(series: Sequence[Series]) -> dict[str, list[Series]]:
    found: dict[str, list[Series]] = {}
    for one in series:
        found.setdefault(one.call, []).append(one)
    return found


def section(name: str, file: str, run: Batch) -> Section:
    measured = [one for one in run.series if one.trials_ns]
    notes = [
        f"{one.engine} on {one.call}: no trial was finished."
        for one in run.series
        if not one.trials_ns
    ]
    title = "cost against size"
    if not measured:
        return Section(name, "Batches", title, file, run, "No trial was finished.", [], [], notes)
    calls = by_call(measured)
    figures = [
        cost_figure(
            f"{name}-call{i}", series, [ratio for ratio in run.ratios if ratio.call == call]
        )
        for i, (call, series) in enumerate(calls.items())
    ]
    tables = [fit_table(measured)]
    if run.ratios:
        figures.append(ratio_figure(f"{name}-ratios", run.ratios))
        tables.append(ratio_table(run.ratios))
    tables += [size_table(series) for series in calls.values()]
    headline = verdict(run.ratios) if run.ratios else lines_sentence(measured)
    return Section(name, "Batches", title, file, run, headline, figures, tables, notes)
