# SPDX-License-Identifier: MIT
"""Servers side by side: those of `ferry bench servers`, and the echo of `ferry bench flexsc`."""

from collections.abc import Sequence

from .charts import Bar, draw_bars
from .document import Flexsc, Servers, Side
from .section import Figure, Section
from .words import significant, time, unit

COLOURS = {"flexsc": "orange", "pthreads": "green", "epoll": "blue"}


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
        "multiple of that of pthreads. The clients have a CPU of their own, or share two with the "
        "server where it is a mere echo; their CPU time does not count.",
        about={side.server for side in sides},
    )


def section(name: str, run: Servers | Flexsc) -> Section:
    return Section(
        topic="servers",
        title="an HTTP server and a cache, three builds of each",
        figures=[figure(name, run.servers)] if run.servers else [],
    )
