# SPDX-License-Identifier: MIT
"""The figures of what posting costs: latency, its phases, and the CPU time of both sides."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .axes import (
    NARROW_ROOM,
    gutter,
    label_above,
    log_ticks,
    plain_number,
    rows_axis,
    set_log_ticks,
    shortened,
    time_label,
    width,
)
from .drawing import Layout, Shape, colour, draw
from .flexsc_cells import Call, cpu, label
from .schema import Cell
from .words import NO_BREAK, significant, time

PHASES = {  # colour role, and what the call does meanwhile
    "claim": ("auto", "claiming an entry"),
    "find": ("device", "waiting for the runner"),
    "run": ("user", "running"),
    "see": ("bare", "waiting for the caller"),
}
SIDES = [("user", "the caller's thread"), ("device", "runners, or the thread of io_uring")]
ROW = {"wide": 17.0, "narrow": 26.0}  # points
MARGIN = 16.0  # points beside a narrow figure, for half a tick label
LEAST = 1.0  # ns; a logarithmic scale has no 0
MOST_CPU = 5.0  # times that of plain calls; longer bars would hide the others

Words = tuple[str, str]  # on the left and on the right of a row
Plot = Callable[[Axes, int, float, float, Cell], None]  # row, its middle and thickness
Finish = Callable[[Axes, int], None]  # about how many ticks


def row_label(cell: Cell) -> str:
    """As short as a narrow figure needs it."""
    return label(cell).replace(" and ", ", ")


def write_words(axes: Axes, row: int, words: Words, shape: Shape) -> None:
    if shape == "narrow":
        room = NARROW_ROOM - 2 * MARGIN - width(words[1])
        label_above(axes, row, shortened(words[0], room), words[1])
        return
    for x, text, offset, side in ((0, words[0], -6, "right"), (1, words[1], 8, "left")):
        axes.annotate(
            text,
            (x, row),
            (offset, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha=side,
            va="center",
        )


def draw_rows(
    prefix: str,
    shape: Shape,
    rows: Sequence[tuple[Cell, Words]],
    plot: Plot,
    finish: Finish,
) -> str:
    height = ROW[shape] * len(rows)

    def drawn(sheet: Layout) -> None:
        left, right = MARGIN, MARGIN
        if shape == "wide":
            left = gutter([words[0] for _, words in rows], 170)
            right = gutter([words[1] for _, words in rows], 170) + 4
        axes = sheet.axes(left, 20, sheet.width - left - right, height)
        middle, thickness = (0.0, 0.56) if shape == "wide" else (0.2, 0.34)
        for i, (cell, words) in enumerate(rows):
            plot(axes, i, i + middle, thickness, cell)
            write_words(axes, i, words, shape)
        rows_axis(axes, len(rows))
        finish(axes, 6 if shape == "wide" else 4)
        axes.grid(axis="x")

    return draw(prefix, shape, height + 42, drawn)


def draw_latency(prefix: str, shape: Shape, call: Call) -> str:
    cells = [*call.others(), *call.shown()]

    def points(cell: Cell) -> list[float]:
        latency = cell.latency_ns
        return [max(at, LEAST) for at in (latency.p50, latency.p90, latency.p99, latency.max)]

    def plot(axes: Axes, _: int, middle: float, __: float, cell: Cell) -> None:
        role = colour("device" if cell.way == "flexsc" else "bare")
        found = points(cell)
        axes.plot(found, [middle] * 4, "-", color=role, linewidth=0.8, alpha=0.6)
        marks = zip(found, ("o", "d", "|", "o"), (5.5, 4.5, 7.0, 3.5), strict=True)
        for i, (at, mark, size) in enumerate(marks):
            fill = colour("paper") if i == 3 else role
            axes.plot(
                [at],
                [middle],
                mark,
                color=role,
                markersize=size,
                markerfacecolor=fill,
                markeredgewidth=1.2 if mark == "|" else 0.8,
                zorder=3,
            )

    def finish(axes: Axes, most: int) -> None:
        every = [at for cell in cells for at in points(cell)]
        low, high = min(every) / 1.5, max(every) * 1.5
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        set_log_ticks(axes, "x", log_ticks(low, high, most), time_label)
        axes.set_title("latency; on the right 50 % and 99 %")

    rows = [
        (cell, (row_label(cell), f"{time(cell.latency_ns.p50)}, {time(cell.latency_ns.p99)}"))
        for cell in cells
    ]
    return draw_rows(prefix, shape, rows, plot, finish)


def phases_of(cell: Cell) -> dict[str, float]:
    """ns of each; a negative one, of clocks that differ, is none."""
    found = cell.phases_ns.model_dump() if cell.phases_ns else {}
    return {phase: max(float(found.get(phase, 0)), 0.0) for phase in PHASES}


def mean_latency(cell: Cell) -> float:
    return sum(phases_of(cell).values())


def shares(cell: Cell) -> dict[str, float]:
    """The part that each phase has in the mean latency."""
    whole = mean_latency(cell) or 1.0
    return {phase: ns / whole for phase, ns in phases_of(cell).items()}


def draw_phases(prefix: str, shape: Shape, call: Call) -> str:
    def plot(axes: Axes, _: int, middle: float, thickness: float, cell: Cell) -> None:
        left = 0.0
        for phase, share in shares(cell).items():
            role = colour(PHASES[phase][0])
            axes.barh(middle, share, thickness, left=left, color=role, linewidth=0)
            left += share

    def finish(axes: Axes, most: int) -> None:
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_locator(MaxNLocator(most))
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda share, _: f"{100 * share:.0f}{NO_BREAK}%")
        )
        axes.set_title("share of the mean latency")

    rows = [(cell, (row_label(cell), time(mean_latency(cell)))) for cell in call.shown()]
    return draw_rows(prefix, shape, rows, plot, finish)


def cpu_limit(cells: Sequence[Cell]) -> float:
    """Where longer bars are cut."""
    plain = next((cpu(cell) for cell in cells if cell.way == "plain"), 0.0)
    most = max(cpu(cell) for cell in cells)
    return max(min(most, MOST_CPU * plain if plain else most), LEAST)


def draw_cpu(prefix: str, shape: Shape, call: Call) -> str:
    cells = [*call.others(), *call.shown()]
    limit = cpu_limit(cells)

    def plot(axes: Axes, _: int, middle: float, thickness: float, cell: Cell) -> None:
        left = 0.0
        for (role, _name), ns in zip(SIDES, (cell.caller_cpu_ns, cell.other_cpu_ns), strict=True):
            shown = min(ns, limit - left)
            axes.barh(middle, shown, thickness, left=left, color=colour(role), linewidth=0)
            left += shown

    def finish(axes: Axes, most: int) -> None:
        axes.set_xlim(0, limit)
        axes.xaxis.set_major_locator(MaxNLocator(most))
        axes.xaxis.set_major_formatter(FuncFormatter(plain_number))
        axes.set_title("CPU time of a call and its work, ns")

    rows = [
        (cell, (row_label(cell), f"{time(cpu(cell))}, {significant(cell.ratio)}")) for cell in cells
    ]
    return draw_rows(prefix, shape, rows, plot, finish)
