# SPDX-License-Identifier: MIT
"""What `ferry bench pagefault` measured: the first touch of memory, by the way it comes."""

from collections.abc import Sequence

from .history import differ
from .pagefault_sizes import draw_sizes
from .rows import Bar, draw_rows, steadiness
from .schema import AbsentTouch, Pagefault, Touch
from .section import Figure, Section, Table
from .words import NONE, counted, doubt, joined, percent, significant, time, times, with_error

TOPIC = "Page faults"
TITLE = "the first touch of memory"
MIB = 1 << 20
NEARLY = 1.1  # of the least time: more pages per fault gain next to nothing
ORDERS = {
    ("write", "sequential"): "in order",
    ("write", "random"): "random",
    ("write", "one_in_64"): "one page in 64",
    ("read", "sequential"): "read",
}
ROLES = {"in order": "bare", "random": "device", "one page in 64": "auto", "read": "user"}
DENSE = ("in order", "random", "read")


def order(touch: Touch) -> str:
    return ORDERS[touch.access, touch.order]


def of_way(touches: Sequence[Touch], way: str, where: str) -> list[Touch]:
    return [touch for touch in touches if touch.way == way and order(touch) == where]


def ahead(touches: Sequence[Touch], where: str) -> list[Touch]:
    """What was measured with several pages per fault, after the one with a single page."""
    several = sorted(of_way(touches, "ahead", where), key=lambda touch: touch.per_fault or 0)
    return of_way(touches, "base", where) + several if several else []


def enough(touches: Sequence[Touch]) -> int | None:
    """The fewest pages per fault that are nearly the best, in order and in a random order."""
    found = None
    for where in ("in order", "random"):
        series = ahead(touches, where)[1:]
        if not series:
            return None
        best = min(touch.min for touch in series)
        first = next(touch for touch in series if touch.min <= NEARLY * best)
        found = max(found or 0, first.per_fault or 1)
    return found


def ranges(touches: Sequence[Touch]) -> list[Touch]:
    """Ways to have a range at once, the fastest first."""
    ways = ("populate", "map_populate", "large_pages")
    found = [touch for way in ways for touch in of_way(touches, way, "in order")]
    return sorted(found, key=lambda touch: touch.median)


def base_sentence(touches: Sequence[Touch]) -> str:
    parts = [
        f"{time(touch.median)} {'at random' if where == 'random' else where}"
        for where in ("in order", "random")
        for touch in of_way(touches, "base", where)
    ]
    if not parts:
        return ""
    text = f"With a fault a page, the first write to a page takes {joined(parts)}"
    for clear in of_way(touches, "clear", "in order"):
        text += f"; clearing it, which nothing saves, takes {time(clear.median)} of that"
    return text + "."


def range_sentence(touches: Sequence[Touch]) -> str:
    found = ranges(touches)
    if not found:
        return ""
    best = found[0]
    return (
        f"Of the ways to have a range at once, {best.label} took least: {time(best.median)} a "
        f"page, {times(best.ratio)} as fast as a fault a page{doubt(best.significant)}."
    )


def ahead_sentence(touches: Sequence[Touch]) -> str:
    number = enough(touches)
    parts = [
        f"{times(touch.ratio)} as fast {'at random' if where == 'random' else where}"
        f"{doubt(touch.significant)}"
        for where in ("in order", "random")
        for touch in of_way(touches, "ahead", where)
        if touch.per_fault == number
    ]
    if not parts:
        return ""
    return (
        f"With {number} pages a fault the first write is {joined(parts)}; more pages a fault gain "
        f"less than {percent(NEARLY - 1)}."
    )


def memory(touch: Touch) -> str:
    return NONE if touch.resident_bytes is None else f"{significant(touch.resident_bytes / MIB)}"


def sparse_sentence(touches: Sequence[Touch]) -> str:
    """What touching here and there costs with the recommended number, or else with all at once."""
    base = of_way(touches, "base", "one page in 64")
    number = enough(touches)
    dear = [
        touch
        for way in ("ahead", "large_pages", "populate")
        for touch in of_way(touches, way, "one page in 64")
        if touch.per_fault == (number if way == "ahead" else None)
    ]
    if not base or not dear:
        return ""
    return (
        f"Where one page in 64 is touched, {dear[0].label} loses: "
        f"{times(dear[0].median / base[0].median)} the time for each of these, and "
        f"{memory(dear[0])} MiB in place of {memory(base[0])}."
    )


def large_pages_lose(touches: Sequence[Touch]) -> bool:
    """Whether they are slower than small ones, by more than the noise."""
    found = {touch.way: touch for touch in ranges(touches)}
    large, small = found.get("large_pages"), found.get("populate")
    if not large or not small or large.ratio > small.ratio:
        return False
    return differ((large.ratio, large.ratio_se), (small.ratio, small.ratio_se))


def recommendation(touches: Sequence[Touch], ahead_missing: bool) -> str:
    """AHEAD_MISSING: the kernel has no multi_page_alloc(), which is more than not measured."""
    number = enough(touches)
    text = "For memory that will be used whole, take ferry_prefault()"
    if large_pages_lose(touches):
        text += " with FERRY_PREFAULT_SMALL, since large pages were slower in this run"
    if ahead_missing:
        return (
            f"{text}. For a whole program this kernel has nothing: multi_page_alloc() is of "
            "ferry's patch series."
        )
    if number is None:
        return f"{text}."
    return (
        f"{text}. For a program that uses most of what it maps, take "
        f"ferry_prefault_process({number}). For one that touches memory here and there, take "
        "neither."
    )


def ways_figure(name: str, touches: Sequence[Touch]) -> Figure:
    shown = [touch for touch in touches if touch.way != "ahead" and order(touch) in DENSE]
    bars = []
    for touch in shown:
        row = touch.model_copy(update={"label": f"{touch.label}, {order(touch)}"})
        bars.append(Bar(row, [(touch.median, ROLES[order(touch)])]))
    rows = [bar.row for bar in bars]
    sentences = [base_sentence(touches), range_sentence(touches), steadiness(rows)]
    return Figure(
        name=name,
        title="What the first touch of a page takes",
        see=" ".join(filter(None, sentences)),
        description="Bars of the median time per page: "
        + "; ".join(f"{row.label} {time(row.median)}" for row in rows)
        + ".",
        wide=draw_rows(f"{name}-wide", "wide", bars),
        narrow=draw_rows(f"{name}-narrow", "narrow", bars),
        key=[
            (ROLES["in order"], "written one after another"),
            (ROLES["random"], "written in a random order"),
            (ROLES["read"], "read one after another"),
        ],
        note="All time until each page was touched once, mapping and populating included, per "
        "page. Bars: the median of the trials. Dots: every trial; boxes: the middle half of "
        "them. Their scale is logarithmic beyond 1 % to either side.",
    )


def sizes_figure(name: str, touches: Sequence[Touch]) -> Figure:
    series = {where: ahead(touches, where) for where in ("in order", "random", "one page in 64")}
    series = {where: each for where, each in series.items() if len(each) > 1}
    description = "; ".join(
        f"{where} {time(each[0].median)} with 1 page a fault and {time(each[-1].median)} with "
        f"{each[-1].per_fault}"
        for where, each in series.items()
    )
    sentences = [ahead_sentence(touches), sparse_sentence(touches)]
    return Figure(
        name=name,
        title="Pages that a fault maps: time and memory",
        see=" ".join(filter(None, sentences)) or "Too little was finished to compare.",
        description="Plots over the pages that a fault maps, of the time for each page that is "
        f"touched and of the memory that is taken: {description}.",
        wide=draw_sizes(f"{name}-wide", "wide", series, ROLES),
        narrow=draw_sizes(f"{name}-narrow", "narrow", series, ROLES),
        note="Marks: medians; dots: every trial. Memory: how much larger the resident memory of "
        "the process became, for each page that was touched; 4 KiB is what it needs. Clearing "
        "the pages is part of the time, also of those that are never touched. All scales are "
        "logarithmic.",
    )


def table(touches: Sequence[Touch]) -> Table:
    def mib(value: float | None) -> str:
        return NONE if value is None else significant(value / MIB)

    return Table(
        title="The figures as a table (ns per page that is touched)",
        head=[
            "way", "first touch", "times as fast", "later touch", "faults", "exceptions",
            "MiB taken", "MiB wasted", "trials",
        ],
        rows=[
            [
                f"{touch.label}, {order(touch)}",
                with_error(touch.median, touch.se),
                with_error(touch.ratio, touch.ratio_se),
                significant(touch.later_ns),
                f"{touch.faults:,.0f}",
                NONE if touch.exceptions is None else f"{touch.exceptions:,.0f}",
                mib(touch.resident_bytes),
                mib(touch.wasted_bytes),
                str(len(touch.trials_ns)),
            ]
            for touch in touches
        ],
    )  # fmt: skip


def section(name: str, file: str, run: Pagefault) -> Section:
    touches = [touch for touch in run.touches if isinstance(touch, Touch)]
    absent = [touch for touch in run.touches if isinstance(touch, AbsentTouch)]
    notes = [f"{touch.label}: {touch.reason or 'not available'}." for touch in absent]
    title = f"{TITLE}, {counted(round(run.memory_bytes / MIB), 'MiB')[:-1]} of it"
    if not touches:
        return Section(name, TOPIC, title, file, run, "No row was finished.", [], [], notes)
    figures = [ways_figure(f"{name}-ways", touches)]
    if any(touch.way == "ahead" for touch in touches):
        figures.append(sizes_figure(f"{name}-sizes", touches))
    return Section(
        name=name,
        topic=TOPIC,
        title=title,
        file=file,
        run=run,
        headline=recommendation(touches, any(touch.way == "ahead" for touch in absent)),
        figures=figures,
        tables=[table(touches)],
        notes=notes,
    )
