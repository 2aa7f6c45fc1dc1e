# SPDX-License-Identifier: MIT
"""What a section of the page is made of."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from .document import Absent
from .drawing import Panel

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Table:
    title: str
    head: list[str]
    rows: list[list[str]]  # the first cell names its row
    open: bool = False  # shown without a click
    words: bool = False  # its cells are text, not numbers


def table(
    title: str, records: Sequence[T], columns: Mapping[str, Callable[[T], str]], words: bool = False
) -> Table:
    """A row for each of RECORDS; COLUMNS: each heading, and how to get the cell below it."""
    rows = [[cell(record) for cell in columns.values()] for record in records]
    return Table(title, list(columns), rows, words=words)


def grouped(records: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """RECORDS by their keys, in the order in which these come first."""
    found: dict[K, list[T]] = {}
    for record in records:
        found.setdefault(key(record), []).append(record)
    return found


def absent_notes(records: Sequence[object], name: Callable[[Absent], str]) -> list[str]:
    """A sentence for each of RECORDS that could not be measured."""
    absent = [record for record in records if isinstance(record, Absent)]
    return [f"{name(record)}: {record.reason or 'not available'}." for record in absent]


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
    """What the page shows of one run."""

    topic: str  # a word or two
    title: str
    figures: list[Figure]
    tables: list[Table]
    notes: list[str] = field(default_factory=list)
