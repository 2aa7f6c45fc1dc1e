# SPDX-License-Identifier: MIT
"""Reads what ferry bench --json writes: see ferry-bench(5)."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

SCHEMA = "ferry-bench"
VERSION = 2


class Figure(NamedTuple):
    """A main figure of a measurement."""

    value: float
    error: float | None
    """One standard error."""
    unit: str
    """ns, instructions or ratio: how many times as fast."""


@dataclass(frozen=True)
class Bench:
    """A run of ferry bench."""

    document: dict[str, Any]
    """All of it: see ferry-bench(5)."""

    @property
    def name(self) -> str:
        """The bench, such as files."""
        return str(self.document["bench"])

    @property
    def complete(self) -> bool:
        """False when the run was interrupted."""
        return bool(self.document["complete"])

    @property
    def figures(self) -> dict[str, Figure]:
        """The main figures by their names."""
        return {
            each["what"]: Figure(each["value"], each["se"], each["unit"])
            for each in self.document["figures"]
        }

    @property
    def findings(self) -> list[str]:
        """Sentences that say what the figures mean."""
        return [each["text"] for each in self.document["findings"]]

    @property
    def warnings(self) -> list[str]:
        """Sentences that say what may have disturbed the run."""
        return [each["text"] for each in self.document["warnings"]]

    def columns(self, field: str) -> dict[str, list[Any]]:
        """A list of objects in the document, such as "rows", by columns, as pandas takes it."""
        rows = self.document[field]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}


def load(path: str | os.PathLike[str]) -> Bench:
    """Reads a file that ferry bench --json wrote.  Raises ValueError for anything else.

    >>> run = load(results)
    >>> run.name, sorted(run.figures)[0]
    ('crossing', 'clock_gettime_vdso')
    """
    document = json.loads(Path(path).read_bytes())
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f"{os.fspath(path)} is not the JSON of ferry bench")
    if document.get("version") != VERSION:
        raise ValueError(
            f"{os.fspath(path)} has version {document.get('version')} of the format; this reads"
            f" version {VERSION}"
        )
    return Bench(document)
