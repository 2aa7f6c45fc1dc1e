# SPDX-License-Identifier: MIT
"""What `ferry bench crossing` and `ferry bench dispatch` measured: the time of each row."""

from collections.abc import Callable, Sequence

from .charts import SPREAD_NOTE, Bar, draw_bars, draw_deviations
from .document import Absent, Row, Rows
from .section import Figure, Section, Table, table
from .words import percent, significant, time, unit

KEY = {
    "green": "in user space only",
    "blue": "the bare crossing",
    "light": "the kernel's work beyond it",
    "grey": "crosses; how much of it is the crossing is not known",
}
DISPATCH_NOTE = (
    "The call of each slot is replaced by an empty function, so what remains is the loop itself. "
)


def stays_in_user_space(row: Row) -> bool:
    return row.name == "function" or row.name.endswith("_vdso")


def parts(row: Row, bench: str) -> list[tuple[float, str]]:
    """The median, split where the bench knows how much of it is the crossing."""
    if stays_in_user_space(row):
        return [(row.median, "green")]
    if bench == "dispatch" or row.kernel_share is None:
        return [(row.median, "grey")]
    beyond = row.median * min(max(row.kernel_share, 0.0), 1.0)
    return [(row.median - beyond, "blue"), (beyond, "light")]


def figure(name: str, bench: str, rows: Sequence[Row]) -> Figure:
    bars = [Bar(row.label, time(row.median), parts(row, bench), row.trials_ns) for row in rows]
    drawn = {colour for bar in bars for length, colour in bar.parts if length}
    crossing = bench == "crossing"
    return Figure(
        name=f"{name}-rows",
        title="Time of one call" if crossing else "Time of one slot in the loop",
        panels=[
            draw_bars(f"{name}-medians", f"median, {unit()}", bars),
            draw_deviations(f"{name}-trials", bars, [row.median for row in rows]),
        ],
        note=SPREAD_NOTE if crossing else DISPATCH_NOTE + SPREAD_NOTE,
        key=[(colour, KEY[colour]) for colour in KEY if colour in drawn] if crossing else [],
        about={row.name for row in rows},
    )


def figures_table(what: str, rows: Sequence[Row]) -> Table:
    columns: dict[str, Callable[[Row], str]] = {
        what: lambda row: row.label,
        "median": lambda row: significant(row.median, 4),
        "± error": lambda row: significant(row.se, 2),
        "mean": lambda row: significant(row.mean, 4),
        "min": lambda row: significant(row.min, 4),
        "max": lambda row: significant(row.max, 4),
        "sd": lambda row: significant(row.sd, 2),
        "cycles": lambda row: significant(row.cycles, 4),
        "times function": lambda row: significant(row.ratio),
        "kernel work": lambda row: percent(row.kernel_share),
        "trials": lambda row: f"{len(row.trials_ns)} of {row.calls:,}",
    }
    return table(f"The figures as a table ({unit()})", rows, columns)


def section(name: str, run: Rows) -> Section:
    rows = [row for row in run.rows if isinstance(row, Row)]
    absent = [row for row in run.rows if isinstance(row, Absent)]
    crossing = run.bench == "crossing"
    return Section(
        topic="Crossings" if crossing else "Dispatch",
        title="the latency of each kind of call" if crossing else "the loop without its calls",
        figures=[figure(name, run.bench, rows)] if rows else [],
        tables=[figures_table("call" if crossing else "slot", rows)] if rows else [],
        notes=[f"{row.label}: {row.reason or 'not available'}." for row in absent],
    )
