# SPDX-License-Identifier: MIT
"""Matplotlib figures as inline SVG whose colours and font are the page's.

Colours are roles: a figure is drawn in placeholder colours, which become CSS variables.
Text stays text.  It is laid out in DejaVu Sans, wider than what a page is likely to use.
"""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

matplotlib.use("svg")

Shape = Literal["wide", "narrow"]

# Placeholder for each role; page.css gives --NAME its colours.
ROLES = {
    "ink": "#010101",
    "soft": "#020202",
    "grid": "#030303",
    "paper": "#040404",
    "user": "#050505",
    "bare": "#060606",
    "beyond": "#070707",
    "loop": "#080808",
    "uring": "#090909",
    "device": "#0a0a0a",
    "syscall": "#0b0b0b",
    "auto": "#0c0c0c",
    "other": "#0d0d0d",
}
MARKERS = {"loop": "o", "uring": "s", "device": "^", "syscall": "D", "auto": "v"}
WIDTHS = {"wide": 547.0, "narrow": 236.0}  # points; the page shows a point as 1.39 CSS pixels
TEXT = 8.5  # points


def role(engine: str) -> str:
    """The colour role of an engine."""
    return engine if engine in MARKERS else "other"


def colour(name: str) -> str:
    return ROLES[name]


STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ferry",
    "font.family": "DejaVu Sans",
    "font.size": TEXT,
    "text.color": ROLES["ink"],
    "axes.edgecolor": ROLES["soft"],
    "axes.labelcolor": ROLES["soft"],
    "axes.linewidth": 0.6,
    "axes.titlesize": TEXT,
    "axes.titlelocation": "left",
    "axes.titlecolor": ROLES["soft"],
    "axes.titlepad": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "xtick.color": ROLES["soft"],
    "ytick.color": ROLES["soft"],
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": ROLES["grid"],
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


@dataclass(frozen=True)
class Layout:
    """A sheet of the given shape, in points from its top left corner."""

    canvas: Canvas
    shape: Shape
    width: float
    height: float

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        return self.canvas.add_axes(
            (
                left / self.width,
                1 - (top + height) / self.height,
                width / self.width,
                height / self.height,
            )
        )


def unique_ids(svg: str, prefix: str) -> str:
    """Several SVGs share a page, so their ids may not be the same."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)


def themed(svg: str) -> str:
    for name, placeholder in ROLES.items():
        svg = svg.replace(placeholder, f"var(--{name})")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]+", r"font-size: \1px", svg)
    return re.sub(r"font-family: [^;\"]+;? ?", "", svg)


MARKER = re.compile(r'<use xlink:href="([^"]+)" x="([^"]+)" y="([^"]+)" style="([^"]*)"/>\s*')
MARKERS_IN_A_ROW = re.compile(rf"(?:{MARKER.pattern})+")


def grouped(row: str) -> str:
    """Markers that look the same as one group: its style and theirs would be most of the page."""
    groups = []
    for (shape, style), markers in groupby(MARKER.findall(row), key=itemgetter(0, 3)):
        # A hundredth of a point is less than anybody sees.
        uses = [
            f'<use href="{shape}" x="{float(x):.2f}" y="{float(y):.2f}"/>' for _, x, y, _ in markers
        ]
        groups.append(f'<g class="markers" style="{style}">\n' + "\n".join(uses) + "\n</g>\n")
    return "".join(groups)


def inline(canvas: Canvas, prefix: str) -> str:
    buffer = io.StringIO()
    canvas.savefig(buffer, format="svg", metadata=dict.fromkeys(["Creator", "Date"]))
    svg = buffer.getvalue()
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.DOTALL)
    view = re.search(r'viewBox="[^"]+"', body)
    assert view
    body = re.sub(
        r"<svg[^>]*>", f'<svg {view[0]} aria-hidden="true" focusable="false">', body, count=1
    )
    body = unique_ids(re.sub(r"\n\s*", "\n", body).strip(), prefix)
    return themed(MARKERS_IN_A_ROW.sub(lambda row: grouped(row[0]), body))


def draw(prefix: str, shape: Shape, height: float, plot: Callable[[Layout], None]) -> str:
    """What PLOT draws on a sheet of SHAPE and HEIGHT (points), as inline SVG."""
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(figsize=(WIDTHS[shape] / 72, height / 72))
        plot(Layout(canvas, shape, WIDTHS[shape], height))
        return inline(canvas, prefix)
