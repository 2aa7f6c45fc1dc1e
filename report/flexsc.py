# SPDX-License-Identifier: MIT
"""What `ferry bench flexsc` measured: posted calls beside plain ones, batches and io_uring."""

from collections.abc import Collection, Sequence

from .charts import Bar, Line, draw_bars, draw_lines
from .document import Cell, Flexsc
from .drawing import some
from .section import TOPICS, Figure, Section, grouped
from .words import counted, significant, time, unit

USUAL_THREADS, USUAL_WORK = 64, 150.0  # the figures show what is nearest to these
WAYS = {"plain": "plain calls", "batch": "batches", "uring": "io_uring"}
WAYS |= {"sqpoll": "SQPOLL", "pthreads": "plain calls of as many threads"}
STYLES = {"batch": ("grey", "s"), "uring": ("blue", "D"), "sqpoll": ("yellow", "X")}
STYLES |= {"pthreads": ("ink", "*")}
RUNNER_STYLES = [("orange", "o"), ("purple", "^"), ("green", "v"), ("light", "P")]
SIDES = [("green", "the callers' threads"), ("orange", "runners, or the thread of io_uring")]


def nearest(values: Collection[float], usual: float) -> float:
    return min(values, key=lambda one: abs(one - usual))


class Call:
    """What was measured of a call with the usual number of threads.

    At least one of CELLS is of flexsc.
    """

    def __init__(self, name: str, cells: Sequence[Cell]) -> None:
        self.name = name
        posted = [cell for cell in cells if cell.way == "flexsc"]
        self.threads = nearest({cell.threads or 0 for cell in posted}, USUAL_THREADS)
        self.work = nearest({cell.work_ns for cell in posted}, USUAL_WORK)
        numbers = sorted({cell.runners or 0 for cell in posted})
        runners = some(numbers, len(RUNNER_STYLES))  # the tables have all
        usual = [cell for cell in cells if cell.threads in (None, self.threads)]
        # By the way to make it and the runners, which only flexsc has; with more and more work
        self.series = {
            key: sorted(same, key=lambda cell: cell.work_ns)
            for key, same in grouped(usual, lambda cell: (cell.way, cell.runners)).items()
            if key[1] in runners or (key[1] is None and key[0] in WAYS)
        }


def gain_lines(call: Call) -> list[Line]:
    runner_styles = iter(RUNNER_STYLES)
    lines = []
    for (way, runners), cells in call.series.items():
        if way == "plain":
            continue
        name = counted(runners, "runner") if runners else WAYS[way]
        style = next(runner_styles) if runners else STYLES[way]
        x, y = [cell.work_ns for cell in cells], [cell.ratio for cell in cells]
        lines.append(Line(name, *style, x, y, [cell.ratios for cell in cells]))
    return lines


def gain_figure(name: str, call: Call) -> Figure:
    title = "times the throughput of plain calls"
    x_label = f"W, work between calls, {unit()}"
    lines = gain_lines(call)
    return Figure(
        name=f"{name}-gain",
        title=f"{call.name}: throughput beside plain calls",
        panels=[draw_lines(f"{name}-work", title, x_label, lines, level=1.0, x_from_0=True)],
        note=f"Over W, the work between two calls, with {call.threads:.0f} threads; the "
        "throughput includes the work. Lines named by runners are flexsc. Marks: medians of the "
        "ratios; dots: every trial, those beyond the scale at its edge. Both scales are "
        "logarithmic, that of W beyond its first step.",
        about={call.name},
    )


def cpu_bar(cell: Cell) -> Bar:
    label = f"flexsc, {counted(cell.runners, 'runner')}" if cell.runners else WAYS[cell.way]
    both = time(cell.caller_cpu_ns + cell.other_cpu_ns)
    sides = [(cell.caller_cpu_ns, SIDES[0][0]), (cell.other_cpu_ns, SIDES[1][0])]
    return Bar(label, f"{both}, {significant(cell.ratio)} times", sides)


def cpu_figure(name: str, call: Call) -> Figure:
    usual = [cell for cells in call.series.values() for cell in cells if cell.work_ns == call.work]
    title = f"CPU time of a call and its work, {unit()}"
    return Figure(
        name=f"{name}-cpu",
        title=f"{call.name}: CPU time of both sides",
        panels=[draw_bars(f"{name}-cpu", title, list(map(cpu_bar, usual)))],
        key=SIDES,
        note=f"Per call with its W = {time(call.work)}, means of the trials, with "
        f"{call.threads:.0f} threads. On the right: both sides together, and times the throughput "
        "of plain calls. A runner that spins uses its CPU, too. The time of io_uring's thread is "
        "as exact as the kernel's tick.",
    )


def section(name: str, run: Flexsc) -> Section:
    posted = {cell.call for cell in run.cells if cell.way == "flexsc"}
    measured = [cell for cell in run.cells if cell.call in posted]
    figures = [
        make(f"{name}-{call}", Call(call, cells))
        for call, cells in grouped(measured, lambda cell: cell.call).items()
        for make in (gain_figure, cpu_figure)
    ]
    return Section(*TOPICS[run.bench], figures)
