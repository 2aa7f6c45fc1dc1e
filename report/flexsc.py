# SPDX-License-Identifier: MIT
"""What `ferry bench flexsc` measured: posted calls beside plain ones, batches and io_uring."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from .charts import MIDDLE, Bar, draw_bars
from .document import Absent, Cell, Flexsc
from .drawing import (
    COLOURS,
    dots,
    draw,
    draw_rows,
    legend,
    log_axis,
    plain,
    selection,
    set_ticks,
    size_ticks,
    time_label,
)
from .section import Figure, Section, Table, table
from .words import counted, significant, time, unit, with_error, yes_no

USUAL_THREADS, USUAL_WORK = 64, 150.0  # the figures show what is nearest to these
MOST_RUNNERS, MOST_THREADS = 4, 8  # in a figure; the table has all
MOST_CPU = 5.0  # times that of plain calls; longer bars would hide the others
ROOM = 1.35  # of the scale beyond the medians
WAYS = {"plain": "plain calls", "batch": "batches", "uring": "io_uring"}
WAYS |= {"sqpoll": "SQPOLL", "flexsc": "flexsc"}
STYLES = {"batch": ("grey", "s"), "uring": ("blue", "D"), "sqpoll": ("yellow", "X")}
RUNNER_STYLES = [("orange", "o"), ("purple", "^"), ("green", "v"), ("light", "P")]
PHASES = {  # colour, and what the call does meanwhile
    "claim": ("purple", "claiming an entry"),
    "find": ("orange", "waiting for the runner"),
    "run": ("green", "running"),
    "see": ("blue", "waiting for the caller"),
}
SIDES = [("green", "the caller's thread"), ("orange", "runners, or the thread of io_uring")]


def cpu(cell: Cell) -> float:
    """CPU time of both sides, ns per call."""
    return cell.caller_cpu_ns + cell.other_cpu_ns


def phases(cell: Cell) -> list[float]:
    """ns of each; a negative one comes of clocks that differ, and is drawn as none."""
    found = dataclasses.asdict(cell.phases_ns) if cell.phases_ns else {}
    return [max(found.get(phase, 0.0), 0.0) for phase in PHASES]


def label(cell: Cell) -> str:
    if cell.way != "flexsc":
        return WAYS[cell.way]
    return f"{counted(cell.threads or 0, 'thread')}, {counted(cell.runners or 0, 'runner')}"


@dataclass(frozen=True)
class Call:
    """What was measured of a call, with at least one cell of flexsc."""

    name: str
    cells: Sequence[Cell]

    def flexsc(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.way == "flexsc"]

    def threads(self) -> int:
        found = {cell.threads or 0 for cell in self.flexsc()}
        return min(found, key=lambda threads: abs(threads - USUAL_THREADS))

    def work(self) -> float:
        found = {cell.work_ns for cell in self.flexsc()}
        return min(found, key=lambda work: abs(work - USUAL_WORK))

    def runners(self) -> list[int]:
        return size_ticks(sorted({cell.runners or 0 for cell in self.flexsc()}), MOST_RUNNERS)

    def others(self) -> list[Cell]:
        """The ways that have no threads, at the usual work; plain calls first."""
        work = self.work()
        return [cell for cell in self.cells if cell.way != "flexsc" and cell.work_ns == work]

    def by_threads(self, runners: int) -> list[Cell]:
        """Of flexsc, at the usual work."""
        work = self.work()
        found = [cell for cell in self.flexsc() if (cell.work_ns, cell.runners) == (work, runners)]
        return sorted(found, key=lambda cell: cell.threads or 0)

    def by_work(self, way: str, runners: int | None = None) -> list[Cell]:
        """Of flexsc, with the usual threads."""
        found = [cell for cell in self.cells if (cell.way, cell.runners) == (way, runners)]
        usual = (None, self.threads())
        return sorted(
            (cell for cell in found if cell.threads in usual), key=lambda cell: cell.work_ns
        )

    def shown(self) -> list[Cell]:
        """Of flexsc at the usual work: the threads with the fewest runners, then more runners."""
        usual = self.threads()
        fewest, *more = [self.by_threads(runners) for runners in self.runners()]
        threads = size_ticks([cell.threads or 0 for cell in fewest], MOST_THREADS) if fewest else []
        found = [cell for cell in fewest if cell.threads in {*threads, usual}]
        return found + [cell for cells in more for cell in cells if cell.threads == usual]

    def trial_ratios(self, cell: Cell) -> list[float]:
        """Times the throughput of plain calls, trial by trial."""
        for base in self.cells:
            if (base.way, base.work_ns) == ("plain", cell.work_ns):
                # An interrupted trial ends in the middle: plain calls may have one more.
                pairs = zip(base.trials_ns, cell.trials_ns, strict=False)
                return [before / now for before, now in pairs]
        return []


@dataclass(frozen=True)
class Line:
    """The throughput beside plain calls, over the threads or over the work."""

    name: str
    colour: str
    marker: str
    x: list[float]
    cells: list[Cell]


def runner_lines(
    call: Call, cells_of: Callable[[int], list[Cell]], x_of: Callable[[Cell], float]
) -> list[Line]:
    lines = []
    for runners, (colour, marker) in zip(call.runners(), RUNNER_STYLES, strict=False):
        cells = cells_of(runners)
        if cells:
            x = [x_of(cell) for cell in cells]
            lines.append(Line(counted(runners, "runner"), colour, marker, x, cells))
    return lines


def plot_lines(axes: Axes, call: Call, lines: Sequence[Line], others: Sequence[Cell]) -> None:
    """OTHERS are the same for every x."""
    ratios = [cell.ratio for line in lines for cell in line.cells] + [1.0]
    ratios += [cell.ratio for cell in others]
    log_axis(axes, "y", min(ratios) / ROOM, max(ratios) * ROOM)
    low, high = axes.get_ylim()
    axes.axhline(1, color=COLOURS["ink"], linewidth=0.8, zorder=1)
    for line in lines:
        for x, cell in zip(line.x, line.cells, strict=True):
            shown = np.clip(selection(call.trial_ratios(cell)), low, high)
            dots(axes, np.full_like(shown, x), shown, line.colour)
        y = [cell.ratio for cell in line.cells]
        colour = COLOURS[line.colour]
        axes.plot(line.x, y, color=colour, marker=line.marker, label=line.name, zorder=3)
    for cell in others:
        colour = COLOURS[STYLES[cell.way][0]]
        axes.axhline(cell.ratio, color=colour, linewidth=1, linestyle="--", label=WAYS[cell.way])
    axes.set_title("times the throughput of plain calls")
    legend(axes)


def plot_threads(axes: Axes, call: Call) -> None:
    lines = runner_lines(call, call.by_threads, lambda cell: cell.threads or 0)
    plot_lines(axes, call, lines, [cell for cell in call.others() if cell.way != "plain"])
    threads = sorted({cell.threads or 0 for cell in call.flexsc()})
    log_axis(axes, "x", threads[0], threads[-1] + 0.01)
    set_ticks(axes.xaxis, size_ticks(threads, 5))
    axes.set_xlabel("user-level threads")


def plot_work(axes: Axes, call: Call) -> None:
    lines = runner_lines(
        call, lambda runners: call.by_work("flexsc", runners), lambda cell: cell.work_ns
    )
    for line in lines[:1]:
        y = [cell.ratio for cell in line.cells]
        above = [ratio > 1 for ratio in y]
        axes.fill_between(
            line.x, y, 1, where=above, interpolate=True, color=COLOURS["grid"], linewidth=0
        )
    for way, (colour, marker) in STYLES.items():
        cells = call.by_work(way)
        if cells:
            lines.append(Line(WAYS[way], colour, marker, [cell.work_ns for cell in cells], cells))
    plot_lines(axes, call, lines, [])
    works = sorted({cell.work_ns for cell in call.flexsc()})
    least = next((work for work in works if work > 0), 1.0)
    axes.set_xscale("symlog", linthresh=least, linscale=0.5)
    axes.set_xlim(works[0] / 1.3 or -0.2 * least, (works[-1] or least) * 1.3)
    set_ticks(axes.xaxis, size_ticks(works, 5), plain)
    axes.set_xlabel(f"W, work between calls, {unit()}")


def gain_figure(name: str, call: Call) -> Figure:
    cells = [*call.others(), *call.shown()]
    return Figure(
        name=f"{name}-gain",
        title=f"{call.name}: throughput beside plain calls",
        panels=[
            draw(f"{name}-threads", 220, lambda axes: plot_threads(axes, call)),
            draw(f"{name}-work", 220, lambda axes: plot_work(axes, call)),
        ],
        values=[(label(cell), significant(cell.ratio)) for cell in cells],
        note=f"Left, or first: over the user-level threads, at W = {time(call.work())}. Right: "
        f"over W, the work between two calls, with {counted(call.threads(), 'thread')}; shaded "
        "where flexsc with the fewest runners is ahead. Lines named by runners are flexsc; the "
        "throughput includes the work. Marks: medians of the ratios; dots: every trial, those "
        "beyond the scale at its edge. All scales are logarithmic, that of W beyond its first "
        "step.",
        about={call.name},
    )


def draw_latency(name: str, cells: Sequence[Cell]) -> Markup:
    def points(cell: Cell) -> list[float]:
        """A logarithmic scale has no 0."""
        return [max(at, 1.0) for at in dataclasses.astuple(cell.latency_ns)]

    def plot(axes: Axes) -> None:
        for i, cell in enumerate(cells):
            colour, y = COLOURS["orange" if cell.way == "flexsc" else "blue"], i + MIDDLE
            p50, p90, p99, longest = points(cell)
            axes.plot([p50, longest], [y, y], color=colour, linewidth=0.8, alpha=0.6)
            axes.plot(p50, y, "o", color=colour)
            axes.plot(p90, y, "d", color=colour)
            axes.plot(p99, y, "|", color=colour, markersize=7, markeredgecolor=colour)
            axes.plot(longest, y, "o", mfc=COLOURS["paper"], mec=colour, markersize=3.5)
        every = [at for cell in cells for at in points(cell)]
        log_axis(axes, "x", min(every), max(every), time_label)
        axes.set_title("latency; right: 50 % and 99 %")

    words = [
        (label(cell), f"{time(cell.latency_ns.p50)}, {time(cell.latency_ns.p99)}") for cell in cells
    ]
    return draw_rows(name, words, plot)


def draw_phases(name: str, cells: Sequence[Cell]) -> Markup:
    colours = [colour for colour, _ in PHASES.values()]
    bars = [
        Bar(
            label(cell),
            time(sum(phases(cell))),
            [
                (100 * ns / (sum(phases(cell)) or 1), colour)
                for ns, colour in zip(phases(cell), colours, strict=True)
            ],
        )
        for cell in cells
    ]
    return draw_bars(name, "share of the mean latency, %", bars)


def draw_cpu(name: str, cells: Sequence[Cell]) -> Markup:
    bars = [
        Bar(
            label(cell),
            f"{time(cpu(cell))}, {significant(cell.ratio)} times",
            [(cell.caller_cpu_ns, SIDES[0][0]), (cell.other_cpu_ns, SIDES[1][0])],
        )
        for cell in cells
    ]
    plain_cpu = next((cpu(cell) for cell in cells if cell.way == "plain"), 0.0)
    return draw_bars(name, f"CPU time of a call and its work, {unit()}", bars, MOST_CPU * plain_cpu)


def latency_figure(name: str, call: Call) -> Figure:
    cells = [*call.others(), *call.shown()]
    return Figure(
        name=f"{name}-latency",
        title=f"{call.name}: latency of a call, and what a posted one waits for",
        panels=[
            draw_latency(f"{name}-latency", cells),
            draw_phases(f"{name}-phases", call.shown()),
        ],
        values=[
            (label(cell), f"{time(cell.latency_ns.p50)}, 99 % {time(cell.latency_ns.p99)}")
            for cell in cells
        ],
        key=list(PHASES.values()),
        note=f"At W = {time(call.work())}. Latency: from asking to having the result, measured "
        "apart from the trials; orange is flexsc. From the left: dot, 50 %; diamond, 90 %; "
        "stroke, 99 %; ring, the longest. A batch, and io_uring with 64 requests at once, return "
        "no result before all 64 are made. Shares: of the mean latency on the right, in which "
        "one call that was held up for long weighs much; the clock's readings are part of it.",
    )


def cpu_figure(name: str, call: Call) -> Figure:
    cells = [*call.others(), *call.shown()]
    return Figure(
        name=f"{name}-cpu",
        title=f"{call.name}: CPU time of both sides",
        panels=[draw_cpu(f"{name}-cpu", cells)],
        values=[
            (label(cell), f"{time(cell.caller_cpu_ns)} and {time(cell.other_cpu_ns)}")
            for cell in cells
        ],
        key=SIDES,
        note=f"Per call with its W = {time(call.work())}, means of the trials. On the right: both "
        "sides together, and times the throughput of plain calls. A runner that spins uses its "
        "CPU, too. The time of io_uring's thread is as exact as the kernel's tick. Bars longer "
        f"than {MOST_CPU:.0f} times that of plain calls are cut.",
    )


def tables(call: str, cells: Sequence[Cell]) -> list[Table]:
    def name(cell: Cell) -> str:
        return f"{label(cell)}, {time(cell.work_ns)}"

    def phase(name: str) -> Callable[[Cell], str]:
        return lambda cell: significant(getattr(cell.phases_ns, name, None))

    throughput: dict[str, Callable[[Cell], str]] = {
        "way, W": name,
        "time": lambda cell: with_error(cell.median, cell.se),
        "times the throughput": lambda cell: with_error(cell.ratio, cell.ratio_se),
        "beyond noise": lambda cell: yes_no(cell.significant),
        "CPU, caller": lambda cell: significant(cell.caller_cpu_ns),
        "CPU, others": lambda cell: significant(cell.other_cpu_ns),
        "trials": lambda cell: str(len(cell.trials_ns)),
    }
    latency: dict[str, Callable[[Cell], str]] = {
        "way, W": name,
        "50 %": lambda cell: significant(cell.latency_ns.p50),
        "90 %": lambda cell: significant(cell.latency_ns.p90),
        "99 %": lambda cell: significant(cell.latency_ns.p99),
        "longest": lambda cell: significant(cell.latency_ns.max),
    } | {name: phase(name) for name in PHASES}
    return [
        table(
            f"{call}: throughput and CPU time ({unit()} per call, its work included)",
            cells,
            throughput,
        ),
        table(f"{call}: latency, and the means of its phases ({unit()})", cells, latency),
    ]


def section(name: str, run: Flexsc) -> Section:
    cells = [cell for cell in run.cells if isinstance(cell, Cell)]
    calls = [
        Call(call, [cell for cell in cells if cell.call == call])
        for call in dict.fromkeys(cell.call for cell in cells)
    ]
    notes = [  # the same for every work
        f"{cell.call} by {WAYS.get(cell.way, cell.way)}: {cell.reason or 'not available'}."
        for cell in run.cells
        if isinstance(cell, Absent)
    ]
    return Section(
        topic="flexsc",
        title="posted calls beside plain ones",
        figures=[
            make(f"{name}-{call.name}", call)
            for call in calls
            if call.flexsc()
            for make in (gain_figure, latency_figure, cpu_figure)
        ],
        tables=[one for call in calls for one in tables(call.name, call.cells)],
        notes=list(dict.fromkeys(notes)),
    )
