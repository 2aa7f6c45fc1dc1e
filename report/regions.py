# SPDX-License-Identifier: MIT
"""What `ferry cc --explain=json` found: the runs of calls of a program, and what ends them."""

from collections.abc import Callable, Sequence

from .regions_document import End, Region
from .section import Section, grouped, table
from .words import NONE, counted, time, whole


def headline(regions: Sequence[Region]) -> str:
    found = sum(region.is_region for region in regions)
    calls = sum(len(region.calls) for region in regions)
    return f"{counted(calls, 'call')}, and {counted(found, 'run')} of them that a batch could make."


def section(regions: Sequence[Region]) -> Section:
    """An inlined function counts once, as does a header."""
    once = {(one.file, one.line, one.column, *one.calls): one for one in regions}.values()
    runs = sorted((one for one in once if one.is_region), key=lambda one: -one.in_a_row)
    ends = grouped((end for one in once for end in one.ends if end.remedy), lambda end: end.text)
    columns: dict[str, Callable[[Region], str]] = {
        "where": lambda one: f"{one.file}:{one.line}, {one.function}()",
        "calls": lambda one: " ".join(one.calls),
        "in a row": lambda one: whole(one.in_a_row),
        "saved, at most": lambda one: NONE if one.saved_ns is None else time(one.saved_ns),
    }
    reasons: dict[str, Callable[[list[End]], str]] = {
        "what ends runs": lambda same: same[0].text,
        "to extend them": lambda same: same[0].remedy,
        "times": lambda same: whole(len(same)),
    }
    common = sorted(ends.values(), key=len, reverse=True)
    tables = [table("The runs of calls, the longest first", runs, columns, text=True)]
    tables += [table("What ends them", common, reasons, text=True)] if common else []
    return Section("ferry cc", "runs of calls in the source", [], tables, [headline([*once])])
