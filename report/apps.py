# SPDX-License-Identifier: MIT
"""What `ferry bench apps`, `files` and `threads` measured: one side against another, in pairs."""

import shlex
from collections.abc import Callable, Sequence

from .charts import RatioRow, draw_ratios
from .document import Apps, Comparison, PairRatio, Table
from .section import TOPICS, Figure, Section, table
from .words import significant


def pair(comparison: Comparison) -> str:
    return f"{comparison.app}: {comparison.side} / {comparison.against}"


def ratio_words(ratio: PairRatio) -> str:
    text = significant(ratio.median)
    if ratio.low is None:
        return text
    return f"{text} ({significant(ratio.low)} to {significant(ratio.high)})"


def figure(name: str, topic: str, comparisons: Sequence[Comparison]) -> Figure:
    rows = [
        RatioRow(
            label=pair(each),
            text=ratio_words(each.ratio),
            engine=each.side,
            value=each.ratio.median,
            low=each.ratio.low,
            high=each.ratio.high,
            single=each.ratios,
        )
        for each in comparisons
    ]
    return Figure(
        name=f"{name}-ratios",
        title=f"{topic}, side against side",
        panels=[draw_ratios(f"{name}-ratios", rows)],
        note="Each dot is a pair of runs, one of each side, made one after the other. The mark "
        "is their median, and the bar an interval that holds the median with at least 95 % "
        "confidence. The scale is logarithmic.",
        about={each.app for each in comparisons},
    )


def commands(comparisons: Sequence[Comparison]) -> Table:
    columns: dict[str, Callable[[Comparison], str]] = {
        "side / against": pair,
        "what": lambda each: each.what,
        "commands": lambda each: " ; ".join(map(shlex.join, each.commands)),
    }
    return table("The commands that ran", comparisons, columns, text=True)


def section(name: str, run: Apps) -> Section:
    topic, title = TOPICS[run.bench]
    if not run.comparisons:
        return Section(topic, title, [])
    return Section(
        topic, title, [figure(name, topic, run.comparisons)], [commands(run.comparisons)]
    )
