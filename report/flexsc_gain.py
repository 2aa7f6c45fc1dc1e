# SPDX-License-Identifier: MIT
"""The figures of throughput beside plain calls: over the threads, and over the work."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes

from .axes import RATIO_TICKS, end_labels, plain_number, selection, set_log_ticks, thinned, width
from .drawing import Layout, Shape, colour, draw
from .flexsc_cells import Call, ahead, break_evens
from .words import time

ROLES = {"plain": "ink", "batch": "loop", "uring": "uring", "sqpoll": "other"}
NAMES = {"plain": "plain", "batch": "batch", "uring": "io_uring", "sqpoll": "SQPOLL"}
MARKERS = {"batch": "s", "uring": "D", "sqpoll": "X"}
RUNNERS = [("device", "o"), ("auto", "^"), ("syscall", "v"), ("user", "P")]  # colour role, mark
ROOM = 1.35  # beyond the medians; a trial that lies further out is not drawn

SetAxis = Callable[[Axes, float], None]  # the room in points


@dataclass(frozen=True)
class Point:
    x: float
    ratio: float
    trials: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    name: str
    role: str
    marker: str  # none for a way that is the same for every x
    points: list[Point]


def runner_lines(call: Call, over: str) -> list[Line]:
    """Of flexsc, a line for each number of runners, OVER threads or work."""
    lines = []
    for runners, (role, marker) in zip(call.runners, RUNNERS, strict=False):
        work = over == "work"
        cells = call.by_work("flexsc", runners) if work else call.by_threads(runners)
        points = [
            Point(cell.work_ns if work else cell.threads or 0, cell.ratio, call.trial_ratios(cell))
            for cell in cells
        ]
        name = f"{runners} runner{'s' if runners > 1 else ''}"
        lines += [Line(name, role, marker, points)] if points else []
    return lines


def thread_lines(call: Call) -> list[Line]:
    others = [
        Line(NAMES[cell.way], ROLES[cell.way], "", [Point(0, cell.ratio)]) for cell in call.others()
    ]
    return runner_lines(call, "threads") + others


def work_lines(call: Call) -> list[Line]:
    lines = runner_lines(call, "work")
    for way, marker in MARKERS.items():
        cells = call.by_work(way)
        points = [Point(cell.work_ns, cell.ratio, call.trial_ratios(cell)) for cell in cells]
        lines += [Line(NAMES[way], ROLES[way], marker, points)] if points else []
    return [*lines, Line(NAMES["plain"], ROLES["plain"], "", [Point(0, 1)])]


def scale(lines: Sequence[Line]) -> tuple[float, float]:
    ratios = [point.ratio for line in lines for point in line.points] + [1]
    return min(ratios) / ROOM, max(ratios) * ROOM


def outside(lines: Sequence[Line]) -> int:
    """How many trials are not drawn."""
    low, high = scale(lines)
    trials = [trial for line in lines for point in line.points for trial in point.trials]
    return sum(not low <= trial <= high for trial in trials)


def plot_line(axes: Axes, line: Line) -> None:
    shade = colour(line.role)
    if not line.marker:
        style = "-" if line.name == NAMES["plain"] else "--"
        axes.axhline(line.points[0].ratio, color=shade, linewidth=0.8, linestyle=style, zorder=1)
        return
    low, high = axes.get_ylim()
    for point in line.points:
        shown = [trial for trial in selection(point.trials) if low <= trial <= high]
        axes.plot(
            [point.x] * len(shown),
            shown,
            "o",
            color=shade,
            alpha=0.5,
            markersize=2.2,
            markeredgewidth=0,
        )
    axes.plot(
        [point.x for point in line.points],
        [point.ratio for point in line.points],
        "-",
        marker=line.marker,
        color=shade,
        markersize=4.6,
        markeredgewidth=0.7,
        markeredgecolor=colour("paper"),
        zorder=3,
    )


def spaced(axes: Axes, values: Sequence[float], room: float) -> list[float]:
    """Those of VALUES whose labels keep off each other on a horizontal axis of ROOM points."""
    place = axes.transScale + axes.transLimits
    kept, end = [], -math.inf
    for value in values:
        middle = room * float(place.transform((value, 1))[0])
        half = width(plain_number(value)) / 2
        if middle - half > end + 5:
            kept.append(value)
            end = middle + half
    return kept


def plot(axes: Axes, lines: Sequence[Line], room: float, set_axis: SetAxis) -> None:
    low, high = scale(lines)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    inside = [tick for tick in RATIO_TICKS if low <= tick <= high]
    set_log_ticks(axes, "y", thinned(inside, math.log(high / low) / 8))
    set_axis(axes, room)
    axes.grid()
    for line in lines:
        plot_line(axes, line)
    axes.set_title("times the throughput of plain calls")
    names = [(line.name, line.role) for line in lines]
    end_labels(axes, names, [line.points[-1].ratio for line in lines])


def draw_gain(prefix: str, shape: Shape, lines: Sequence[Line], set_axis: SetAxis) -> str:
    def drawn(sheet: Layout) -> None:
        room, height = (414.0, 190.0) if shape == "wide" else (136.0, 190.0)
        plot(sheet.axes(36, 20, room, height), lines, room, set_axis)

    return draw(prefix, shape, 248, drawn)


def draw_threads(prefix: str, shape: Shape, call: Call) -> str:
    threads = sorted({float(cell.threads or 0) for cell in call.flexsc})

    def set_axis(axes: Axes, room: float) -> None:
        axes.set_xscale("log")
        axes.set_xlim(threads[0] / 1.3, threads[-1] * 1.3)
        set_log_ticks(axes, "x", spaced(axes, threads, room))
        axes.set_xlabel("user-level threads")

    return draw_gain(prefix, shape, thread_lines(call), set_axis)


def shade_region(axes: Axes, call: Call) -> None:
    cells = call.by_work("flexsc", call.runners[0])
    for start, end in ahead(cells):
        axes.axvspan(start, end, color=colour("grid"), alpha=0.45, linewidth=0, zorder=0)
    for i, work in enumerate(break_evens(cells)):
        axes.axvline(work, color=colour("soft"), linewidth=0.8, linestyle=":", zorder=1)
        axes.annotate(
            time(work, 2),
            (work, 0),
            (-3 if i % 2 == 0 else 3, 5),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="right" if i % 2 == 0 else "left",
            color=colour("soft"),
        )


def draw_work(prefix: str, shape: Shape, call: Call) -> str:
    works = sorted({cell.work_ns for cell in call.cells})
    least = min((work for work in works if work > 0), default=1.0)

    def set_axis(axes: Axes, room: float) -> None:
        axes.set_xscale("symlog", linthresh=least, linscale=0.5)
        axes.set_xlim(works[0] / 1.3 or -0.2 * least, (works[-1] or least) * 1.3)
        set_log_ticks(axes, "x", spaced(axes, works, room))
        axes.set_xlabel("W, work between calls, ns")
        shade_region(axes, call)

    return draw_gain(prefix, shape, work_lines(call), set_axis)
