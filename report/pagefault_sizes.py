# SPDX-License-Identifier: MIT
"""The figure of faults that map several pages: time and memory by how many."""

from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes

from .axes import log_ticks, plain_number, selection, set_log_ticks, size_ticks, time_label
from .drawing import Layout, Shape, colour, draw
from .schema import Touch

Series = Mapping[str, Sequence[Touch]]  # by order; the first has one page per fault
MARKS = {"in order": "o", "random": "s", "one page in 64": "^"}


def pages(touch: Touch) -> int:
    return touch.per_fault or 1


def taken(touch: Touch) -> float | None:
    """KiB of memory for each page that is touched."""
    return touch.resident_bytes and touch.resident_bytes / touch.touched / 1024


def plot_line(
    axes: Axes, where: str, touches: Sequence[Touch], role: str, of: Callable[[Touch], float | None]
) -> None:
    points = [(pages(touch), of(touch)) for touch in touches]
    known = [(x, y) for x, y in points if y]
    axes.plot(
        [x for x, _ in known],
        [y for _, y in known],
        "-",
        marker=MARKS[where],
        color=colour(role),
        markersize=4.2,
        markeredgewidth=0.7,
        markeredgecolor=colour("paper"),
        label=where,
        zorder=3,
    )


def sizes_axis(axes: Axes, series: Series, most: int) -> None:
    sizes = sorted({pages(touch) for touches in series.values() for touch in touches})
    axes.set_xscale("log")
    axes.set_xlim(sizes[0] / 1.3, sizes[-1] * 1.3)
    set_log_ticks(axes, "x", size_ticks(sizes, most))
    axes.set_xlabel("pages that a fault maps")
    axes.grid()


def log_scale(axes: Axes, values: Sequence[float], label: Callable[[float, object], str]) -> None:
    low, high = min(values) / 1.3, max(values) * 1.3
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    set_log_ticks(axes, "y", log_ticks(low, high, 6), label)


def plot_time(axes: Axes, series: Series, roles: Mapping[str, str]) -> None:
    for where, touches in series.items():
        for touch in touches:
            shown = selection(touch.trials_ns)
            axes.plot(
                [pages(touch)] * len(shown),
                shown,
                "o",
                color=colour(roles[where]),
                alpha=0.5,
                markersize=2.2,
                markeredgewidth=0,
            )
        plot_line(axes, where, touches, roles[where], lambda touch: touch.median)
    every = [ns for touches in series.values() for touch in touches for ns in touch.trials_ns]
    log_scale(axes, every, time_label)
    axes.set_title("time of a first touch")
    axes.legend(frameon=False, loc="best", handlelength=1.6, borderaxespad=0.2)


def memory_label(value: float, _: object = None) -> str:
    return f"{plain_number(round(value, 3))} KiB"


def plot_memory(axes: Axes, series: Series, roles: Mapping[str, str]) -> None:
    for where, touches in series.items():
        plot_line(axes, where, touches, roles[where], taken)
    every = [taken(touch) or 4.0 for touches in series.values() for touch in touches]
    log_scale(axes, [*every, 4.0], memory_label)
    axes.set_title("memory for each page touched")


def draw_sizes(prefix: str, shape: Shape, series: Series, roles: Mapping[str, str]) -> str:
    """SERIES have at least two sizes each."""

    def plot_one(axes: Axes, plot: Callable[[Axes, Series, Mapping[str, str]], None]) -> None:
        plot(axes, series, roles)
        sizes_axis(axes, series, 6)

    def wide(sheet: Layout) -> None:
        plot_one(sheet.axes(46, 20, 208, 172), plot_time)
        plot_one(sheet.axes(326, 20, 208, 172), plot_memory)

    def narrow(sheet: Layout) -> None:
        plot_one(sheet.axes(46, 20, 182, 150), plot_time)
        plot_one(sheet.axes(46, 236, 182, 150), plot_memory)

    if shape == "wide":
        return draw(prefix, shape, 226, wide)
    return draw(prefix, shape, 420, narrow)
