# SPDX-License-Identifier: MIT
"""What a section of the page is made of."""

from dataclasses import dataclass, field

from .schema import AnyRun


@dataclass(frozen=True)
class Table:
    title: str
    head: list[str]
    rows: list[list[str]]  # the first cell names its row
    open: bool = False  # shown without a click
    words: bool = False  # its cells are text, not numbers


@dataclass(frozen=True)
class Figure:
    """A drawing in two shapes, of which the page shows the one that fits."""

    name: str  # unique on the page
    title: str
    see: str  # what to see in it, computed from the data
    description: str  # for those who do not see it
    wide: str  # SVG
    narrow: str
    key: list[tuple[str, str]] = field(default_factory=list)  # colour role, meaning
    note: str = ""  # how to read it


@dataclass(frozen=True)
class Section:
    """One run."""

    name: str  # unique on the page
    topic: str  # a word or two
    title: str
    file: str
    run: AnyRun
    headline: str
    figures: list[Figure]
    tables: list[Table]
    notes: list[str] = field(default_factory=list)
