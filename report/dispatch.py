# SPDX-License-Identifier: MIT
"""What `ferry bench dispatch` measured: the loop machine with the calls taken out."""

from .rows import Bar, described, draw_rows, steadiness, table
from .schema import Absent, Dispatch, Row
from .section import Figure, Section
from .words import significant, time

TOPIC = "Dispatch"
TITLE = "the loop machine alone"
READING = (
    "The call of each slot is replaced by an empty function, so what is left is the loop itself. "
    "Bars: the median of the trials. Dots: every trial; boxes: the middle "
    "half of them. Their scale is logarithmic beyond 1 % to either side."
)


def cycles(row: Row) -> str:
    return f" ({significant(row.cycles)} cycles)" if row.cycles is not None else ""


def floor_sentence(rows: dict[str, Row]) -> str:
    plain, function = rows.get("plain"), rows.get("function")
    if not plain:
        return "The plain slot was not measured in this run."
    text = f"A plain slot takes the loop machine {time(plain.median)}{cycles(plain)}"
    if function:
        own = plain.median - function.median
        text += f", {time(own)} more than calling the empty function by hand"
    return text + "."


def dearest_sentence(rows: dict[str, Row]) -> str:
    plain = rows.get("plain")
    others = [row for row in rows.values() if row.name not in ("plain", "function")]
    if not plain or not others:
        return ""
    dearest = max(others, key=lambda row: row.median)
    difference = dearest.median - plain.median
    way = "more" if difference > 0 else "less"
    return f"The slowest kind, {dearest.label}, takes {time(abs(difference))} {way} than plain."


def figure(name: str, rows: dict[str, Row]) -> Figure:
    bars = [
        Bar(row, [(row.median, "user" if row.name == "function" else "loop")])
        for row in rows.values()
    ]
    sentences = [
        floor_sentence(rows),
        dearest_sentence(rows),
        steadiness(list(rows.values())),
    ]
    return Figure(
        name=name,
        title="What the loop takes for one slot",
        see=" ".join(filter(None, sentences)),
        description="Bars of the median time of each slot: " + described(list(rows.values())),
        wide=draw_rows(f"{name}-wide", "wide", bars),
        narrow=draw_rows(f"{name}-narrow", "narrow", bars),
        note=READING,
    )


def section(name: str, file: str, run: Dispatch) -> Section:
    rows = {row.name: row for row in run.rows if isinstance(row, Row)}
    notes = [
        f"{row.label}: {row.reason or 'not available'}."
        for row in run.rows
        if isinstance(row, Absent)
    ]
    if not rows:
        return Section(name, TOPIC, TITLE, file, run, "No row was finished.", [], [], notes)
    return Section(
        name=name,
        topic=TOPIC,
        title=TITLE,
        file=file,
        run=run,
        headline=floor_sentence(rows),
        figures=[figure(f"{name}-rows", rows)],
        tables=[table(list(rows.values()), "slot")],
        notes=notes,
    )
