# SPDX-License-Identifier: MIT
"""The figure of crossing and dispatch: a bar for each row, and how its trials spread."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .axes import (
    gutter,
    label_above,
    no_ticks,
    plain_number,
    rows_axis,
    selection,
    shortened,
    spread,
)
from .drawing import Layout, Shape, colour, draw
from .schema import Row, Touch
from .section import Table
from .statistics import quartiles
from .words import MINUS, NONE, percent, significant, time

GUTTER = 170.0  # points at most, for the labels of a wide sheet
ROW = {"wide": 18.0, "narrow": 25.0}  # points
DEVIATIONS = (-100, -30, -10, -3, -1, -0.3, 0, 0.3, 1, 3, 10, 30, 100, 300, 1000, 10000)  # percent
FEWEST = 4  # trials, to speak of how they spread
LINEAR = 1.0  # percent; beyond it the axis of deviations is logarithmic


@dataclass(frozen=True)
class Bar:
    """A row and the parts of its median, (ns, colour role), from the left."""

    row: Row | Touch
    parts: list[tuple[float, str]]


def deviations(row: Row | Touch) -> list[float]:
    """How far each trial lies from the median, in percent of it."""
    middle = quartiles(row.trials_ns)[1]
    return [100 * (trial / middle - 1) for trial in row.trials_ns]


def labels_beside(axes: Axes, bars: Sequence[Bar]) -> None:
    for i, bar in enumerate(bars):
        axes.annotate(
            shortened(bar.row.label, GUTTER),
            (0, i),
            (-6, 0),
            textcoords="offset points",
            ha="right",
            va="center",
        )
        axes.annotate(
            time(bar.row.median),
            (bar.row.median, i),
            (5, 0),
            textcoords="offset points",
            va="center",
        )


def plot_bars(axes: Axes, bars: Sequence[Bar], shape: Shape) -> None:
    middle, thickness = (0.0, 0.56) if shape == "wide" else (0.2, 0.34)
    for i, bar in enumerate(bars):
        left = 0.0
        for length, role in bar.parts:
            axes.barh(i + middle, length, thickness, left=left, color=colour(role), linewidth=0)
            left += length
    rows_axis(axes, len(bars))
    axes.set_xlim(0, max(bar.row.median for bar in bars))
    axes.xaxis.set_major_locator(MaxNLocator(5 if shape == "wide" else 4))
    axes.xaxis.set_major_formatter(FuncFormatter(plain_number))
    axes.grid(axis="x")
    axes.set_title("median, ns")
    if shape == "wide":
        labels_beside(axes, bars)
    else:
        for i, bar in enumerate(bars):
            label_above(axes, i, bar.row.label, time(bar.row.median))


def deviation_label(value: float, _: object = None) -> str:
    return "0" if value == 0 else f"{value:+g}".replace("-", MINUS)


def deviation_ticks(low: float, high: float, most: int) -> list[float]:
    inside = [tick for tick in DEVIATIONS if low <= tick <= high]
    if len(inside) > most:
        inside = [tick for tick in inside if tick in (0, 1, -1, 10, -10, 100, -100, 1000, 10000)]
    if len(inside) > most:
        inside = [tick for tick in inside if abs(tick) != 1]
    return [float(tick) for tick in inside]


def plot_deviations(axes: Axes, bars: Sequence[Bar], shape: Shape) -> None:
    middle, thickness = (0.0, 0.6) if shape == "wide" else (0.2, 0.4)
    low, high = -LINEAR, LINEAR
    for i, bar in enumerate(bars):
        values = deviations(bar.row)
        low, high = min(low, *values), max(high, *values)
        first, _, third = quartiles(values)
        axes.add_patch(
            Rectangle(
                (first, i + middle - thickness / 2),
                third - first,
                thickness,
                facecolor=colour("grid"),
                edgecolor=colour("soft"),
                linewidth=0.5,
            )
        )
        shown = selection(values)
        heights = [i + middle + thickness * 0.8 * offset for offset in spread(len(shown))]
        axes.plot(
            shown, heights, "o", color=colour(bar.parts[0][1]), markersize=2.4, markeredgewidth=0
        )
    rows_axis(axes, len(bars))
    axes.set_xscale("symlog", linthresh=LINEAR, linscale=1.0)
    axes.set_xlim(low * 1.15, high * 1.15)
    no_ticks(axes, "x")
    axes.set_xticks(deviation_ticks(low, high, 7))
    axes.xaxis.set_major_formatter(FuncFormatter(deviation_label))
    axes.grid(axis="x")
    axes.axvline(0, color=colour("soft"), linewidth=0.8)
    axes.set_title("each trial, % off its median")
    if shape == "narrow":
        for i, bar in enumerate(bars):
            label_above(axes, i, bar.row.label)


def draw_rows(prefix: str, shape: Shape, bars: Sequence[Bar]) -> str:
    """One bar for each of BARS, and the trials that it is the median of."""
    block = ROW[shape] * len(bars)

    def wide(sheet: Layout) -> None:
        left = gutter([bar.row.label for bar in bars], GUTTER)
        plot_bars(sheet.axes(left, 20, 300 - left, block), bars, shape)
        plot_deviations(sheet.axes(366, 20, 174, block), bars, shape)

    def narrow(sheet: Layout) -> None:
        plot_bars(sheet.axes(4, 20, 222, block), bars, shape)
        plot_deviations(sheet.axes(4, 66 + block, 222, block), bars, shape)

    if shape == "wide":
        return draw(prefix, shape, block + 42, wide)
    return draw(prefix, shape, 2 * block + 88, narrow)


def described(rows: Sequence[Row]) -> str:
    return "; ".join(f"{row.label} {time(row.median)}" for row in rows) + "."


def steadiness(rows: Sequence[Row | Touch]) -> str:
    """How far trials stray: of all rows in the middle, and of the worst trial."""
    if max(len(row.trials_ns) for row in rows) < FEWEST:
        return "The trials are too few to tell how they spread."
    far = {row.label: max(deviations(row), key=abs) for row in rows}
    worst = max(far, key=lambda label: abs(far[label]))
    boxes = []
    for row in rows:
        first, middle, third = quartiles(row.trials_ns)
        boxes.append((third - first) / middle)
    typical = quartiles(boxes)[1]
    sign = "above" if far[worst] > 0 else "below"
    return (
        f"In a typical row half of the trials lie within {percent(typical)} of each other; the "
        f"trial furthest off, in “{worst}”, is {percent(abs(far[worst]) / 100)} {sign} its median."
    )


def table(rows: Sequence[Row], what: str) -> Table:
    def optional(value: float | None, text: str) -> str:
        return NONE if value is None else text

    return Table(
        title="The figures as a table (ns)",
        head=[
            what, "median", "± error", "mean", "min", "max", "sd", "cycles",
            "times function", "kernel work", "trials",
        ],
        rows=[
            [
                row.label,
                significant(row.median, 4),
                optional(row.se, significant(row.se or 0, 2)),
                significant(row.mean, 4),
                significant(row.min, 4),
                significant(row.max, 4),
                optional(row.sd, significant(row.sd or 0, 2)),
                optional(row.cycles, significant(row.cycles or 0, 4)),
                optional(row.ratio, significant(row.ratio or 0)),
                optional(row.kernel_share, percent(row.kernel_share or 0)),
                f"{len(row.trials_ns)} of {row.calls:,}",
            ]
            for row in rows
        ],
    )  # fmt: skip
