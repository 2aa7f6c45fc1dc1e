# SPDX-License-Identifier: MIT
"""The benches that measure rows: the time of each kind of call, slot, or chain of calls."""

from collections.abc import Callable, Sequence

from .charts import SPREAD_NOTE, Bar, draw_medians, look
from .document import Chain, ChainRow, Row, Rows
from .section import Figure, Section, Table, absent_notes, table
from .words import percent, significant, time, unit, with_error, yes_no

KEY = {
    "green": "in user space only",
    "blue": "the bare crossing",
    "light": "the kernel's work beyond it",
    "grey": "crosses; how much of it is the crossing is not known",
}
DISPATCH_NOTE = (
    "The call of each slot is replaced by an empty function, so what remains is the loop itself. "
)
CHAIN_NOTE = (
    "The calls on one small file: loop makes one crossing for each; raw makes the same calls by "
    "hand; the others make them in one crossing. "
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
        panels=draw_medians(name, "", bars),
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
    crossing = run.bench == "crossing"
    return Section(
        topic="Crossings" if crossing else "Dispatch",
        title="the latency of each kind of call" if crossing else "the loop without its calls",
        figures=[figure(name, run.bench, rows)] if rows else [],
        tables=[figures_table("call" if crossing else "slot", rows)] if rows else [],
        notes=absent_notes(run.rows, lambda row: row.label),
    )


def chain_figure(name: str, rows: Sequence[ChainRow]) -> Figure:
    bars = [
        Bar(row.name, time(row.median), [(row.median, look(row.engine)[0])], row.trials_ns)
        for row in rows
    ]
    return Figure(
        name=f"{name}-chains",
        title="Time of the calls on one file",
        panels=draw_medians(name, "", bars),
        note=CHAIN_NOTE + SPREAD_NOTE,
        about={row.chain for row in rows},
    )


def chain_table(rows: Sequence[ChainRow]) -> Table:
    columns: dict[str, Callable[[ChainRow], str]] = {
        "calls, engine": lambda row: row.name,
        "median": lambda row: with_error(row.median, row.se),
        "times as fast as loop": lambda row: with_error(row.ratio, row.ratio_se),
        "beyond noise": lambda row: yes_no(None if row.ratio is None else row.significant),
        "trials": lambda row: str(len(row.trials_ns)),
    }
    return table(f"The figures as a table ({unit()}, ± one standard error)", rows, columns)


def chain_section(name: str, run: Chain) -> Section:
    rows = [row for row in run.chains if isinstance(row, ChainRow)]
    return Section(
        topic="Chains",
        title="the calls on one small file",
        figures=[chain_figure(name, rows)] if rows else [],
        tables=[chain_table(rows)] if rows else [],
        notes=absent_notes(run.chains, lambda row: row.name),
    )
