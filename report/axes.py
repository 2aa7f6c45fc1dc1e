# SPDX-License-Identifier: MIT
"""Axes and marks that several figures share."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import findfont, get_font
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from .drawing import TEXT, colour
from .words import MINUS, unit_of

NARROW_ROOM = 212.0  # points, for the words above a row of a narrow sheet
MOST_DOTS = 200  # of one distribution; beyond that an even selection is drawn
RATIO_TICKS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98,
    1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000,
)  # fmt: skip


def plain_number(value: float, _: object = None) -> str:
    return f"{value:,.12g}".replace("-", MINUS)


def selection(values: Sequence[float]) -> list[float]:
    """VALUES, or MOST_DOTS of them spread evenly over the run."""
    if len(values) <= MOST_DOTS:
        return list(values)
    return [values[int(i)] for i in np.linspace(0, len(values) - 1, MOST_DOTS)]


def spread(count: int) -> list[float]:
    """Offsets in -0.5..0.5 that keep neighbours apart (golden ratio, no chance)."""
    return [(i * 0.6180339887) % 1 - 0.5 for i in range(count)]


def width(text: str) -> float:
    """Points that TEXT takes."""
    font = get_font(findfont("DejaVu Sans"))
    font.set_size(TEXT, 72)
    font.set_text(text)
    return float(font.get_width_height()[0]) / 64


def shortened(text: str, room: float) -> str:
    """TEXT, without its middle when it takes more than ROOM points."""
    short, kept = text, len(text)
    while width(short) > room and kept > 4:
        kept -= 1
        short = f"{text[: kept // 2]}…{text[len(text) - (kept - kept // 2) :]}"
    return short


def gutter(labels: Sequence[str], most: float) -> float:
    """Points that the widest of LABELS takes to the left of a sheet, with its distance."""
    return min(max(map(width, labels)), most) + 10


def time_label(ns: float, _: object = None) -> str:
    size, name = unit_of(ns * 1.0000001)
    return f"{plain_number(round(ns / size, 6))} {name}"


def label_above(axes: Axes, row: int, left: str, right: str = "") -> None:
    """On a narrow sheet a row's words stand above it, clear of the grid."""
    behind = {"facecolor": colour("paper"), "edgecolor": "none", "pad": 0.8}
    room = NARROW_ROOM - width(right)
    for x, text, side in ((0, shortened(left, room), "left"), (1, right, "right")):
        if text:
            axes.text(
                x,
                row - 0.27,
                text,
                ha=side,
                va="center",
                bbox=behind,
                transform=axes.get_yaxis_transform(),
            )


def no_ticks(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(NullLocator())
    axis.set_minor_locator(NullLocator())


def rows_axis(axes: Axes, count: int) -> None:
    """Rows from the top: row i is at y = i."""
    axes.set_ylim(count - 0.5, -0.5)
    no_ticks(axes, "y")
    axes.spines["left"].set_visible(False)


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers in LOW..HIGH: powers of ten, or closer ones where there is room for MOST."""
    if high / low < 5:
        return [float(t) for t in MaxNLocator(most).tick_values(low, high) if low <= t <= high]
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [s * 10.0**t for t in tens for s in steps if low <= s * 10.0**t <= high]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]


def set_log_ticks(
    axes: Axes,
    which: str,
    ticks: Sequence[float],
    label: Callable[[float, object], str] = plain_number,
) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(label))
    axis.set_minor_formatter(NullFormatter())


def size_ticks(sizes: Sequence[int], most: int) -> list[float]:
    """Some of the batch sizes, evenly taken, first and last included."""
    chosen = np.unique(np.linspace(0, len(sizes) - 1, min(most, len(sizes))).round().astype(int))
    return [float(sizes[i]) for i in chosen]


def ratio_axis(axes: Axes, low: float, high: float, most: int) -> None:
    """A logarithmic axis of ratios that always shows 1, with about MOST ticks."""
    low, high = min(low, 0.97), max(high, 1.03)
    margin = (high / low) ** 0.04
    low, high = low / margin, high * margin
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    if high - low < 0.5:
        ticks = ticks_around_1(low, high, most)
    else:
        inside = [tick for tick in RATIO_TICKS if low <= tick <= high]
        ticks = thinned(inside, math.log(high / low) / most)
    set_log_ticks(axes, "x", ticks)
    axes.axvline(1, color=colour("ink"), linewidth=0.8, zorder=1)


def ticks_around_1(low: float, high: float, most: int) -> list[float]:
    step = next(step for step in (0.01, 0.02, 0.05, 0.1) if (high - low) / step <= most)
    return [
        1 + step * i for i in range(math.ceil((low - 1) / step), math.floor((high - 1) / step) + 1)
    ]


def thinned(ticks: Sequence[float], distance: float) -> list[float]:
    """1, and those of TICKS that keep DISTANCE (of logarithms) to it and to each other."""
    kept = [1.0]
    for tick in sorted(ticks, key=lambda tick: abs(math.log(tick))):
        if all(abs(math.log(tick / other)) >= distance for other in kept):
            kept.append(tick)
    return sorted(kept)


def apart(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Places near WANTED, in the same order, at least DISTANCE from each other."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [0.0] * len(wanted)
    floor = low
    for i in order:
        places[i] = floor = max(wanted[i], floor)
        floor += distance
    ceiling = high
    for i in reversed(order):
        places[i] = ceiling = min(places[i], ceiling)
        ceiling -= distance
    return places


def end_labels(axes: Axes, names: Sequence[tuple[str, str]], ends: Sequence[float]) -> None:
    """Names each line, (name, colour role), at its right end, the names kept apart."""
    height = axes.bbox.height / axes.figure.dpi * 72
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        wanted = [math.log(end / low) / math.log(high / low) for end in ends]
    else:
        wanted = [(end - low) / (high - low) for end in ends]
    places = apart(wanted, 1.35 * TEXT / height, 0, 1)
    for (name, role), place in zip(names, places, strict=True):
        axes.annotate(
            name,
            (1, place),
            (5, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            color=colour(role),
        )
