# SPDX-License-Identifier: MIT
"""What `ferry bench flexsc` measured: posted calls beside plain ones, batches and io_uring."""

from collections.abc import Callable, Sequence

from .charts import Bar, Line, draw_bars, draw_lines
from .document import Cell, Flexsc
from .drawing import Panel, some
from .section import Figure, Section, grouped
from .words import counted, significant, time, unit

USUAL_THREADS, USUAL_WORK = 64, 150.0  # the figures show what is nearest to these
MOST_RUNNERS, MOST_THREADS = 4, 8  # in a figure; the table has all
MOST_CPU = 5.0  # times that of plain calls; longer bars would hide the others
TIMES = "times the throughput of plain calls"
WAYS = {"plain": "plain calls", "batch": "batches", "uring": "io_uring"}
WAYS |= {"sqpoll": "SQPOLL", "pthreads": "plain calls of as many threads", "flexsc": "flexsc"}
STYLES = {"batch": ("grey", "s"), "uring": ("blue", "D"), "sqpoll": ("yellow", "X")}
STYLES |= {"pthreads": ("ink", "*")}
RUNNER_STYLES = [("orange", "o"), ("purple", "^"), ("green", "v"), ("light", "P")]
SIDES = [("green", "the callers' threads"), ("orange", "runners, or the thread of io_uring")]


def cpu(cell: Cell) -> float:
    """CPU time of both sides, ns per call."""
    return cell.caller_cpu_ns + cell.other_cpu_ns


def label(cell: Cell) -> str:
    if cell.way != "flexsc":
        return WAYS.get(cell.way, cell.way)
    return f"{counted(cell.threads or 0, 'thread')}, {counted(cell.runners or 0, 'runner')}"


class Call:
    """What was measured of a call, with at least one cell of flexsc."""

    def __init__(self, name: str, cells: Sequence[Cell]) -> None:
        self.name, self.cells = name, cells
        self.flexsc = [cell for cell in cells if cell.way == "flexsc"]
        threads = {cell.threads or 0 for cell in self.flexsc}
        works = {cell.work_ns for cell in self.flexsc}
        runners = {cell.runners or 0 for cell in self.flexsc}
        self.ends = min(threads), max(threads)
        self.threads = min(threads, key=lambda one: abs(one - USUAL_THREADS))
        self.work = min(works, key=lambda one: abs(one - USUAL_WORK))
        self.runners = some(sorted(runners), MOST_RUNNERS)
        # The other ways, at the usual work and with the usual threads; plain calls first
        others = [c for c in cells if c.way != "flexsc" and c.work_ns == self.work]
        self.others = [c for c in others if c.threads in (None, self.threads)]

    def by_threads(self, runners: int) -> list[Cell]:
        """Of flexsc, at the usual work."""
        kind = (self.work, runners)
        found = [cell for cell in self.flexsc if (cell.work_ns, cell.runners) == kind]
        return sorted(found, key=lambda cell: cell.threads or 0)

    def by_work(self, way: str, runners: int | None = None) -> list[Cell]:
        """Of flexsc, with the usual threads."""
        found = [cell for cell in self.cells if (cell.way, cell.runners) == (way, runners)]
        usual = [cell for cell in found if cell.threads in (None, self.threads)]
        return sorted(usual, key=lambda cell: cell.work_ns)

    def shown(self) -> list[Cell]:
        """Of flexsc at the usual work: the threads with the fewest runners, then more runners."""
        fewest, *more = [self.by_threads(runners) for runners in self.runners]
        threads = some([cell.threads for cell in fewest], MOST_THREADS) if fewest else []
        found = [cell for cell in fewest if cell.threads in {*threads, self.threads}]
        return found + [cell for cells in more for cell in cells if cell.threads == self.threads]

    def all_shown(self) -> list[Cell]:
        return [*self.others, *self.shown()]


def line(
    name: str, style: tuple[str, str], cells: Sequence[Cell], x_of: Callable[[Cell], float]
) -> Line:
    x, y = [x_of(cell) for cell in cells], [cell.ratio for cell in cells]
    return Line(name, *style, x, y, [cell.ratios for cell in cells])


def lines_over(
    call: Call, cells_of: Callable[[int], list[Cell]], x_of: Callable[[Cell], float]
) -> list[Line]:
    """Of flexsc, a line for each number of runners."""
    return [
        line(counted(runners, "runner"), style, cells, x_of)
        for runners, style in zip(call.runners, RUNNER_STYLES, strict=False)
        if (cells := cells_of(runners))
    ]


def draw_threads(name: str, call: Call) -> Panel:
    lines = lines_over(call, call.by_threads, lambda cell: cell.threads or 0)
    for cell in call.others:
        if cell.way in STYLES:
            colour, _ = STYLES[cell.way]
            ratios = [cell.ratio] * 2
            lines.append(Line(WAYS[cell.way], colour, "", [*call.ends], ratios, style="--"))
    return draw_lines(name, TIMES, "threads", lines, base=lines[0])


def draw_work(name: str, call: Call) -> Panel:
    def work(cell: Cell) -> float:
        return cell.work_ns

    lines = lines_over(call, lambda runners: call.by_work("flexsc", runners), work)
    ways = [(way, call.by_work(way)) for way in STYLES]
    lines += [line(WAYS[way], STYLES[way], cells, work) for way, cells in ways if cells]
    x_label = f"W, work between calls, {unit()}"
    return draw_lines(name, TIMES, x_label, lines, base=lines[0], x_from_0=True)


def gain_figure(name: str, call: Call) -> Figure:
    return Figure(
        name=f"{name}-gain",
        title=f"{call.name}: throughput beside plain calls",
        panels=[draw_threads(f"{name}-threads", call), draw_work(f"{name}-work", call)],
        note=f"Over the threads, at W = {time(call.work)}, and over W, the work "
        f"between two calls, with {counted(call.threads, 'thread')}. Lines named by runners "
        "are flexsc, shaded where it is ahead with the fewest; the throughput includes the work. "
        "Marks: medians of the ratios; dots: every trial, those beyond the scale at its edge. "
        "All scales are logarithmic, that of W beyond its first step.",
        about={call.name},
    )


def draw_cpu(name: str, cells: Sequence[Cell]) -> Panel:
    def bar(cell: Cell) -> Bar:
        sides = [(cell.caller_cpu_ns, SIDES[0][0]), (cell.other_cpu_ns, SIDES[1][0])]
        return Bar(label(cell), f"{time(cpu(cell))}, {significant(cell.ratio)} times", sides)

    title = f"CPU time of a call and its work, {unit()}"
    plain_cpu = next((cpu(cell) for cell in cells if cell.way == "plain"), 0.0)
    return draw_bars(name, title, [bar(cell) for cell in cells], MOST_CPU * plain_cpu)


def cpu_figure(name: str, call: Call) -> Figure:
    cells = call.all_shown()
    return Figure(
        name=f"{name}-cpu",
        title=f"{call.name}: CPU time of both sides",
        panels=[draw_cpu(f"{name}-cpu", cells)],
        key=SIDES,
        note=f"Per call with its W = {time(call.work)}, means of the trials. On the right: both "
        "sides together, and times the throughput of plain calls. A runner that spins uses its "
        "CPU, too. The time of io_uring's thread is as exact as the kernel's tick. Bars longer "
        f"than {MOST_CPU:.0f} times that of plain calls are cut.",
    )


def section(name: str, run: Flexsc) -> Section:
    cells = grouped(run.cells, lambda cell: cell.call)
    calls = [
        Call(call, of) for call, of in cells.items() if any(cell.way == "flexsc" for cell in of)
    ]
    figures = [
        make(f"{name}-{call.name}", call) for call in calls for make in (gain_figure, cpu_figure)
    ]
    return Section(
        topic="flexsc",
        title="posted calls beside plain ones",
        figures=figures,
    )
