# SPDX-License-Identifier: MIT
"""The first figure: the cost of a crossing here, and of a call by each way.

Of the least times, which other programs disturb least, so that runs of several benches agree.
"""

import re
from collections.abc import Iterable, Sequence

from .charts import Bar, draw_bars
from .conclusion import newest
from .document import Run
from .drawing import as_picture
from .files import BadInput, Measured
from .section import Figure, grouped
from .words import joined, measured_in, time, unit

NAME = "first"
CROSSING = "crossing: a call that does nothing"
CALL = "write"  # is shown where it was measured, else the first call
ROWS = (  # of crossing, where the document has them: colour and meaning
    ("function", "grey", "a call of a function"),
    ("clock_gettime_vdso", "grey", "clock_gettime, read in user space"),
    ("unimplemented", "orange", CROSSING),
)
ENGINES = {  # of batch: colour, and how the calls are made
    "loop": ("orange", "a crossing each"),
    "uring": ("green", "io_uring"),
    "device": ("green", "one crossing, ferry's module"),
    "syscall": ("green", "one crossing, batch()"),
}
MEANINGS = {
    "grey": "no crossing",
    "orange": "a crossing for each call",
    "green": "shares or avoids it",
}
Cost = tuple[str, str, float]  # colour, words and ns of a call


def crossing_costs(run: Run) -> Iterable[Cost]:
    for name, colour, words in ROWS:
        if value := run.least(name):
            yield colour, words, value


def batch_costs(run: Run) -> Iterable[Cost]:
    """The slopes: the cost of one more call in a batch."""
    found = [re.fullmatch(r"(\S+) (.+) b", one.what) for one in run.figures]
    pairs = [(match[1], match[2]) for match in found if match]
    calls = [call for _, call in pairs]
    wanted = CALL if CALL in calls else next(iter(calls), "")
    for engine, call in pairs:
        value = run.value(f"{engine} {call} b")
        if call == wanted and engine in ENGINES and value and value > 0:
            colour, words = ENGINES[engine]
            yield colour, f"{call}, {words}", value


def posted_costs(run: Run) -> Iterable[Cost]:
    if plain := run.least(f"{CALL} plain W0"):
        yield "orange", f"{CALL}, a crossing each", plain
    names = [one.what for one in run.figures if re.fullmatch(rf"{CALL} flexsc \S+ W0", one.what)]
    found = [value for name in names if (value := run.least(name))]
    if found:
        yield "green", f"{CALL}, posted to a thread (flexsc)", min(found)


COSTS = {"crossing": crossing_costs, "batch": batch_costs, "flexsc": posted_costs}


def costs(measured: Iterable[Measured]) -> tuple[str, list[Cost]]:
    """The unit of the costs, and these, each once, of the newest runs that give a verdict."""
    runs = [run for run in newest(measured) if run.bench in COSTS and not run.withheld]
    runs.sort(key=lambda run: list(COSTS).index(run.bench))
    of = runs[0].unit if runs else "ns"
    found = [cost for run in runs if run.unit == of for cost in COSTS[run.bench](run)]
    return of, [same[0] for same in grouped(found, lambda cost: cost[1]).values()]


def first_figure(measured: Iterable[Measured]) -> Figure | None:
    of, found = costs(measured)
    if not found:
        return None
    with measured_in(of):
        bars = [Bar(words, time(value), [(value, colour)]) for colour, words, value in found]
        crossing = next((bar.text for bar in bars if bar.label == CROSSING), None)
        title = f"A crossing here: {crossing}" if crossing else "What each way to call costs"
        panel = draw_bars(NAME, f"{unit()} per call", bars)
    drawn = {colour for colour, _, _ in found}
    return Figure(
        name=NAME,
        title=title,
        panels=[panel],
        note="",
        key=[(colour, words) for colour, words in MEANINGS.items() if colour in drawn],
    )


def picture(measured: Sequence[Measured]) -> str:
    """The first figure as an SVG of its own, in the colours of a light or a dark page."""
    figure = first_figure(measured)
    if not figure:
        raise BadInput("no run of crossing, batch or flexsc with a verdict: there is no picture")
    machines = {f"{one.run.machine.cpu}, Linux {one.run.kernel.release}" for one in measured}
    return as_picture(figure.title, figure.key, figure.panels[0], joined(sorted(machines)))
