# SPDX-License-Identifier: MIT
"""Matplotlib panels as inline SVG: drawn once, in colours that page.css gives.

A panel is narrow enough for a phone; on wider screens the page sets two beside each other.
Text stays text.  It is laid out in DejaVu Sans, wider than what a page is likely to use.
"""

import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import matplotlib
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from .words import MINUS, scaled

matplotlib.use("svg")

T = TypeVar("T")

WIDTH = 240.0  # points; a phone shows a point as 1.37 CSS pixels
TEXT = 8.5  # points
ROW = 25.0  # points, with the words above its marks
ROW_CHARACTERS = 46  # that fit above a row
MOST_DOTS = 200  # of one distribution; beyond that an even selection is drawn
CSS = (Path(__file__).parent / "page.css").read_text()

# Each colour of the light page stands for its name; all are different.
COLOURS: dict[str, str] = dict(re.findall(r"--(\w+): (#\w{6});", CSS[: CSS.index("@media")]))

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "path.simplify": False,
    "font.family": "DejaVu Sans",
    "font.size": TEXT,
    "text.color": COLOURS["ink"],
    "axes.edgecolor": COLOURS["soft"],
    "axes.labelcolor": COLOURS["soft"],
    "axes.linewidth": 0.6,
    "axes.titlesize": TEXT,
    "axes.titlelocation": "left",
    "axes.titlecolor": COLOURS["soft"],
    "axes.titlepad": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "xtick.color": COLOURS["soft"],
    "ytick.color": COLOURS["soft"],
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "grid.color": COLOURS["grid"],
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.6,
    "lines.markeredgewidth": 0.7,
    "lines.markeredgecolor": COLOURS["paper"],
    "legend.frameon": False,
    "legend.columnspacing": 1.2,
    "legend.handlelength": 1.6,
    "legend.borderaxespad": 0.0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


def rounded(tag: re.Match[str]) -> str:
    """Nobody sees less than a hundredth of a point."""
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag[0])


def as_markup(figure: Figure) -> Markup:
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", metadata=dict.fromkeys(["Creator", "Date", "Format", "Type"])
    )
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)  # of groups; the same in every panel
    svg = svg.replace(' id="dots"', ' class="dots"')
    svg = re.sub(r"<[^>]*>", rounded, svg)
    svg = re.sub(r"M (\S+) (\S+) \nL \1 \2", r"M\1 \2h0", svg)  # dots
    svg = re.sub(r"\n\s*", "\n", svg)
    for name, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    return Markup(svg)


@dataclass(frozen=True)
class Panel:
    """A drawing, and its content in words for readers who do not see it."""

    title: str
    values: Sequence[tuple[str, str]]
    svg: Markup


PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
width="{width}" height="{height:.0f}" viewBox="0 0 {width} {height:.0f}" role="img" \
aria-label="{title}">
<!-- SPDX-License-Identifier: MIT -->
<style>
{colours}
text {{ fill: var(--ink); font-family: system-ui, "DejaVu Sans", sans-serif !important; }}
</style>
<rect width="100%" height="100%" rx="6" style="fill: var(--paper)"/>
<text x="{pad}" y="{title_y}" style="font-size: 21px; font-weight: 600">{title}</text>
{key}
{panel}<text x="{pad}" y="{where_y:.0f}" style="font-size: 12px; fill: var(--soft)">{where}</text>
</svg>
"""


def as_picture(title: str, key: Sequence[tuple[str, str]], panel: Panel, where: str) -> str:
    """A file of its own: the panel, its title, the meanings of its colours, and WHERE."""
    width, pad, top, scale = 520, 20, 74, 2.0
    entries = []
    left = float(pad)
    for colour, words in key:
        entries.append(
            f'<rect x="{left:.0f}" y="48" width="11" height="11" style="fill: var(--{colour})"/>'
            f'<text x="{left + 16:.0f}" y="58" style="font-size: 13px">{escape(words)}</text>'
        )
        left += 36 + 6.4 * len(words)
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', panel.svg)
    assert size
    height = scale * float(size[2])
    place = f'x="{pad}" y="{top}" width="{scale * WIDTH:.0f}" height="{height:.0f}"'
    return PICTURE.format(
        width=width,
        height=top + height + 2 * pad,
        where=escape(where),
        where_y=top + height + pad,
        pad=pad,
        title_y=34,
        title=escape(title),
        colours=CSS[CSS.index(":root") : CSS.index("* {")].strip(),
        key="\n".join(entries),
        panel=str(panel.svg).replace(size[0], place),
    )


def add_legend(figure: Figure) -> None:
    """Above all, so that it hides nothing.  Matplotlib 3.6 has no location "outside"."""
    legend = figure.legend(loc="upper left", ncols=3)
    layout = figure.get_layout_engine()
    assert isinstance(layout, ConstrainedLayoutEngine)
    layout.set(rect=(0, 0, 1, 1 - legend.get_window_extent().height / figure.bbox.height))


def draw(
    name: str,
    title: str,
    values: Sequence[tuple[str, str]],
    height: float,
    plot: Callable[[Axes], None],
) -> Panel:
    """What PLOT draws on a panel of HEIGHT (points).  NAME is unique on the page."""
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
        axes = figure.add_subplot()
        plot(axes)
        axes.set_title(title)
        if axes.get_legend_handles_labels()[0]:
            add_legend(figure)
        return Panel(title, values, as_markup(figure))


def draw_rows(
    name: str, title: str, words: Sequence[tuple[str, str]], plot: Callable[[Axes], None]
) -> Panel:
    """A panel of rows, row i at y = i, with the two WORDS of each above it."""

    def plot_rows(axes: Axes) -> None:
        plot(axes)
        axes.set_ylim(len(words) - 0.5, -0.6)
        axes.yaxis.set_visible(False)
        axes.spines["left"].set_visible(False)
        style: dict[str, Any] = {"va": "center", "transform": axes.get_yaxis_transform()}
        style["bbox"] = {"facecolor": COLOURS["paper"], "edgecolor": "none", "pad": 0.8}
        for i, (left, right) in enumerate(words):
            axes.text(0, i - 0.3, shortened(left, ROW_CHARACTERS - len(right)), **style)
            axes.text(1, i - 0.3, right, ha="right", **style)

    return draw(name, title, words, ROW * len(words) + 46, plot_rows)


def shortened(text: str, most: int) -> str:
    """TEXT, without its middle when it has more than MOST characters."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - most // 2 + 1 :]}"


def plain(value: float, _: object = None) -> str:
    return f"{value:,.12g}".replace("-", MINUS)


def time_label(time: float) -> str:
    number, name = scaled(time)
    return f"{plain(round(number, 6))} {name}"


def set_ticks(axis: Axis, ticks: Sequence[float], label: Callable[[float], str] = plain) -> None:
    axis.set_ticks(list(ticks), labels=[label(tick) for tick in ticks])
    axis.set_ticks([], minor=True)


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers in LOW..HIGH: powers of ten, or closer ones where there is room for MOST."""
    if high / low < 5:
        found = MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(low, high)
        return [float(tick) for tick in found if low <= tick <= high]
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for steps in ((1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
        ticks = [s * 10.0**t for t in tens for s in steps if low <= s * 10.0**t <= high]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]


def log_axis(
    axes: Axes, which: str, low: float, high: float, label: Callable[[float], str] = plain
) -> None:
    """A logarithmic axis that holds LOW..HIGH."""
    margin = (high / low) ** 0.04 * 1.01
    low, high = low / margin, high * margin
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    set_ticks(axis, log_ticks(low, high, 5 if which == "x" else 7), label)


def some(values: Sequence[T], most: int) -> list[T]:
    """MOST of VALUES, evenly taken, first and last included."""
    places = np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int)
    return [values[i] for i in dict.fromkeys(places.tolist())]


def spread(count: int) -> list[float]:
    """Offsets in -0.5..0.5 that keep neighbours apart (golden ratio, no chance)."""
    return [(i * 0.6180339887) % 1 - 0.5 for i in range(count)]


def dots(axes: Axes, x: ArrayLike, y: ArrayLike, colour: str) -> None:
    """A dot for each trial: one path of strokes without length, much smaller than markers."""
    gap = np.full(np.size(x), np.nan)
    xs, ys = (np.column_stack([one, one, gap]).ravel() for one in (x, y))
    axes.plot(
        xs, ys, color=COLOURS[colour], alpha=0.5, linewidth=2.8, solid_capstyle="round", gid="dots"
    )
