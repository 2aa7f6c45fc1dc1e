# SPDX-License-Identifier: MIT
"""What `ferry bench crossing` measured: the latency of each kind of call."""

from .rows import Bar, described, draw_rows, steadiness, table
from .schema import Absent, Crossing, Row
from .section import Figure, Section
from .words import time, times

TOPIC = "Crossings"
TITLE = "the latency of each kind of call"
KEY = {
    "user": "in user space only",
    "bare": "the bare crossing",
    "beyond": "the kernel's work beyond it",
    "loop": "crosses; how much of it is the crossing is not known",
}
READING = (
    "Bars: the median of the trials. Dots: every trial; boxes: the middle "
    "half of them. Their scale is logarithmic beyond 1 % to either side."
)


def measured(run: Crossing) -> dict[str, Row]:
    return {row.name: row for row in run.rows if isinstance(row, Row)}


def absent(run: Crossing) -> list[Absent]:
    return [row for row in run.rows if isinstance(row, Absent)]


def bare_crossing(rows: dict[str, Row]) -> Row | None:
    return rows.get("null") or rows.get("unimplemented")


def roles(bar: Bar) -> set[str]:
    return {role for length, role in bar.parts if length}


def stays_in_user_space(row: Row) -> bool:
    return row.name == "function" or row.name.endswith("_vdso")


def bar(row: Row) -> Bar:
    if stays_in_user_space(row):
        return Bar(row, [(row.median, "user")])
    if row.kernel_share is None:
        return Bar(row, [(row.median, "loop")])
    beyond = row.median * max(row.kernel_share, 0.0)
    return Bar(row, [(row.median - beyond, "bare"), (beyond, "beyond")])


def floor_sentence(rows: dict[str, Row]) -> str:
    bare, function = bare_crossing(rows), rows.get("function")
    if not bare:
        return "The bare crossing was not measured in this run."
    text = f"A bare crossing ({bare.label}) takes {time(bare.median)}"
    if function:
        text += f", {times(bare.median / function.median)} as long as calling an empty function"
    return text + "."


def vdso_sentence(rows: dict[str, Row]) -> str:
    vdso, trap = rows.get("gettimeofday_vdso"), rows.get("gettimeofday_trap")
    if not vdso or not trap:
        return ""
    ratio = trap.median / vdso.median
    if ratio < 1.2:
        return (
            f"Reading the clock in user space (vDSO) saves little here: {time(vdso.median)} "
            f"against {time(trap.median)} by trap."
        )
    return f"The clock is read {times(ratio)} as fast in user space (vDSO) as by a trap."


def work_sentence(rows: dict[str, Row]) -> str:
    """How often the crossing outweighs the work."""
    shares = [row.kernel_share for row in rows.values() if row.kernel_share is not None]
    if not shares:
        return ""
    little = sum(share < 0.5 for share in shares)
    return (
        f"In {little} of the {len(shares)} calls that cross, the crossing is more than half of "
        "the time."
    )


def figure(name: str, run: Crossing) -> Figure:
    rows = measured(run)
    bars = [bar(row) for row in rows.values()]
    sentences = [
        floor_sentence(rows),
        vdso_sentence(rows),
        work_sentence(rows),
        steadiness(list(rows.values())),
    ]
    return Figure(
        name=name,
        title="What one call takes",
        see=" ".join(filter(None, sentences)),
        description="Bars of the median time of each call: " + described(list(rows.values())),
        wide=draw_rows(f"{name}-wide", "wide", bars),
        narrow=draw_rows(f"{name}-narrow", "narrow", bars),
        key=[(role, KEY[role]) for role in KEY if any(role in roles(bar) for bar in bars)],
        note=READING,
    )


def section(name: str, file: str, run: Crossing) -> Section:
    rows = measured(run)
    notes = [f"{row.label}: {row.reason or 'not on this kernel'}." for row in absent(run)]
    if not rows:
        return Section(name, TOPIC, TITLE, file, run, "No row was finished.", [], [], notes)
    return Section(
        name=name,
        topic=TOPIC,
        title=TITLE,
        file=file,
        run=run,
        headline=floor_sentence(rows),
        figures=[figure(f"{name}-rows", run)],
        tables=[table(list(rows.values()), "call")],
        notes=notes,
    )
