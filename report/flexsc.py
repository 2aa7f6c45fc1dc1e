# SPDX-License-Identifier: MIT
"""What `ferry bench flexsc` measured: posted calls beside plain ones, batches and io_uring."""

from collections.abc import Sequence
from statistics import median

from .flexsc_cells import WAYS, Call, ahead, break_evens, cpu, label, wins
from .flexsc_cost import (
    MOST_CPU,
    PHASES,
    SIDES,
    cpu_limit,
    draw_cpu,
    draw_latency,
    draw_phases,
    mean_latency,
    shares,
)
from .flexsc_gain import Line, draw_threads, draw_work, outside, thread_lines, work_lines
from .history import differ
from .schema import AbsentCell, Cell, Flexsc
from .section import Figure, Section, Table
from .words import NONE, counted, doubt, joined, percent, significant, time, times, with_error

TOPIC = "flexsc"
TITLE = "posted calls beside plain ones"
SO = {  # what it means that a phase is the longest
    "claim": "there are more threads than free entries",
    "find": "calls queue for the runner",
    "run": "little is lost beside the calls themselves",
    "see": "results wait until their thread has its turn",
}


def gain(cell: Cell) -> str:
    return f"{with_error(cell.ratio, cell.ratio_se)} times the throughput of plain calls"


def best(cells: Sequence[Cell]) -> Cell | None:
    return max(cells, key=lambda cell: cell.ratio) if cells else None


def noise_sentence(cells: Sequence[Cell]) -> str:
    errors = [cell.ratio_se / cell.ratio for cell in cells if cell.ratio_se is not None]
    if not errors:
        return "There are too few trials to state the noise."
    return (
        f"The noise: the standard error of a ratio of flexsc is {percent(median(errors))} in the "
        f"median of these, {percent(max(errors))} at most."
    )


def others_sentence(cells: Sequence[Cell]) -> str:
    found = best([cell for cell in cells if cell.way in WAYS])
    if not found:
        return ""
    value = with_error(found.ratio, found.ratio_se)
    unsure = doubt(found.significant)
    return f"Of the other ways, {label(found)} did best there: {value} times{unsure}."


def threads_sentence(call: Call) -> str:
    fewest, *more = call.runners
    cells = call.by_threads(fewest)
    most = best(cells)
    if not most:
        return ""
    text = f"At W = {time(call.work)}, flexsc does best with {label(most)}: {gain(most)}"
    text += doubt(most.significant)
    if len(cells) > 1 and cells[0] is not most:
        text += f". With {label(cells[0])} it makes {significant(cells[0].ratio)} times"
    another = best([cell for runners in more for cell in call.by_threads(runners)])
    if another:
        better = differ((another.ratio, another.ratio_se), (most.ratio, most.ratio_se))
        verb = "more" if better and another.ratio > most.ratio else "no more"
        text += f". More runners give {verb}: at best {significant(another.ratio)} times, with "
        text += label(another)
    return f"{text}."


def ranges(cells: Sequence[Cell]) -> str:
    return joined([f"W = {time(start, 2)} to {time(end, 2)}" for start, end in ahead(cells)])


def region_sentence(call: Call) -> str:
    cells = call.by_work("flexsc", call.runners[0])
    most = best(cells)
    if not most:
        return ""
    who = f"With {label(most)}, flexsc"
    if not ahead(cells):
        return f"{who} is behind plain calls at every W that was measured: at best {gain(most)}."
    if not any(wins(cell) for cell in cells):
        return f"{who} is nowhere ahead of plain calls by more than the noise."
    even = [time(work, 2) for work in break_evens(cells)]
    breaks = f"it breaks even at W = {joined(even)}" if even else "it breaks even at no W"
    text = f"{who} wins at {ranges(cells)}, shaded; {breaks}. It gains most at W = "
    text += f"{time(most.work_ns)}: {gain(most)}"
    unsure = [time(cell.work_ns) for cell in cells if cell.ratio > 1 and not cell.significant]
    if unsure:
        text += f". At W = {joined(unsure)} the noise could have made the gain"
    return f"{text}."


def latency_sentence(call: Call) -> str:
    cell, plain = call.usual(), call.plain(call.work)
    if not cell or not plain:
        return ""
    own, base = cell.latency_ns, plain.latency_ns
    text = (
        f"At W = {time(call.work)} and with {label(cell)}, half of the calls by flexsc take "
        f"{time(own.p50)} or less, 1 in 100 more than {time(own.p99)}; by plain calls "
        f"{time(base.p50)} and {time(base.p99)}."
    )
    if own.p50 > base.p50:
        text += " So each call comes later, whatever the throughput: the other threads go first."
    return text


def phases_sentence(call: Call) -> str:
    cell = call.usual()
    if not cell:
        return ""
    parts = shares(cell)
    longest = max(parts, key=lambda phase: parts[phase])
    rest = [f"{percent(parts[phase])} {PHASES[phase][1]}" for phase in PHASES if phase != longest]
    return (
        f"With {label(cell)}, {percent(parts[longest])} of a call is {PHASES[longest][1]}, so "
        f"{SO[longest]}; {joined(rest)}."
    )


def verdict_on_cpu(cell: Cell, used: float) -> str:
    if not wins(cell):
        return "more CPU time and no gain" if used > 1 else "no gain"
    if used <= 1:
        return "a gain in both"
    return (
        "the gain is bought with CPU time of the runner's, and for the same CPU time there are "
        f"{times(1 / used)} as many calls as plain ones"
    )


def cpu_sentence(call: Call) -> str:
    cell, plain = call.usual(), call.plain(call.work)
    if not cell or not plain or not cpu(plain):
        return ""
    used = cpu(cell) / cpu(plain)
    return (
        f"At W = {time(call.work)}, a call and its work take {time(cpu(cell))} of CPU time by "
        f"flexsc with {label(cell)} ({time(cell.caller_cpu_ns)} the caller's, "
        f"{time(cell.other_cpu_ns)} the runner's), {time(cpu(plain))} by plain calls: "
        f"{times(used)} the CPU time for {times(cell.ratio)} the throughput; "
        f"{verdict_on_cpu(cell, used)}."
    )


def recommendation(call: Call) -> str:
    cells = call.by_work("flexsc", call.runners[0])
    winning = best([cell for cell in cells if wins(cell)])
    if not winning:
        return f"{call.name}: keep plain calls; flexsc won at no W by more than the noise."
    text = (
        f"{call.name}: with {label(winning)}, post calls (flexsc) at {ranges(cells)} of work "
        f"between them, where the runner has a CPU to itself: up to {times(winning.ratio)} the "
        "throughput"
    )
    plain = call.plain(winning.work_ns)
    if plain and cpu(plain):
        text += f" for {times(cpu(winning) / cpu(plain))} the CPU time"
    there = [cell for cell in call.cells if cell.way in WAYS and cell.work_ns == winning.work_ns]
    other = best(there)
    if other and other.ratio > winning.ratio:
        text += f", though {label(other)} gave {significant(other.ratio)} times there"
    return f"{text}. Elsewhere keep plain calls."


def left_out(lines: Sequence[Line]) -> str:
    count = outside(lines)
    if not count:
        return ""
    return f" {counted(count, 'trial')} beyond the scale {'is' if count == 1 else 'are'} not drawn."


def threads_figure(name: str, call: Call) -> Figure:
    cells = [cell for runners in call.runners for cell in call.by_threads(runners)]
    sentences = [threads_sentence(call), others_sentence(call.others()), noise_sentence(cells)]
    shown = "; ".join(f"{label(cell)} {significant(cell.ratio)}" for cell in cells)
    return Figure(
        name=name,
        title=f"{call.name}: throughput over user-level threads",
        see=" ".join(filter(None, sentences)),
        description=f"Lines over the user-level threads, at W = {time(call.work)}, of the "
        f"throughput relative to plain calls: {shown}.",
        wide=draw_threads(f"{name}-wide", "wide", call),
        narrow=draw_threads(f"{name}-narrow", "narrow", call),
        note="Solid lines with marks: flexsc, by its runners; dashed: ways without such threads. "
        "Marks: medians of the ratios; dots: every trial, beside the plain calls of the same "
        f"trial. Both scales are logarithmic.{left_out(thread_lines(call))}",
    )


def work_figure(name: str, call: Call) -> Figure:
    cells = call.by_work("flexsc", call.runners[0])
    shown = "; ".join(f"{time(cell.work_ns)} {significant(cell.ratio)}" for cell in cells)
    sentences = [region_sentence(call), noise_sentence(cells)]
    return Figure(
        name=name,
        title=f"{call.name}: gain over the work between calls",
        see=" ".join(filter(None, sentences)),
        description=f"Lines over W, the work between two calls, of the throughput relative to "
        f"plain calls; flexsc with {counted(call.threads, 'thread')}: {shown}.",
        wide=draw_work(f"{name}-wide", "wide", call),
        narrow=draw_work(f"{name}-narrow", "narrow", call),
        note=f"Lines named by runners: flexsc with {counted(call.threads, 'thread')}. Shaded: "
        "where it is ahead with the fewest runners, by straight lines between the W that were "
        "measured; dotted: where it breaks even. Marks: medians of the ratios; dots: every "
        "trial. The work counts in the throughput. Both scales are logarithmic, that of W beyond "
        f"its first step.{left_out(work_lines(call))}",
    )


def latency_figure(name: str, call: Call) -> Figure:
    cells = [*call.others(), *call.shown()]
    shown = "; ".join(
        f"{label(cell)} {time(cell.latency_ns.p50)} and {time(cell.latency_ns.p99)}"
        for cell in cells
    )
    return Figure(
        name=name,
        title=f"{call.name}: latency of a call",
        see=latency_sentence(call) or "Too little was finished to compare.",
        description=f"Latencies that 50 and 99 % of the calls do not exceed, at W = "
        f"{time(call.work)}: {shown}.",
        wide=draw_latency(f"{name}-wide", "wide", call),
        narrow=draw_latency(f"{name}-narrow", "narrow", call),
        key=[("bare", "other ways"), ("device", "flexsc")],
        note="From asking to having the result, measured apart from the trials. From the left: "
        "dot, 50 %; diamond, 90 %; stroke, 99 %; ring, the longest. A batch, and io_uring with "
        "64 requests at once, give no result before the others of the 64 are made. The scale is "
        "logarithmic.",
    )


def phases_figure(name: str, call: Call) -> Figure:
    shown = "; ".join(
        f"{label(cell)} "
        + ", ".join(f"{phase} {percent(share)}" for phase, share in shares(cell).items())
        + f" of {time(mean_latency(cell))}"
        for cell in call.shown()
    )
    return Figure(
        name=name,
        title=f"{call.name}: what a posted call waits for",
        see=phases_sentence(call) or "Too little was finished to compare.",
        description=f"Shares of the mean latency by flexsc at W = {time(call.work)}: {shown}.",
        wide=draw_phases(f"{name}-wide", "wide", call),
        narrow=draw_phases(f"{name}-narrow", "narrow", call),
        key=[PHASES[phase] for phase in PHASES],
        note="On the right the mean latency, in which one call that was held up for long weighs "
        "much; taking the times is part of it.",
    )


def cpu_figure(name: str, call: Call) -> Figure:
    cells = [*call.others(), *call.shown()]
    shown = "; ".join(
        f"{label(cell)} {time(cell.caller_cpu_ns)} and {time(cell.other_cpu_ns)}" for cell in cells
    )
    cut = any(cpu(cell) > cpu_limit(cells) for cell in cells)
    return Figure(
        name=name,
        title=f"{call.name}: CPU time of both sides",
        see=cpu_sentence(call) or "Too little was finished to compare.",
        description=f"Bars of the CPU time of the caller and of others per call, at W = "
        f"{time(call.work)}: {shown}.",
        wide=draw_cpu(f"{name}-wide", "wide", call),
        narrow=draw_cpu(f"{name}-narrow", "narrow", call),
        key=SIDES,
        note=f"Per call with its W = {time(call.work)}, means of the trials; on the right both "
        "sides together, and times the throughput of plain calls. A runner that spins is time "
        "of its CPU, too. That of io_uring is as exact as the kernel's tick."
        + (f" Bars longer than {MOST_CPU:.0f} times that of plain calls are cut." if cut else ""),
    )


def figures(name: str, call: Call) -> list[Figure]:
    makers = {
        "threads": threads_figure,
        "work": work_figure,
        "latency": latency_figure,
        "phases": phases_figure,
        "cpu": cpu_figure,
    }
    return [make(f"{name}-{call.name}-{what}", call) for what, make in makers.items()]


def cell_name(cell: Cell) -> str:
    return f"{label(cell)}, {time(cell.work_ns)}"


def throughput_table(name: str, cells: Sequence[Cell]) -> Table:
    return Table(
        title=f"{name}: throughput and CPU time (ns per call, its work included)",
        head=["way, W", "time", "times the throughput", "beyond noise", "CPU, caller",
              "CPU, others", "trials"],
        rows=[
            [
                cell_name(cell),
                with_error(cell.median, cell.se),
                with_error(cell.ratio, cell.ratio_se),
                "yes" if cell.significant else "no",
                significant(cell.caller_cpu_ns),
                significant(cell.other_cpu_ns),
                str(len(cell.trials_ns)),
            ]
            for cell in cells
        ],
    )  # fmt: skip


def latency_table(name: str, cells: Sequence[Cell]) -> Table:
    def phases(cell: Cell) -> list[str]:
        if not cell.phases_ns:
            return [NONE] * len(PHASES)
        return [significant(getattr(cell.phases_ns, phase)) for phase in PHASES]

    return Table(
        title=f"{name}: latency, and the means of its phases (ns)",
        head=["way, W", "50 %", "90 %", "99 %", "longest", *PHASES],
        rows=[
            [
                cell_name(cell),
                significant(cell.latency_ns.p50),
                significant(cell.latency_ns.p90),
                significant(cell.latency_ns.p99),
                significant(cell.latency_ns.max),
                *phases(cell),
            ]
            for cell in cells
        ],
    )


def tables(call: Call) -> list[Table]:
    return [throughput_table(call.name, call.cells), latency_table(call.name, call.cells)]


def notes(absent: Sequence[AbsentCell]) -> list[str]:
    """Once for all works."""
    found = [
        f"{cell.call} by {WAYS.get(cell.way, cell.way)}: {cell.reason or 'not available'}."
        for cell in absent
    ]
    return list(dict.fromkeys(found))


def section(name: str, file: str, run: Flexsc) -> Section:
    cells = [cell for cell in run.cells if isinstance(cell, Cell)]
    calls = [
        Call(call, [cell for cell in cells if cell.call == call])
        for call in dict.fromkeys(cell.call for cell in cells)
    ]
    compared = [call for call in calls if call.flexsc]
    headline = " ".join(recommendation(call) for call in compared)
    return Section(
        name=name,
        topic=TOPIC,
        title=TITLE,
        file=file,
        run=run,
        headline=headline or "No cell of flexsc was finished.",
        figures=[figure for call in compared for figure in figures(name, call)],
        tables=[table for call in calls for table in tables(call)],
        notes=notes([cell for cell in run.cells if isinstance(cell, AbsentCell)]),
    )
