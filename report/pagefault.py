# SPDX-License-Identifier: MIT
"""What `ferry bench pagefault` measured: the first touch of memory, by the way it is mapped."""

from collections.abc import Mapping, Sequence

from .charts import Bar, Line, draw_bars, draw_lines
from .document import Pagefault, Touch
from .drawing import time_label
from .section import TOPICS, Figure, Section
from .words import time, unit

Order = tuple[str, str]  # access and order
ORDERS: dict[Order, tuple[str, str, str, str]] = {  # name, colour, marker and meaning
    ("write", "sequential"): ("in order", "blue", "o", "written one after another"),
    ("write", "random"): ("random", "orange", "s", "written in a random order"),
    ("read", "sequential"): ("read", "green", "v", "read one after another"),
    ("write", "one_in_64"): ("one page in 64", "purple", "^", "one page in 64 written"),
}
WHOLE = {order: words for order, words in ORDERS.items() if order[1] != "one_in_64"}


def order(touch: Touch) -> Order:
    return touch.access, touch.order


def pages(touch: Touch) -> int:
    return touch.per_fault or 1


def ways_figure(name: str, touches: Sequence[Touch]) -> Figure:
    bars = []
    for touch in touches:
        if touch.way != "ahead" and order(touch) in WHOLE:
            name_of_order, colour, _, _ = WHOLE[order(touch)]
            label = f"{touch.label}, {name_of_order}"
            bars.append(Bar(label, time(touch.median), [(touch.median, colour)]))
    return Figure(
        name=f"{name}-ways",
        title="First touch of a page",
        panels=[draw_bars(f"{name}-medians", f"median, {unit()} per page", bars)],
        key=[(colour, meaning) for _, colour, _, meaning in WHOLE.values()],
        note="All time until each page was touched once, mapping and populating included, per "
        "page.",
        about={"sequential", "random"},
    )


def by_pages(touches: Sequence[Touch]) -> dict[Order, list[Touch]]:
    """Writes by their order: a fault a page, then several pages a fault."""
    found = {}
    for where in (each for each in ORDERS if each[0] == "write"):
        several = [each for each in touches if each.way == "ahead" and order(each) == where]
        single = [each for each in touches if each.way == "base" and order(each) == where]
        if several:
            found[where] = single + sorted(several, key=pages)
    return found


def taken(touch: Touch) -> float | None:
    """KiB of memory for each page that is touched."""
    return touch.resident_bytes and touch.resident_bytes / touch.touched / 1024


def line(
    where: Order, points: Sequence[tuple[float, float]], touches: Sequence[Touch] = ()
) -> Line:
    """With the trials of TOUCHES."""
    name, colour, marker, _ = ORDERS[where]
    trials = [touch.trials_ns for touch in touches]
    return Line(name, colour, marker, [x for x, _ in points], [y for _, y in points], trials)


def sizes_figure(name: str, series: Mapping[Order, Sequence[Touch]]) -> Figure:
    x_label = "pages that a fault maps"
    times = [
        line(where, [(pages(touch), touch.median) for touch in touches], touches)
        for where, touches in series.items()
    ]
    memory = [
        line(where, points)
        for where, touches in series.items()
        if (points := [(pages(touch), kib) for touch in touches if (kib := taken(touch))])
    ]
    panels = [draw_lines(f"{name}-time", "time of a first touch", x_label, times, time_label)]
    if memory:
        title = "memory for each page touched"
        panels.append(draw_lines(f"{name}-memory", title, x_label, memory, lambda y: f"{y:,g} KiB"))
    return Figure(
        name=f"{name}-sizes",
        title="Pages that a fault maps: time and memory",
        panels=panels,
        note="Marks: medians; dots: every trial, those beyond the scale at its edge. Memory: how "
        "much the resident memory of the process grew for each page that was touched; 4 KiB is "
        "what it needs. Time includes clearing every page, also those that are never touched. "
        "All scales are logarithmic.",
        about={"one_in_64"},
    )


def section(name: str, run: Pagefault) -> Section:
    figures = [ways_figure(name, run.touches)] if run.touches else []
    if series := by_pages(run.touches):
        figures.append(sizes_figure(name, series))
    return Section(*TOPICS[run.bench], figures)
