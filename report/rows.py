# SPDX-License-Identifier: MIT
"""The benches that measure rows: the time of each kind of call, slot, or chain of calls."""

from collections.abc import Sequence

from .charts import Bar, draw_bars, look
from .document import Chain, ChainRow, Row, Rows
from .section import TOPICS, Figure, Section
from .words import time, unit

KEY = {
    "grey": "in user space only",
    "orange": "the bare crossing",
    "blue": "the kernel's work beyond it",
    "purple": "crosses; how much of it is the crossing is not known",
}
BARE = ("null", "unimplemented")
CROSSING_NOTE = "Medians of the trials; the tables show how far the trials spread."
DISPATCH_NOTE = (
    "The call of each slot is replaced by an empty function, so what remains is the loop itself."
)
CHAIN_NOTE = (
    "The calls on one small file: loop makes one crossing for each; raw makes the same calls by "
    "hand; the others make them in one crossing."
)


def parts(row: Row, bench: str) -> list[tuple[float, str]]:
    """The median, split where the bench knows how much of it is the crossing."""
    if bench == "dispatch" or row.name == "function" or row.name.endswith("_vdso"):
        return [(row.median, "grey")]
    if row.kernel_share is None:
        return [(row.median, "orange" if row.name in BARE else "purple")]
    beyond = row.median * min(max(row.kernel_share, 0.0), 1.0)
    return [(row.median - beyond, "orange"), (beyond, "blue")]


def figure(name: str, bench: str, rows: Sequence[Row]) -> Figure:
    bars = [Bar(row.label, time(row.median), parts(row, bench)) for row in rows]
    drawn = {colour for bar in bars for length, colour in bar.parts if length}
    crossing = bench == "crossing"
    return Figure(
        name=f"{name}-rows",
        title="Time of one call" if crossing else "Time of one slot in the loop",
        panels=[draw_bars(name, f"median, {unit()}", bars)],
        note=CROSSING_NOTE if crossing else DISPATCH_NOTE,
        key=[(colour, KEY[colour]) for colour in KEY if colour in drawn] if crossing else [],
        about={row.name for row in rows},
    )


def section(name: str, run: Rows) -> Section:
    return Section(*TOPICS[run.bench], [figure(name, run.bench, run.rows)] if run.rows else [])


def chain_figure(name: str, rows: Sequence[ChainRow]) -> Figure:
    bars = [Bar(row.name, time(row.median), [(row.median, look(row.engine)[0])]) for row in rows]
    return Figure(
        name=f"{name}-chains",
        title="Time of the calls on one file",
        panels=[draw_bars(name, f"median, {unit()}", bars)],
        note=CHAIN_NOTE,
        about={row.chain for row in rows},
    )


def chain_section(name: str, run: Chain) -> Section:
    return Section(*TOPICS[run.bench], [chain_figure(name, run.chains)] if run.chains else [])
