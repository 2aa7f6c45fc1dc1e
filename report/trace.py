# SPDX-License-Identifier: MIT
"""What `ferry trace` found: where the time goes, the sequences as graphs, what could be saved."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from .charts import Bar, draw_bars
from .document import Table
from .drawing import COLOURS, Panel, draw
from .section import Figure, Section, table
from .trace_document import Calls, Estimate, Saving, Step, Trace
from .trace_document import Sequence as CallSequence
from .words import counted, fixed, percent, time, whole, with_error

MS = 1e6  # ns
STEP_HEIGHT = 30.0  # points
BATCHES = ("blue", "green", "orange", "purple", "yellow")
SOURCES = {
    "before": "differs",
    "result": "result of",
    "buffer": "buffer of",
    "user": "made from",
}
FLOWS = {"result": "blue", "buffer": "orange", "user": "grey"}
MIDDLE, RIGHT = 0.36, 0.68  # of a panel's width: the steps, and where flows leave and arrive


def milliseconds(estimate: Estimate) -> str:
    scaled = (None if one is None else one / MS for one in (estimate.value, estimate.error))
    return f"{with_error(*scaled)} ms"


def headline(trace: Trace) -> str:
    """The most that any batching can gain."""
    crossings = trace.time.crossings_ns
    if crossings and crossings.value is not None and trace.time.cpu_ns:
        return f"crossings take {percent(crossings.value / trace.time.cpu_ns)} of its CPU time"
    return f"crossings take {time(trace.total * (trace.crossing_ns.value or 0))} of its CPU time"


# ---- where the time goes ----


def time_figure(name: str, trace: Trace) -> Figure | None:
    known = trace.time
    parts = [
        ("user code", known.user_ns, "grey"),
        ("crossings", known.crossings_ns, "orange"),
        ("kernel work", known.kernel_ns, "blue"),
        ("waiting", Estimate(value=known.waiting_ns, error=None), "light"),
    ]
    bars = [
        Bar(label, milliseconds(part), [(part.value / MS, colour)])
        for label, part, colour in parts
        if part and part.value is not None
    ]
    if known.missing or not bars:
        return None
    return Figure(
        name=f"{name}-time",
        title="Where the time goes",
        panels=[draw_bars(f"{name}-time", "ms", bars, (known.cpu_ns or 0) / MS)],
        note="User code, crossings and kernel work are CPU time of all threads. Waiting is "
        "the wall time less the CPU time; a longer bar is cut. No batching can gain more than "
        "the crossings.",
    )


# ---- sequences ----


def with_batches(steps: Sequence[Step]) -> list[tuple[Step, int | None]]:
    """Each step, and the batch of its sequence that it could be part of."""
    found: list[tuple[Step, int | None]] = []
    batch = 0
    for i, step in enumerate(steps):
        batch += i > 0 and (step.begins_batch or steps[i - 1].alone)
        found.append((step, None if step.alone else batch))
    return found


def letter(batch: int | None) -> str:
    return "none" if batch is None else chr(ord("a") + batch)


def step_name(step: Step) -> str:
    return f"{step.call}{', failing' if step.failed else ''}"


def argument_words(step: Step) -> str:
    words = []
    for i, argument in enumerate(step.arguments):
        if argument.source != "constant":
            of = "" if argument.step is None else f" {argument.step + 1}"
            words.append(f"{i + 1}: {SOURCES[argument.source]}{of}")
    return ", ".join(words) or "the same in all turns"


def flows(steps: Sequence[Step]) -> list[tuple[int, int, str]]:
    """Each step that takes something from another, that one, and what."""
    found = {
        (argument.step, i, argument.source)
        for i, step in enumerate(steps)
        for argument in step.arguments
        if argument.step is not None and argument.source in FLOWS and argument.step != i
    }
    return sorted(found)


def follower_words(sequence: CallSequence) -> list[tuple[str, str]]:
    return [
        (
            "then other calls" if one.sequence is None else f"then sequence {one.sequence + 1}",
            counted(one.times, "time"),
        )
        for one in sequence.followers
    ]


def plot_arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], **more: object
) -> None:
    arrow: dict[str, object] = {"arrowstyle": "-|>", "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=arrow | more)


def draw_sequence(name: str, number: int, sequence: CallSequence) -> Panel:
    steps, then = with_batches(sequence.steps), follower_words(sequence)

    def plot(axes: Axes) -> None:
        axes.set_axis_off()
        axes.set(xlim=(0, 1), ylim=(len(steps) + len(then) - 0.4, -0.6))
        for i, (step, batch) in enumerate(steps):
            colour = "soft" if batch is None else BATCHES[batch % len(BATCHES)]
            box = {"boxstyle": "round", "fc": COLOURS["paper"], "ec": COLOURS[colour]}
            text = f"{step_name(step)}, {fixed(step.calls, 1)}"
            axes.text(MIDDLE, i, text, ha="center", va="center", bbox=box)
            if i:
                plot_arrow(axes, (MIDDLE, i - 0.72), (MIDDLE, i - 0.3), color=COLOURS["soft"])
        for start, end, source in flows(sequence.steps):
            curve = f"arc3,rad={-0.5 if end > start else 0.5}"
            colour = COLOURS[FLOWS[source]]
            plot_arrow(axes, (RIGHT, start), (RIGHT, end), color=colour, connectionstyle=curve)
        for i, (words, times) in enumerate(then):
            axes.text(0, len(steps) + i, f"{words}: {times}", va="center", color=COLOURS["soft"])

    joined = ", over the turns" if sequence.batches < 1 else ""
    title = f"sequence {number}: {whole(sequence.turns)} turns, batch: {sequence.verdict}{joined}"
    values = [
        (f"{i + 1}. {step_name(step)}", f"{fixed(step.calls, 1)} per turn, batch {letter(batch)}")
        for i, (step, batch) in enumerate(steps)
    ]
    height = STEP_HEIGHT * (len(steps) + len(then)) + 24
    return draw(f"{name}-{number}", title, values + then, height, plot)


def sequence_figure(name: str, trace: Trace) -> Figure | None:
    if not trace.sequences:
        return None
    name = f"{name}-sequences"
    return Figure(
        name=name,
        title="What it does again and again",
        panels=[draw_sequence(name, i + 1, one) for i, one in enumerate(trace.sequences)],
        note="Each box is a call and how often a turn makes it. Boxes of one colour could be "
        "one batch; a grey one can be in none. Curves show what flows from one call to a "
        "later one.",
        key=[
            (FLOWS["result"], "a result becomes an argument"),
            (FLOWS["buffer"], "a buffer that was filled"),
            (FLOWS["user"], "made by the program from what came back"),
        ],
    )


# ---- savings ----


def saving_figure(name: str, trace: Trace) -> Figure | None:
    bars = [
        Bar(saving.name, milliseconds(saving.saved_ns), [(saving.saved_ns.value / MS, "green")])
        for saving in trace.savings
        if not saving.missing and saving.saved_ns.value is not None
    ]
    if not bars:
        return None
    return Figure(
        name=f"{name}-savings",
        title="What each way would save",
        panels=[draw_bars(f"{name}-savings", "ms", bars)],
        note="With the error of each estimate. The ways do not add up: they make the same "
        "calls cheaper.",
    )


FIGURES = (time_figure, sequence_figure, saving_figure)

# ---- the whole ----


def tables(trace: Trace) -> list[Table]:
    calls: dict[str, Callable[[Calls], str]] = {
        "call": lambda one: one.call,
        "calls": lambda one: whole(one.calls),
        "failed": lambda one: whole(one.failed),
        "of all": lambda one: percent(one.calls / trace.total),
    }
    steps: dict[str, Callable[[tuple[str, Step, int | None]], str]] = {
        "sequence and step": lambda one: f"{one[0]} {step_name(one[1])}",
        "per turn": lambda one: fixed(one[1].calls, 1),
        "batch": lambda one: letter(one[2]),
        "arguments": lambda one: argument_words(one[1]),
    }
    savings: dict[str, Callable[[Saving], str]] = {
        "saved by": lambda one: one.what,
        "saved": lambda one: one.missing or milliseconds(one.saved_ns),
        "of CPU time": lambda one: percent(one.share),
    }
    every_step = [
        (f"{i + 1}.{k + 1}", step, batch)
        for i, sequence in enumerate(trace.sequences)
        for k, (step, batch) in enumerate(with_batches(sequence.steps))
    ]
    found = [table("Its calls", trace.calls, calls)]
    if every_step:
        found.append(table("The steps of the sequences", every_step, steps, text=True))
    return [*found, table("What each way would save", trace.savings, savings, text=True)]


def notes(trace: Trace) -> list[str]:
    names = {"bpf": "BPF", "ptrace": "ptrace"}
    found = [
        f"{counted(trace.total, 'call')} by {counted(trace.threads, 'thread')}, counted with "
        f"{names[trace.method]}."
    ]
    if trace.tracing_ns:
        found.append(f"Tracing cost {milliseconds(trace.tracing_ns)}, which is left out above.")
    if trace.lost_calls:
        found.append(f"The sequences lack {counted(trace.lost_calls, 'call')} that were lost.")
    if trace.time.missing:
        found.append(f"Shares of time are missing: {trace.time.missing}.")
    found += [
        f"Sequence {i + 1} {'is no batch' if one.verdict == 'not' else 'is a batch in parts'}: "
        f"{one.why}."
        for i, one in enumerate(trace.sequences)
        if one.why
    ]
    return found


def section(name: str, trace: Trace) -> Section:
    return Section(
        topic=trace.program,
        title="what batching would buy it",
        figures=[made for make in FIGURES if (made := make(name, trace))],
        tables=tables(trace),
        notes=notes(trace),
    )
