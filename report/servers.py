# SPDX-License-Identifier: MIT
"""Servers side by side: those of `ferry bench servers`, and the echo of `ferry bench flexsc`."""

from collections.abc import Callable, Sequence

from .charts import Bar, draw_bars
from .document import Flexsc, Servers, Side
from .section import Figure, Section, Table, absent_notes, table
from .words import significant, time, unit, with_error, yes_no

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


def servers_table(sides: Sequence[Side]) -> Table:
    columns: dict[str, Callable[[Side], str]] = {
        "server": label,
        "time": lambda side: with_error(side.median, side.se),
        "requests per s": lambda side: f"{side.requests_per_s:,.0f}",
        "times pthreads": lambda side: with_error(side.ratio, side.ratio_se),
        "beyond noise": lambda side: yes_no(side.significant),
        "times epoll": lambda side: with_error(side.epoll_ratio, side.epoll_ratio_se),
        "beyond its noise": lambda side: yes_no(side.epoll_significant),
        "CPU": lambda side: significant(side.cpu_ns),
        "CPU, times pthreads": lambda side: significant(side.cpu_ratio),
        "trials": lambda side: str(len(side.trials_ns)),
    }
    return table(f"Servers ({unit()} per request)", sides, columns)


def section(name: str, run: Servers | Flexsc) -> Section:
    sides = [one for one in run.servers if isinstance(one, Side)]
    return Section(
        topic="servers",
        title="an HTTP server and a cache, three builds of each",
        figures=[figure(name, sides)] if sides else [],
        tables=[servers_table(sides)] if sides else [],
        notes=absent_notes(run.servers, lambda side: side.name),
    )
