# SPDX-License-Identifier: MIT
"""What `ferry trace` found: where the time goes, the sequences as graphs, what could be saved."""

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from .charts import Bar, draw_bars
from .document import Table
from .drawing import COLOURS, Panel, draw
from .section import Card, Figure, Section, table
from .trace_document import Calls, Estimate, Finding, Known, Saving, Step, Trace, Wait
from .trace_document import Sequence as CallSequence
from .words import counted, fixed, percent, time, whole, with_error

MS = 1e6  # ns
STEP_HEIGHT = 30.0  # points
LINE = 0.55  # of it, for what comes after a sequence
SOURCES = {
    "before": "differs",
    "result": "result of",
    "buffer": "buffer of",
    "user": "made from",
}
FLOWS = {"result": "blue", "buffer": "orange", "user": "purple"}
BOX = (0.14, 0.58)  # of a panel's width: where the boxes of steps begin and end
BRACKET = 0.08  # the line that joins the steps of a batch


def milliseconds(estimate: Estimate) -> str:
    scaled = (None if one is None else one / MS for one in (estimate.value, estimate.error))
    return f"{with_error(*scaled)} ms"


NOTABLE = 0.01  # of the program's time: less is not worth a change
CARDS = 6


def headline(trace: Trace) -> str:
    """The finding that saves the most."""
    best = trace.findings[0] if trace.findings else None
    if not best or (best.share is not None and best.share < NOTABLE):
        return "nothing worth changing."
    return best.sentence


# ---- where the time goes ----

PARTS = {
    "grey": "user code",
    "orange": "crossings",
    "blue": "kernel work",
    "purple": "user code and kernel work, which the kernel did not divide",
    "light": "waiting",
}


def undivided(known: Known) -> Estimate | None:
    """User code and kernel work of a program that ran for a few ticks."""
    crossings = known.crossings_ns.value if known.crossings_ns else None
    if known.cpu_ns is None or crossings is None:
        return None
    if known.user_ns and known.user_ns.value is not None:
        return None
    return Estimate(value=known.cpu_ns - crossings, error=None)


def parts(trace: Trace) -> dict[str, Estimate]:
    """What is known of each part, by its colour."""
    known = trace.time
    waiting = Estimate(value=known.waiting_ns, error=None)
    every = (known.user_ns, known.crossings_ns, known.kernel_ns, undivided(known), waiting)
    found = {c: part for c, part in zip(PARTS, every, strict=True) if part}
    return {} if known.missing else {c: p for c, p in found.items() if p.value is not None}


def time_bar(trace: Trace) -> Bar:
    lengths = {colour: max(part.value or 0.0, 0.0) for colour, part in parts(trace).items()}
    whole = sum(lengths.values())
    shares = [(100 * length / (whole or 1), colour) for colour, length in lengths.items()]
    return Bar(trace.program, time(whole), shares)


def time_figure(name: str, *traces: Trace) -> Figure | None:
    """A bar for each trace; of one alone, with its figures."""
    shown = [trace for trace in traces if parts(trace)]
    if not shown:
        return None
    colours = {colour for trace in shown for colour in parts(trace)}
    key = [(colour, words) for colour, words in PARTS.items() if colour in colours]
    if len(traces) == 1:
        key = [(c, f"{PARTS[c]}: {milliseconds(part)}") for c, part in parts(shown[0]).items()]
    title = "share of CPU time and waiting, %"
    return Figure(
        name=f"{name}-time",
        title="Where the time goes",
        panels=[draw_bars(f"{name}-time", title, [time_bar(trace) for trace in shown])],
        note="User code, crossings and kernel work are CPU time of all threads. Waiting is "
        "the wall time less the CPU time. The crossings are the direct cost of calls: what they "
        "evict from caches comes on top.",
        key=key,
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


def plot_step(axes: Axes, i: int, step: Step) -> None:
    left, right = BOX
    style = ":" if step.alone else "-"
    edge: dict[str, Any] = {
        "facecolor": "none",
        "edgecolor": COLOURS["soft"],
        "linewidth": 0.9,
        "linestyle": style,
    }
    axes.add_patch(Rectangle((left, i - 0.28), right - left, 0.56, **edge))
    text = f"{step_name(step)}, {fixed(step.calls, 1)}"
    axes.text((left + right) / 2, i, text, ha="center", va="center")
    if i:
        middle = (left + right) / 2
        plot_arrow(axes, (middle, i - 0.72), (middle, i - 0.28), color=COLOURS["soft"])


def plot_brackets(axes: Axes, batches: Sequence[int | None]) -> None:
    for batch in dict.fromkeys(batch for batch in batches if batch is not None):
        first, last = batches.index(batch), len(batches) - 1 - batches[::-1].index(batch)
        axes.plot([BRACKET] * 2, [first - 0.28, last + 0.28], color=COLOURS["green"], linewidth=2.4)
        at: dict[str, Any] = {"ha": "right", "va": "center", "color": COLOURS["green"]}
        axes.text(BRACKET - 0.03, (first + last) / 2, letter(batch), **at)


def plot_flows(axes: Axes, steps: Sequence[Step]) -> None:
    """From the edge of a box to that of another; each further one arrives a little lower."""
    arrived: dict[int, int] = {}
    for start, end, source in flows(steps):
        lower = 0.1 * arrived.get(end, 0)
        arrived[end] = arrived.get(end, 0) + 1
        curve = f"arc3,rad={-0.5 if end > start else 0.5}"
        ends = (BOX[1], start + 0.08), (BOX[1], end - 0.12 + lower)
        plot_arrow(axes, *ends, color=COLOURS[FLOWS[source]], connectionstyle=curve)


def draw_sequence(name: str, number: int, sequence: CallSequence) -> Panel:
    steps, then = with_batches(sequence.steps), follower_words(sequence)

    def plot(axes: Axes) -> None:
        axes.set_axis_off()
        axes.set(xlim=(0, 1), ylim=(len(steps) + LINE * len(then) - 0.4, -0.6))
        for i, (step, _) in enumerate(steps):
            plot_step(axes, i, step)
        plot_brackets(axes, [batch for _, batch in steps])
        plot_flows(axes, sequence.steps)
        for i, (words, times) in enumerate(then):
            y = len(steps) - 0.1 + LINE * i
            axes.text(0, y, f"{words}: {times}", va="center", color=COLOURS["soft"])

    joined = ", over the turns" if sequence.batches < 1 else ""
    title = f"sequence {number}: {whole(sequence.turns)} turns, batch: {sequence.verdict}{joined}"
    values = [
        (
            f"{i + 1}. {step_name(step)}",
            f"{fixed(step.calls, 1)} per turn, batch {letter(batch)}, {argument_words(step)}",
        )
        for i, (step, batch) in enumerate(steps)
    ]
    height = STEP_HEIGHT * (len(steps) + LINE * len(then)) + 24
    return draw(f"{name}-{number}", title, values + then, height, plot)


def sequence_figure(name: str, trace: Trace) -> Figure | None:
    if not trace.sequences:
        return None
    name = f"{name}-sequences"
    return Figure(
        name=name,
        title="What it does again and again",
        panels=[draw_sequence(name, i + 1, one) for i, one in enumerate(trace.sequences)],
        note="Each box is a call and how often a turn makes it. The calls beside a green line "
        "could be one batch; a dotted box can be in none. Curves show what flows from one call "
        "to another.",
        key=[
            (FLOWS["result"], "a result becomes an argument"),
            (FLOWS["buffer"], "a buffer that was filled"),
            (FLOWS["user"], "made by the program from what came back"),
        ],
    )


# ---- findings and waits ----


SITES = 3
FEW = 0.01  # of the calls


def site_lines(finding: Finding) -> list[str]:
    known = [site for site in finding.sites or [] if site.share >= FEW]
    return [f"{percent(site.share)}: {site.site}" for site in known[:SITES]]


def cards(trace: Trace) -> list[Card]:
    return [
        Card(
            figure=milliseconds(one.saved_ns) if one.share is None else percent(one.share),
            label=f"of its {'time' if one.waits else 'CPU time'}" if one.share else "saved",
            text=one.sentence,
            lines=site_lines(one),
        )
        for one in trace.findings[:CARDS]
        if one.share is None or one.share >= NOTABLE
    ]


def wait_table(trace: Trace) -> list[Table]:
    columns: dict[str, Callable[[Wait], str]] = {
        "slept in": lambda one: f"{one.call} {one.file}".strip(),
        "times": lambda one: whole(one.times),
        "in all": lambda one: time(one.ns),
        "mean": lambda one: time(one.mean_ns),
        "99 % below": lambda one: time(one.p99_ns),
    }
    return [table("Where it slept", trace.waits, columns)] if trace.waits else []


def wait_figure(name: str, trace: Trace) -> Figure | None:
    longest = [one for one in trace.waits if one.ns > 0][:CARDS]
    if not longest:
        return None
    bars = [
        Bar(f"{one.call} {one.file}".strip(), time(one.ns), [(one.ns / MS, "light")])
        for one in longest
    ]
    return Figure(
        name=f"{name}-waits",
        title="Where it slept",
        panels=[draw_bars(f"{name}-waits", "ms", bars)],
        note="Time on the wall in each kind of call and file, of all threads together.",
    )


# ---- the whole ----


def tables(trace: Trace) -> list[Table]:
    calls: dict[str, Callable[[Calls], str]] = {
        "call": lambda one: one.call,
        "calls": lambda one: whole(one.calls),
        "failed": lambda one: whole(one.failed),
        "of all": lambda one: percent(one.calls / trace.total),
    }
    savings: dict[str, Callable[[Saving], str]] = {
        "saved by": lambda one: one.what,
        "saved": lambda one: one.missing or milliseconds(one.saved_ns),
        "of CPU time": lambda one: percent(one.share),
    }
    return [
        *wait_table(trace),
        table("Its calls", trace.calls, calls),
        table("What each way would save", trace.savings, savings, text=True),
    ]


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
        title="what it wastes, and what batching would buy it",
        cards=cards(trace),
        figures=[
            made
            for make in (time_figure, wait_figure, sequence_figure)
            if (made := make(name, trace))
        ],
        tables=tables(trace),
        notes=notes(trace),
    )
