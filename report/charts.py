# SPDX-License-Identifier: MIT
"""Panels that several benches share: bars, how trials spread, ratios with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .drawing import COLOURS, dots, draw_rows, log_axis, plain, selection, spread
from .words import MINUS

MIDDLE = 0.16  # of a row's marks, below its place: the words stand above them
LINEAR = 1.0  # percent; beyond it the axis of deviations is logarithmic
MARKERS = {"loop": "o", "uring": "s", "device": "^", "syscall": "D", "auto": "v"}
COLOUR_OF = {
    "loop": "grey",
    "uring": "blue",
    "device": "orange",
    "syscall": "green",
    "auto": "purple",
}


def marker(engine: str) -> str:
    return MARKERS.get(engine, "P")


def colour_of(engine: str) -> str:
    return COLOUR_OF.get(engine, "yellow")


@dataclass(frozen=True)
class Bar:
    """A row of bars."""

    label: str
    text: str  # its figure in words
    parts: list[tuple[float, str]]  # length and colour, from the left
    trials: list[float] = field(default_factory=list)


def draw_bars(name: str, title: str, bars: Sequence[Bar], limit: float | None = None) -> Markup:
    """Bars longer than LIMIT are cut there."""
    longest = max(sum(length for length, _ in bar.parts) for bar in bars)

    def plot(axes: Axes) -> None:
        for i, bar in enumerate(bars):
            left = 0.0
            for length, colour in bar.parts:
                axes.barh(i + MIDDLE, length, 0.36, left=left, color=COLOURS[colour])
                left += length
        axes.set_xlim(0, min(longest, limit or longest) or 1)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(plain))
        axes.set_title(title)

    return draw_rows(name, [(bar.label, bar.text) for bar in bars], plot)


def deviation_label(value: float, _: object = None) -> str:
    return "0" if value == 0 else f"{value:+g}".replace("-", MINUS)


def draw_deviations(name: str, bars: Sequence[Bar], medians: Sequence[float]) -> Markup:
    """How far each trial lies from the median of its row."""

    def plot(axes: Axes) -> None:
        low, high = -LINEAR, LINEAR
        for i, (bar, median) in enumerate(zip(bars, medians, strict=True)):
            values = [100 * (trial / median - 1) for trial in bar.trials]
            low, high = min(low, *values), max(high, *values)
            axes.boxplot(
                values,
                positions=[i + MIDDLE],
                widths=0.4,
                orientation="horizontal",
                patch_artist=True,
                showfliers=False,
                showcaps=False,
                boxprops={"fc": COLOURS["grid"], "ec": COLOURS["soft"], "lw": 0.5},
                whiskerprops={"linewidth": 0},
                medianprops={"linewidth": 0},
            )
            shown = selection(values)
            heights = [i + MIDDLE + 0.34 * offset for offset in spread(len(shown))]
            dots(axes, shown, heights, bar.parts[0][1])
        axes.set_xscale("symlog", linthresh=LINEAR)
        axes.set_xlim(low * 1.15, high * 1.15)
        axes.xaxis.set_major_formatter(FuncFormatter(deviation_label))
        axes.axvline(0, color=COLOURS["soft"], linewidth=0.8)
        axes.set_title("each trial, % off its median")

    return draw_rows(name, [(bar.label, "") for bar in bars], plot)


SPREAD_NOTE = (
    "Bars: medians of the trials. Dots: every trial; boxes: the middle half of them. The scale "
    "of the dots is logarithmic beyond 1 % to either side."
)


@dataclass(frozen=True)
class RatioRow:
    """How many times as fast, with an interval where there is one."""

    label: str
    text: str  # the figure in words, such as 1.52 ± 0.02
    engine: str
    value: float
    interval: tuple[float, float] | None
    single: list[float] = field(default_factory=list)  # the ratios that VALUE is the median of


def draw_ratios(name: str, ratios: Sequence[RatioRow]) -> Markup:
    reach = [0.97, 1.03, *(value for one in ratios for value in (one.value, *one.single))]
    reach += [end for one in ratios for end in one.interval or () if end > 0]

    def plot(axes: Axes) -> None:
        for i, one in enumerate(ratios):
            colour, y = colour_of(one.engine), i + MIDDLE
            shown = selection(one.single)
            dots(axes, shown, [y + 0.3 * offset for offset in spread(len(shown))], colour)
            if one.interval:
                axes.plot(one.interval, (y, y), color=COLOURS[colour], linewidth=2.2)
            axes.plot(one.value, y, marker(one.engine), color=COLOURS[colour], zorder=3)
        log_axis(axes, "x", min(reach), max(reach))
        axes.axvline(1, color=COLOURS["ink"], linewidth=0.8, zorder=1)
        axes.set_title("times as fast (1: no difference)")

    return draw_rows(name, [(one.label, one.text) for one in ratios], plot)
