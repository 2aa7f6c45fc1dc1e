# SPDX-License-Identifier: MIT
"""What `ferry bench apps` and `ferry bench files` measured: one side against another, in pairs."""

import shlex
from collections.abc import Callable, Sequence

from .charts import RatioRow, draw_ratios
from .document import Absent, Apps, Comparison
from .section import Figure, Section, Table, absent_notes, table
from .words import significant, time, yes_no


def pair(comparison: Comparison | Absent) -> str:
    return f"{comparison.app}: {comparison.side} / {comparison.against}"


def ratio_words(comparison: Comparison) -> str:
    ratio = comparison.ratio
    text = significant(ratio.median)
    if ratio.low is None:
        return text
    return f"{text} ({significant(ratio.low)} to {significant(ratio.high)})"


def ratio_row(comparison: Comparison) -> RatioRow:
    return RatioRow(
        label=pair(comparison),
        text=ratio_words(comparison),
        engine=comparison.side,
        value=comparison.ratio.median,
        low=comparison.ratio.low,
        high=comparison.ratio.high,
        single=comparison.ratios,
    )


SIDES = {
    "apps": ("Programs", "engines and other tools, side by side"),
    "files": ("Files", "many in one call, beside the usual ways"),
}


def figure(name: str, topic: str, comparisons: Sequence[Comparison]) -> Figure:
    rows = [ratio_row(each) for each in comparisons]
    return Figure(
        name=f"{name}-ratios",
        title=f"{topic}, side against side",
        panels=[draw_ratios(f"{name}-ratios", rows)],
        note="Each dot is a pair of runs, one of each side, made one after the other. The mark "
        "is their median, and the bar an interval that holds the median with at least 95 % "
        "confidence. The scale is logarithmic.",
        about={each.app for each in comparisons},
    )


def tables(comparisons: Sequence[Comparison]) -> list[Table]:
    ratios: dict[str, Callable[[Comparison], str]] = {
        "side / against": pair,
        "median times": lambda each: " / ".join(map(time, each.median_ns)),
        "times as fast": ratio_words,
        "quartiles": lambda each: f"{significant(each.ratio.quartile_low)} to "
        f"{significant(each.ratio.quartile_high)}",
        "beyond noise": lambda each: yes_no(each.significant),
        "same output": lambda each: yes_no(each.equal),
        "pairs": lambda each: str(len(each.pairs_ns)),
    }
    commands: dict[str, Callable[[Comparison], str]] = {
        "side / against": pair,
        "what": lambda each: each.what,
        "commands": lambda each: " ; ".join(map(shlex.join, each.commands)),
    }
    return [
        table("The figures as a table", comparisons, ratios),
        table("The commands that ran", comparisons, commands, words=True),
    ]


def section(name: str, run: Apps) -> Section:
    measured = [each for each in run.comparisons if isinstance(each, Comparison)]
    topic, title = SIDES[run.bench]
    return Section(
        topic=topic,
        title=title,
        figures=[figure(name, topic, measured)] if measured else [],
        tables=tables(measured) if measured else [],
        notes=absent_notes(run.comparisons, pair),
    )
