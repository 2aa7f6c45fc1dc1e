# SPDX-License-Identifier: MIT
"""The builds of the echo server of `ferry bench flexsc` side by side."""

from collections.abc import Sequence

from .charts import Bar, draw_bars
from .document import Side
from .section import Figure
from .words import significant, time, unit

COLOURS = {"pthreads": "green", "epoll": "blue"}


def label(side: Side) -> str:
    return f"{side.server}: {side.build}"


def bar(side: Side, words: str, length: float) -> Bar:
    return Bar(label(side), words, [(length, COLOURS[side.build])])


def figure(name: str, sides: Sequence[Side]) -> Figure:
    rates = [
        bar(one, f"{one.requests_per_s:,.0f}, {significant(one.ratio)}", one.requests_per_s)
        for one in sides
    ]
    times = [
        bar(one, f"{time(one.cpu_ns)}, {significant(one.cpu_ratio)}", one.cpu_ns) for one in sides
    ]
    cpu = f"CPU time of the server, {unit()} per request"
    return Figure(
        name=f"{name}-servers",
        title="Servers: what they serve, and the CPU time that it takes",
        panels=[
            draw_bars(f"{name}-rates", "requests per second", rates),
            draw_bars(f"{name}-server-cpu", cpu, times),
        ],
        key=[(colour, build) for build, colour in COLOURS.items()],
        note="Medians of the trials on the left, means on the right; after each figure, its "
        "multiple of that of pthreads. The client shares two CPUs with the server; its CPU time "
        "does not count.",
        about={side.server for side in sides},
    )
