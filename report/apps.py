# SPDX-License-Identifier: MIT
"""What `ferry bench apps` measured: whole programs, side against side, pair by pair."""

import shlex
from collections.abc import Sequence

from . import forest
from .schema import Apps, Comparison, Missing
from .section import Figure, Section, Table
from .words import NONE, counted, joined, significant, time, times


def pair_ratios(comparison: Comparison) -> list[float]:
    return [against / side for side, against in comparison.pairs_ns]


def title(comparison: Comparison | Missing) -> str:
    return f"{comparison.app}: {comparison.side} / {comparison.against}"


def interval(comparison: Comparison) -> tuple[float, float] | None:
    low, high = comparison.ratio.low, comparison.ratio.high
    return (low, high) if low is not None and high is not None else None


def ratio_words(comparison: Comparison) -> str:
    ends = interval(comparison)
    text = significant(comparison.ratio.median)
    return f"{text} ({significant(ends[0])} to {significant(ends[1])})" if ends else text


def verdict(comparisons: Sequence[Comparison]) -> str:
    """What holds over all comparisons, in sentences."""
    faster = [each for each in comparisons if each.significant and each.ratio.median > 1]
    slower = [each for each in comparisons if each.significant and each.ratio.median < 1]
    too_few = [each for each in comparisons if not interval(each)]
    unclear = len(comparisons) - len(faster) - len(slower) - len(too_few)
    counts = {
        "faster": len(faster),
        "slower": len(slower),
        "within the noise": unclear,
        "with too few pairs to tell": len(too_few),
    }
    parts = [f"{count} {what}" for what, count in counts.items() if count]
    text = f"Of {counted(len(comparisons), 'comparison')}: {joined(parts)}."
    if faster:
        best = max(faster, key=lambda each: each.ratio.median)
        text += (
            f" The largest gain: {best.app} on {best.side} is {times(best.ratio.median)} as fast "
            f"as “{best.against}”."
        )
    if slower:
        worst = min(slower, key=lambda each: each.ratio.median)
        text += (
            f" The largest loss: {worst.app} on {worst.side} is {times(worst.ratio.median)} as "
            f"fast as “{worst.against}”."
        )
    return text


def figure(name: str, comparisons: Sequence[Comparison]) -> Figure:
    drawn = [
        forest.Ratio(
            label=title(each),
            text=ratio_words(each),
            engine=each.side,
            value=each.ratio.median,
            interval=interval(each),
            single=pair_ratios(each),
        )
        for each in comparisons
    ]
    return Figure(
        name=name,
        title="Programs, side against side",
        see=verdict(comparisons),
        description="Ratios with intervals: "
        + "; ".join(f"{ratio.label} {ratio.text}" for ratio in drawn)
        + ".",
        wide=forest.draw_ratios(f"{name}-wide", "wide", drawn),
        narrow=forest.draw_ratios(f"{name}-narrow", "narrow", drawn),
        note="Each dot is a pair of runs, one of each side, made in turn. The mark is their "
        "median and the bar an interval that holds the median with at least 95 %. The scale is "
        "logarithmic.",
    )


def table(comparisons: Sequence[Comparison]) -> Table:
    equal = {True: "yes", False: "no", None: NONE}
    return Table(
        title="The figures as a table",
        head=[
            "side / against", "median times", "times as fast", "quartiles", "beyond noise",
            "same output", "pairs",
        ],
        rows=[
            [
                title(each),
                f"{time(each.median_ns[0])} / {time(each.median_ns[1])}",
                ratio_words(each),
                f"{significant(each.ratio.quartile_low)} to "
                f"{significant(each.ratio.quartile_high)}",
                "yes" if each.significant else "no",
                equal[each.equal],
                str(len(each.pairs_ns)),
            ]
            for each in comparisons
        ],
    )  # fmt: skip


def command_table(comparisons: Sequence[Comparison]) -> Table:
    return Table(
        title="What ran",
        head=["side / against", "what", "commands"],
        rows=[
            [title(each), each.what, " ; ".join(map(shlex.join, each.commands))]
            for each in comparisons
        ],
        words=True,
    )


def section(name: str, file: str, run: Apps) -> Section:
    measured = [each for each in run.comparisons if isinstance(each, Comparison)]
    notes = [
        f"{title(each)}: {each.reason or 'not available'}."
        for each in run.comparisons
        if isinstance(each, Missing)
    ]
    notes += [
        f"{title(each)}: the two sides did not give the same output."
        for each in measured
        if each.equal is False
    ]
    heading = "engines and other tools side by side"
    if not measured:
        return Section(
            name, "Programs", heading, file, run, "No comparison was finished.", [], [], notes
        )
    return Section(
        name=name,
        topic="Programs",
        title=heading,
        file=file,
        run=run,
        headline=verdict(measured),
        figures=[figure(f"{name}-ratios", measured)],
        tables=[table(measured), command_table(measured)],
        notes=notes,
    )
