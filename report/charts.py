# SPDX-License-Identifier: MIT
"""The kinds of panels: bars, ratios with intervals, lines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .drawing import (
    COLOURS,
    MOST_DOTS,
    Panel,
    dots,
    draw,
    draw_rows,
    log_axis,
    plain,
    set_ticks,
    some,
    spread,
)

FAR = 1.6  # times what the marks reach: further trials would hide them
MIDDLE = 0.16  # of a row's marks, below its place: the words stand above them
LOOKS = {  # of an engine's marks: colour and shape
    "loop": ("grey", "o"),
    "uring": ("blue", "s"),
    "device": ("orange", "^"),
    "syscall": ("green", "D"),
    "auto": ("purple", "v"),
}


def look(engine: str) -> tuple[str, str]:
    return LOOKS.get(engine, ("yellow", "P"))


@dataclass(frozen=True)
class Bar:
    """A row of bars."""

    label: str
    text: str  # its figure in words
    parts: list[tuple[float, str]]  # length and colour, from the left


def draw_bars(name: str, title: str, bars: Sequence[Bar]) -> Panel:
    longest = max(sum(length for length, _ in bar.parts) for bar in bars)

    def plot(axes: Axes) -> None:
        for i, bar in enumerate(bars):
            left = 0.0
            for length, colour in bar.parts:
                axes.barh(i + MIDDLE, length, 0.36, left=left, color=COLOURS[colour])
                left += length
        axes.set_xlim(0, longest or 1)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(plain))

    return draw_rows(name, title, [(bar.label, bar.text) for bar in bars], plot)


@dataclass(frozen=True)
class RatioRow:
    """How many times as fast, with an interval where there is one."""

    label: str
    text: str  # the figure in words, such as 1.52 ± 0.02
    engine: str
    value: float
    low: float | None
    high: float | None
    single: list[float] = field(default_factory=list)  # the ratios that VALUE is the median of

    @property
    def interval(self) -> tuple[float, ...]:
        """A logarithmic scale has no 0."""
        return () if self.low is None or self.high is None else (max(self.low, 1e-3), self.high)


def draw_ratios(name: str, ratios: Sequence[RatioRow]) -> Panel:
    reach = [0.97, 1.03, *(value for one in ratios for value in (one.value, *one.single))]
    reach += [end for one in ratios for end in one.interval]

    def plot(axes: Axes) -> None:
        for i, one in enumerate(ratios):
            (colour, shape), y = look(one.engine), i + MIDDLE
            shown = some(one.single, MOST_DOTS)
            dots(axes, shown, [y + 0.3 * offset for offset in spread(len(shown))], colour)
            if one.interval:
                axes.plot(one.interval, (y, y), color=COLOURS[colour], linewidth=2.2)
            axes.plot(one.value, y, shape, color=COLOURS[colour], zorder=3)
        log_axis(axes, "x", min(reach), max(reach))
        axes.axvline(1, color=COLOURS["ink"], linewidth=0.8, zorder=1)

    title = "times as fast (1: no difference)"
    return draw_rows(name, title, [(one.label, one.text) for one in ratios], plot)


@dataclass(frozen=True)
class Line:
    """Marks over a logarithmic axis, with their trials."""

    name: str
    colour: str
    marker: str
    x: list[float]
    y: list[float]
    trials: list[list[float]] = field(default_factory=list)  # at each x; or none at all
    style: str = "-"  # between the marks
    band: tuple[list[float], list[float], list[float]] | None = None  # a line, its low and high end


def plot_line(axes: Axes, line: Line) -> None:
    low, high = axes.get_ylim()
    for at, trials in zip(line.x, line.trials, strict=False):
        shown = np.clip(some(trials, MOST_DOTS), low, high)
        dots(axes, np.full_like(shown, at), shown, line.colour)
    colour = COLOURS[line.colour]
    if line.band:
        middle, bottom, top = line.band
        axes.fill_between(line.x, bottom, top, color=colour, alpha=0.2, linewidth=0)
        axes.plot(line.x, middle, color=colour)
    axes.plot(
        line.x,
        line.y,
        color=colour,
        linestyle=line.style,
        marker=line.marker,
        markeredgecolor=COLOURS["paper"],
        label=line.name,
        zorder=3,
    )


def draw_lines(
    name: str,
    title: str,
    x_label: str,
    lines: Sequence[Line],
    y_label: Callable[[float], str] = plain,
    level: float | None = None,
    x_from_0: bool = False,
) -> Panel:
    """Trials far beyond the scale of the marks are drawn at its edge.

    LEVEL is marked across the panel.  X_FROM_0: the axis has a linear part below its first step.
    """

    def plot(axes: Axes) -> None:
        marks = [y for line in lines for y in line.y] + ([level] if level else [])
        every = marks + [y for line in lines for trials in line.trials for y in trials]
        log_axis(
            axes,
            "y",
            max(min(every), min(marks) / FAR),
            min(max(every), FAR * max(marks)),
            y_label,
        )
        if level:
            axes.axhline(level, color=COLOURS["ink"], linewidth=0.8, zorder=1)
        for line in lines:
            plot_line(axes, line)
        xs = sorted({x for line in lines for x in line.x})
        if x_from_0:
            step = next((x for x in xs if x > 0), 1.0)
            axes.set_xscale("symlog", linthresh=step, linscale=0.5)
            axes.set_xlim(xs[0] / 1.3 or -0.2 * step, (xs[-1] or step) * 1.3)
        else:
            log_axis(axes, "x", xs[0], max(xs[-1], 1.01 * xs[0]))
        set_ticks(axes.xaxis, some(xs, 6))
        axes.set_xlabel(x_label)

    ends = [(line, i) for line in lines for i in (0, -1)]
    values = [(f"{line.name} at {plain(line.x[i])}", y_label(line.y[i])) for line, i in ends]
    return draw(name, title, values, 220, plot)
