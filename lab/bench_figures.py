# SPDX-License-Identifier: MIT
"""What the records of a benchmark say: values of several passes as one figure, and tables.

A record is a JSON object.  A list of numbers in it holds the values of each pass, in which
the sides of a comparison took turns; everything else describes what was measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

Record = dict[str, Any]

HIDDEN = ("bench", "unit")  # the title says them


@dataclass(frozen=True)
class Figure:
    """A median, and the quartiles around it: equal where every pass gave the same."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Figure":
        if len(values) < 2:
            return cls(values[0], values[0], values[0])
        low, _, high = quantiles(values, method="inclusive")
        return cls(median(values), low, high)

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __str__(self) -> str:
        if self.exact:
            return number(self.median)
        return f"{number(self.median)} ({number(self.low)} .. {number(self.high)})"


def number(value: float) -> str:
    """As few digits as say it: hundredths at most."""
    return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) < 1e5 else f"{value:,.0f}"


def figure(record: Record, key: str) -> Figure | None:
    values = record.get(key)
    return Figure.of(values) if isinstance(values, list) and values else None


def with_overhead(record: Record) -> Record:
    """Adds what a slot costs beyond its handler, where that was measured as well."""
    slots, direct = record.get("slot"), record.get("direct")
    if not slots or not direct:
        return record
    overhead = [slot - handler for slot, handler in zip(slots, direct, strict=True)]
    return record | {"overhead": overhead}


def cell(value: object) -> str:
    if isinstance(value, list):
        return str(Figure.of(value)) if value else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    return "" if value is None else str(value)


def table(records: Sequence[Record]) -> str:
    """A column for each key of the records, but for those that are empty everywhere."""
    keys = [key for key in dict.fromkeys(k for r in records for k in r) if key not in HIDDEN]
    columns = []
    for key in keys:
        cells = [cell(record.get(key)) for record in records]
        if any(cells):
            right = any(isinstance(r.get(key), list | int | float) for r in records)
            columns.append(column(key.upper(), cells, right))
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def column(head: str, cells: Sequence[str], right: bool) -> list[str]:
    width = max(len(text) for text in (head, *cells))
    return [text.rjust(width) if right else text.ljust(width) for text in (head, *cells)]
