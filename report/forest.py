# SPDX-License-Identifier: MIT
"""The figure of ratios: one row each, with its interval and what it was made from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes

from .axes import gutter, label_above, ratio_axis, rows_axis, selection, shortened, spread
from .drawing import MARKERS, Layout, Shape, colour, draw, role

GUTTER = 200.0  # points at most, for the labels of a wide sheet
ROW = {"wide": 20.0, "narrow": 31.0}  # points


@dataclass(frozen=True)
class Ratio:
    """How many times as fast, with an interval where there is one."""

    label: str
    text: str  # the figure in words, such as 1.52 ± 0.02
    engine: str
    value: float
    interval: tuple[float, float] | None
    single: list[float] = field(default_factory=list)  # the ratios that VALUE is of


def plot_one(axes: Axes, y: float, ratio: Ratio) -> None:
    mark = colour(role(ratio.engine))
    shown = selection(ratio.single)
    heights = [y + 0.42 * offset for offset in spread(len(shown))]
    axes.plot(shown, heights, "o", color=mark, alpha=0.5, markersize=2.6, markeredgewidth=0)
    if ratio.interval:
        axes.plot(ratio.interval, (y, y), "-", color=mark, linewidth=2.2, solid_capstyle="butt")
    axes.plot(
        ratio.value,
        y,
        MARKERS.get(ratio.engine, "P"),
        color=mark,
        markersize=5.5,
        markeredgecolor=colour("paper"),
        markeredgewidth=0.8,
        zorder=3,
    )


def reach(ratios: Sequence[Ratio]) -> tuple[float, float]:
    """What the axis has to hold."""
    values = [value for ratio in ratios for value in (ratio.value, *ratio.single)]
    values += [end for ratio in ratios for end in ratio.interval or () if end > 0]
    return min(values), max(values)


def plot(axes: Axes, ratios: Sequence[Ratio], shape: Shape) -> None:
    for i, ratio in enumerate(ratios):
        plot_one(axes, i if shape == "wide" else i + 0.2, ratio)
    rows_axis(axes, len(ratios))
    ratio_axis(axes, *reach(ratios), 8 if shape == "wide" else 6)
    axes.grid(axis="x")
    axes.set_title("times as fast (1: no difference)")
    transform = axes.get_yaxis_transform()
    for i, ratio in enumerate(ratios):
        if shape == "wide":
            axes.annotate(
                shortened(ratio.label, GUTTER),
                (0, i),
                (-8, 0),
                xycoords=transform,
                textcoords="offset points",
                ha="right",
                va="center",
            )
            axes.annotate(
                ratio.text,
                (1, i),
                (8, 0),
                xycoords=transform,
                textcoords="offset points",
                va="center",
            )
        else:
            label_above(axes, i, ratio.label, ratio.text)


def draw_ratios(prefix: str, shape: Shape, ratios: Sequence[Ratio]) -> str:
    block = ROW[shape] * len(ratios)

    def wide(sheet: Layout) -> None:
        left = gutter([ratio.label for ratio in ratios], GUTTER)
        plot(sheet.axes(left, 20, 440 - left, block), ratios, shape)

    def narrow(sheet: Layout) -> None:
        plot(sheet.axes(6, 20, 224, block), ratios, shape)

    return draw(prefix, shape, block + 42, wide if shape == "wide" else narrow)
