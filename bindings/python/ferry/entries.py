# SPDX-License-Identifier: MIT
"""Entries of a tree as columns."""

import html
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry.call import FIELDS, as_array
from ferry.rows import Rows, rows_of

ARROW_FORMATS = {
    "|u1": "C",
    "<i4": "i",
    "<u4": "I",
    "<i8": "l",
    "<u8": "L",
    "<M8[ns]": "tsn:UTC",
}

COLUMNS: dict[str, np.dtype[Any]] = {
    "parent": np.dtype(np.int64),
    "folder": np.dtype(np.int64),
    "depth": np.dtype(np.uint32),
    "type": np.dtype(np.uint8),
    "error": np.dtype(np.intc),
}

SHOWN = 10

Columns = dict[str, NDArray[Any]]


class Saved(NamedTuple):
    """What is left of entries in a pickle."""

    kind: type["Entries"]
    names: _ferry.Names
    columns: Columns
    folders: _ferry.Names | None


def restore(saved: Saved) -> "Entries":
    return saved.kind(saved.names, saved.columns, saved.folders)


def values(column: NDArray[Any]) -> list[Any]:
    """The elements as Python's objects; NumPy would make integers of times."""
    return list(column) if column.dtype.kind == "M" else column.tolist()


def equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool((a.view(np.int64) == b.view(np.int64) if a.dtype.kind == "M" else a == b).all())


@lru_cache
def row_type(names: tuple[str, ...]) -> Any:  # noqa: ANN401 (a class)
    return NamedTuple("Row", [(name, Any) for name in names])


class Entries:
    """Entries of a tree as columns, each an array with an element for every entry.

    entries["size"] is a column, entries["path"] the paths, and entries[rows] some of the entries:
    rows are a slice, numbers, or a boolean for each.  entries[3] is one entry, a named tuple, and
    so is each that a loop finds.  pandas and pyarrow take all as a table.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, names: _ferry.Names, columns: Columns, folders: _ferry.Names | None = None
    ) -> None:
        self.names = names
        """The names; that of the root is the path that was given."""
        self._columns = columns
        self._folders = folders
        self._buffers: Mapping[str, _ferry.Buffer] = {}

    @classmethod
    def _of(cls, columns: dict[str, Any], folders: _ferry.Names | None = None) -> "Entries":
        """Of what C++ returns: names and buffers."""
        names = columns.pop("name")
        arrays = {
            name: as_array(buffer, COLUMNS.get(name) or FIELDS[name])
            for name, buffer in columns.items()
        }
        made = cls(names, arrays, folders)
        made._buffers = columns
        return made

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The columns that are arrays:

        depth: the number of directories above the entry.
        type: DT_DIR, DT_REG and so on, known even without attributes; 0 after an error.
        error: 0, or the number of the error of the entry, or of the directory when it could not be
            read.
        And the attributes that were asked for.
        """
        return {name: column for name, column in self._columns.items() if name != "folder"}

    def keys(self) -> list[str]:
        """The names of all columns."""
        return ["path", "name", *self.columns]

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, column: object) -> bool:
        return column in self.keys()

    @overload
    def __getitem__(self, key: str) -> Any: ...  # noqa: ANN401 (an array or Names)
    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> Any: ...  # noqa: ANN401 (a named tuple)
    @overload
    def __getitem__(self, key: Rows) -> "Entries": ...
    def __getitem__(self, key: str | int | np.integer[Any] | Rows) -> Any:
        if isinstance(key, str):
            if key in ("path", "name"):
                return self.paths() if key == "path" else self.names
            if key == "folder" or key not in self._columns:
                raise KeyError(f"there is no column {key!r}; there are {', '.join(self.keys())}")
            return self._columns[key]
        if isinstance(key, SupportsIndex) and not isinstance(key, np.ndarray):
            number = range(len(self))[key]
            return next(self._rows(np.array([number])))
        return self._take(rows_of(key, len(self)))

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, len(self), 4096):
            yield from self._rows(np.arange(first, min(first + 4096, len(self))))

    def _rows(self, rows: NDArray[np.int64]) -> Iterator[Any]:
        columns = [values(column[rows]) for column in self.columns.values()]
        make = row_type(tuple(self.keys()))
        yield from map(make, self.paths(rows), self.names.take(rows), *columns)

    def _take(self, rows: NDArray[np.int64]) -> "Entries":
        """Entries whose directories are in a list of their own."""
        self.names.take(rows)  # which checks them
        assert self._folders is not None
        columns = {name: column[rows] for name, column in self._columns.items()}
        return Entries(self.names.take(rows), columns, self._folders)

    def paths(self, rows: Rows | None = None) -> _ferry.Names:
        """The paths of all entries, or of those in rows."""
        assert self._folders is not None
        wanted = self._numbers(rows)
        return _ferry.join(self.names, self._columns["folder"], self._folders, wanted)

    def _numbers(self, rows: Rows | None) -> NDArray[np.int64]:
        return rows_of(slice(None) if rows is None else rows, len(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Entries):
            return NotImplemented
        a, b = self.columns, other.columns
        return (
            a.keys() == b.keys()
            and self.names == other.names
            and all(equal(a[name], b[name]) for name in a)
            and self.paths() == other.paths()
        )

    def __reduce__(self) -> tuple[object, tuple[Saved]]:
        return restore, (Saved(type(self), self.names, self._columns, self._folders),)

    def __repr__(self) -> str:
        count = len(self)
        first = f" from {self.paths([0])[0]!r}" if count else ""
        entries = "1 entry" if count == 1 else f"{count:,} entries"
        return f"<{type(self).__name__}: {entries}{first}; {', '.join(self.keys())}>"

    def _repr_html_(self) -> str:
        """The first and the last entries, for notebooks."""
        count = len(self)
        numbers = list(range(count))
        if count > SHOWN:
            numbers = [*numbers[: SHOWN // 2], *numbers[-SHOWN // 2 :]]
        lines = []
        for number, row in zip(numbers, self._rows(np.array(numbers, np.int64)), strict=True):
            cells = "".join(f"<td>{in_html(value)}</td>" for value in row)
            lines.append(f"<tr><th>{number}</th>{cells}</tr>")
        if count > SHOWN:
            dots = f"<tr><th>&#8943;</th><td colspan={len(self.keys())}></td></tr>"
            lines.insert(SHOWN // 2, dots)
        heads = "".join(f"<th>{name}</th>" for name in self.keys())
        head = f"<thead><tr><th></th>{heads}</tr></thead>"
        table = f"<table>{head}<tbody>{''.join(lines)}</tbody></table>"
        return f"{table}<p>{count:,} entries</p>"

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The columns without the paths, for pyarrow.table() and the like; nothing is copied.

        Names are binary instead of strings if one of them is not UTF-8.
        """
        columns: list[tuple[str, str, _ferry.Buffer | _ferry.Names]] = [("name", "", self.names)]
        for name, column in self.columns.items():
            buffer = self._buffers.get(name) or _ferry.copy_of(np.ascontiguousarray(column))
            columns.append((name, ARROW_FORMATS[column.dtype.str], buffer))
        return _ferry.arrow_table(columns, len(self))

    def to_arrow(self) -> Any:  # noqa: ANN401 (its annotations would need it)
        """A pyarrow.Table of all columns."""
        import pyarrow  # type: ignore[import-untyped]

        return pyarrow.table(self).add_column(0, "path", pyarrow.array(self.paths()))

    def to_pandas(self) -> Any:  # noqa: ANN401 (likewise)
        """A pandas.DataFrame of all columns.  pandas.DataFrame(entries) has the same, but takes an
        object for each value on its way.
        """
        import pandas  # type: ignore[import-untyped]

        texts = {name: self[name].tolist() for name in ("path", "name")}
        kind = None if is_utf8(texts["path"]) else object
        columns = {name: pandas.Series(text, dtype=kind) for name, text in texts.items()}
        return pandas.DataFrame(columns | dict(self.columns))


def is_utf8(texts: list[str]) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def in_html(value: object) -> str:
    return html.escape(str(value).encode(errors="backslashreplace").decode())
