# SPDX-License-Identifier: MIT
"""The entries of a whole tree."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry.entries import Entries
from ferry.rows import Rows

DT_DIR = 4
DT_REG = 8
DT_LNK = 10
"""Types of entries, those of readdir(3): a directory, a regular file, a symbolic link."""


class Tree(Entries):
    """All entries of a tree, as walk() returns them.

    The root is row 0, and every other row comes after that of its directory, whose number is in the
    column parent; the root's is -1.
    """

    def paths(self, rows: Rows | None = None) -> _ferry.Names:
        """The paths of all entries, or of those in rows."""
        return _ferry.paths(self.names, self["parent"], self._numbers(rows))

    def _take(self, rows: NDArray[np.int64]) -> Entries:
        """Rows of others have other numbers, so the paths of the directories take their place."""
        names = self.names.take(rows)
        parents, places = np.unique(self["parent"][rows], return_inverse=True)
        first = int(parents.size and parents[0] == -1)  # of the root's row, which has no directory
        folders = self.paths(parents[first:])
        if first:
            folders = _ferry.Names(["", *folders])
        columns = {name: column[rows] for name, column in self.columns.items()}
        del columns["parent"]
        columns["folder"] = places.astype(np.int64)
        return Entries(names, columns, folders)

    def directories(self) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Yields each directory that has entries: its path, and the rows of the entries."""
        order = np.argsort(self["parent"], kind="stable")[1:]
        parents, starts = np.unique(self["parent"][order], return_index=True)
        rows = np.split(order, starts[1:]) if len(parents) else []
        paths = self.paths(parents)
        for i, entries in enumerate(rows):
            yield paths[i], entries
