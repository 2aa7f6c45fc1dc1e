# SPDX-License-Identifier: MIT
"""The figure of one call in batches: time by size for each engine, whole and per slot."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from .axes import end_labels, log_ticks, selection, set_log_ticks, size_ticks, time_label
from .drawing import MARKERS, Layout, Shape, colour, draw, role
from .schema import Fit, Series
from .statistics import Floats, half_width, least

MOST_ABOVE = 2.0  # times the largest of the least times: slower trials would hide the lines


def sizes_between(series: Series) -> Floats:
    return np.geomspace(min(series.sizes), max(series.sizes), 80, dtype=np.float64)


def band(fit: Fit, n: Floats) -> tuple[Floats, Floats, Floats]:
    """The line at each N, and the lower and upper end of its 95 % band."""
    line = fit.a_ns + fit.b_ns * n
    half = half_width(n, fit.a_se, fit.b_se, fit.correlation)
    return line, line - half, line + half


def name_lines(axes: Axes, series: Sequence[Series], ends: Sequence[float]) -> None:
    names = [(one.engine, role(one.engine)) for one in series]
    end_labels(axes, names, ends)


def plot_trials(axes: Axes, series: Series, divided: bool) -> None:
    """A dot for each trial, and a mark at the least of each size."""
    engine = role(series.engine)
    sizes = np.asarray(series.sizes, dtype=float)
    scale = sizes if divided else np.ones_like(sizes)
    shown = selection(range(len(series.trials_ns)))
    for trial in shown:
        axes.plot(
            sizes,
            np.asarray(series.trials_ns[int(trial)]) / scale,
            "o",
            color=colour(engine),
            alpha=0.5,
            markersize=2.2,
            markeredgewidth=0,
        )
    axes.plot(
        sizes,
        least(series.trials_ns) / scale,
        MARKERS.get(series.engine, "P"),
        color=colour(engine),
        markersize=4.2,
        markeredgewidth=0.7,
        markeredgecolor=colour("paper"),
        zorder=3,
    )


def plot_line(axes: Axes, series: Series, divided: bool) -> None:
    if not series.fit:
        return
    n = sizes_between(series)
    scale = n if divided else np.ones_like(n)
    line, low, high = (part / scale for part in band(series.fit, n))
    engine = colour(role(series.engine))
    smallest = 1e-3  # ns; a logarithmic scale has no 0
    axes.fill_between(n, np.maximum(low, smallest), high, color=engine, alpha=0.2, linewidth=0)
    axes.plot(n, line, "-", color=engine, zorder=2)


def size_axis(axes: Axes, series: Sequence[Series], most: int) -> None:
    sizes = sorted({size for one in series for size in one.sizes})
    axes.set_xscale("log")
    axes.set_xlim(sizes[0] / 1.2, sizes[-1] * 1.2)
    set_log_ticks(axes, "x", size_ticks(sizes, most))
    axes.set_xlabel("slots in a batch (N)" if series[0].body == 1 else "copies in a batch (N)")
    axes.grid()


def plot_whole(axes: Axes, series: Sequence[Series]) -> None:
    for one in series:
        plot_line(axes, one, divided=False)
        plot_trials(axes, one, divided=False)
    everything = [time for one in series for trial in one.trials_ns for time in trial]
    low, high = min(everything) / 1.3, max(everything) * 1.3
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    set_log_ticks(axes, "y", log_ticks(low, high, 6), time_label)
    size_axis(axes, series, 6)
    axes.set_title("time of a whole batch")
    name_lines(axes, series, [least(one.trials_ns)[-1] for one in series])


def scale_of_slots(series: Sequence[Series]) -> tuple[float, float]:
    """Holds every least time, and the trials that are not far above them."""
    least_times = [least(one.trials_ns) / np.asarray(one.sizes) for one in series]
    usual = [
        float(np.percentile(np.asarray(one.trials_ns) / np.asarray(one.sizes), 98))
        for one in series
    ]
    low = min(float(each.min()) for each in least_times)
    high = max(float(each.max()) for each in least_times)
    return low / 1.1, min(max(*usual, high), MOST_ABOVE * high) * 1.1


def above_scale(series: Sequence[Series]) -> int:
    """How many trials the figure of slots leaves out, because they took too long for it."""
    high = scale_of_slots(series)[1]
    return sum(
        int((np.asarray(one.trials_ns) / np.asarray(one.sizes) > high).sum()) for one in series
    )


def plot_divided(axes: Axes, series: Sequence[Series]) -> None:
    per_slot = [least(one.trials_ns) / np.asarray(one.sizes) for one in series]
    for one in series:
        plot_line(axes, one, divided=True)
        plot_trials(axes, one, divided=True)
    low, high = scale_of_slots(series)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    set_log_ticks(axes, "y", log_ticks(low, high, 6), time_label)
    size_axis(axes, series, 6)
    axes.set_title("time of each slot" if series[0].body == 1 else "time of each copy")
    name_lines(axes, series, [float(each[-1]) for each in per_slot])


def draw_cost(prefix: str, shape: Shape, series: Sequence[Series]) -> str:
    """SERIES are of one call, each with at least one trial."""

    def wide(sheet: Layout) -> None:
        plot_whole(sheet.axes(42, 20, 182, 172), series)
        plot_divided(sheet.axes(314, 20, 182, 172), series)

    def narrow(sheet: Layout) -> None:
        plot_whole(sheet.axes(42, 20, 144, 150), series)
        plot_divided(sheet.axes(42, 236, 144, 150), series)

    if shape == "wide":
        return draw(prefix, shape, 226, wide)
    return draw(prefix, shape, 420, narrow)
