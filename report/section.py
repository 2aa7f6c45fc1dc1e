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


@dataclass(frozen=True)
class Figure:
    name: str  # unique on the page
    title: str
    panels: list[Panel]
    note: str  # how to read it
    key: list[tuple[str, str]] = field(default_factory=list)  # colour, meaning
    about: Collection[str] = ()  # findings about these stand above it


@dataclass(frozen=True)
class Section:
    """What the page shows of one run or trace, besides the tables of a run."""

    topic: str  # a word or two
    title: str
    figures: list[Figure]
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
