# SPDX-License-Identifier: MIT
"""What a section of the page is made of."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from .document import Column, Table
from .drawing import Panel

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def table(
    title: str, records: Sequence[T], columns: Mapping[str, Callable[[T], str]], text: bool = False
) -> Table:
    """A row for each of RECORDS; COLUMNS: each heading, and how to get the cell below it."""
    return Table(
        title=title,
        columns=[Column(heading=heading, text=text) for heading in columns],
        rows=[[cell(record) for cell in columns.values()] for record in records],
    )


def grouped(records: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """RECORDS by their keys, in the order in which these come first."""
    found: dict[K, list[T]] = {}
    for record in records:
        found.setdefault(key(record), []).append(record)
    return found


TOPICS = {  # of each bench: the topic and the title of its section
    "crossing": ("Crossings", "the latency of each kind of call"),
    "batch": ("Batches", "cost against size"),
    "dispatch": ("Dispatch", "the loop without its calls"),
    "chain": ("Chains", "the calls on one small file"),
    "apps": ("Programs", "engines and other tools, side by side"),
    "files": ("Files", "many in one call, beside the usual ways"),
    "flexsc": ("flexsc", "posted calls beside plain ones"),
    "pagefault": ("Page faults", "the first touch of memory"),
    "threads": ("Threads", "CPU time of threaded servers, carried and plain"),
}


@dataclass(frozen=True)
class Figure:
    name: str  # unique on the page
    title: str
    panels: list[Panel]
    note: str  # how to read it
    key: list[tuple[str, str]] = field(default_factory=list)  # colour, meaning
    about: Collection[str] = ()  # findings about these stand above it


@dataclass(frozen=True)
class Card:
    """A finding, with the figure that matters large."""

    figure: str
    label: str  # a word or two
    text: str
    lines: Sequence[str] = ()  # below it, smaller


@dataclass(frozen=True)
class Section:
    """What the page shows of one run or trace, besides the tables of a run."""

    topic: str  # a word or two
    title: str
    figures: list[Figure]
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
