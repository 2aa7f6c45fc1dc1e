# SPDX-License-Identifier: MIT
"""The entries of a tree."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry.call import (
    ALL_FIELDS,
    FIELDS,
    Directory,
    Options,
    StrPath,
    as_array,
    make_options,
    open_directory,
    record_type,
)

FOLLOW = 0x1
FOLLOW_ROOT = 0x2
XDEV = 0x4
SORTED = 0x8

ARROW_FORMATS = {
    "|u1": "C",
    "<i4": "i",
    "<u4": "I",
    "<i8": "l",
    "<u8": "L",
    "<M8[ns]": "tsn:UTC",
}

DT_DIR = 4
DT_REG = 8
DT_LNK = 10
"""Types of entries, those of readdir(3): a directory, a regular file, a symbolic link."""

COLUMNS: dict[str, np.dtype[Any]] = {
    "parent": np.dtype(np.int64),
    "depth": np.dtype(np.uint32),
    "type": np.dtype(np.uint8),
    "error": np.dtype(np.intc),
}


class Tree:
    """The entries of a tree as columns, each an array with an element for every entry.

    The root is row 0, and every other row comes after that of its directory.
    """

    __iter__ = None  # otherwise Python would iterate by asking for column 0

    def __init__(self, columns: Mapping[str, _ferry.Buffer | _ferry.Names]) -> None:
        self._buffers = columns
        names = columns["name"]
        assert isinstance(names, _ferry.Names)
        self.names = names
        """The names; that of the root is the path that was given."""
        self.columns: Mapping[str, NDArray[Any]] = MappingProxyType(
            {
                name: as_array(column, COLUMNS.get(name) or FIELDS[name])
                for name, column in columns.items()
                if isinstance(column, _ferry.Buffer)
            }
        )
        """The columns:

        parent: the row of the directory, -1 for the root.
        depth: the number of directories above the entry.
        type: DT_DIR, DT_REG and so on, known even without attributes; 0 after an error.
        error: 0, or the number of the error of the entry, or of the directory when it could not be
            read.
        And the attributes that were asked for.
        """

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.columns[column]

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The columns, and the names as the column name, for pyarrow.table() and the like.

        Names are binary instead of strings if one of them is not UTF-8.
        """
        columns = [
            (name, "" if name == "name" else ARROW_FORMATS[self[name].dtype.str], buffer)
            for name, buffer in self._buffers.items()
        ]
        return _ferry.arrow_table(columns, len(self))

    def paths(self, rows: NDArray[Any] | None = None) -> _ferry.Names:
        """The paths of all entries, or of those in rows: numbers, or a boolean for each entry."""
        return _ferry.paths(self.names, self["parent"], self.rows(rows))

    def rows(self, which: NDArray[Any] | None) -> NDArray[np.int64]:
        if which is None:
            return np.arange(len(self), dtype=np.int64)
        which = np.asarray(which)
        if which.dtype == np.bool_:
            if which.shape != (len(self),):
                raise ValueError(f"there must be {len(self)} booleans, one for each entry")
            return np.flatnonzero(which)
        return np.ascontiguousarray(which, np.int64)

    def directories(self) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Yields each directory that has entries: its path, and the rows of the entries."""
        order = np.argsort(self["parent"], kind="stable")[1:]
        parents, starts = np.unique(self["parent"][order], return_index=True)
        rows = np.split(order, starts[1:]) if len(parents) else []
        paths = self.paths(parents)
        for i, entries in enumerate(rows):
            yield paths[i], entries


def walk(
    root: StrPath,
    /,
    *,
    stat: bool | Iterable[str] = False,
    directory: Directory | None = None,
    follow_symlinks: bool = False,
    follow_root: bool = True,
    same_device: bool = False,
    sort: bool = False,
    prune: Callable[[str], object] | None = None,
    **options: Unpack[Options],
) -> Tree:
    """Walks the tree at root and returns its entries.

    >>> tree = walk(directory, stat=("size",), sort=True)
    >>> [os.path.relpath(path, directory) for path in tree.paths()]
    ['.', 'a', 'b']
    >>> int(tree["size"][tree["type"] == DT_REG].sum())
    11

    stat: whether to look up the attributes of each entry, or which: names in FIELDS.
    directory: what root is relative to: a path or a descriptor.
    follow_symlinks: follow all symbolic links; one that leads nowhere is an entry itself.
    follow_root: follow root itself if it is a symbolic link.
    same_device: stay out of directories on other devices than the root.
    sort: entries in the order of their names, and directories in the order of a recursion.
    prune: a function of a directory's path; the walk stays out where it returns something true.
        Several threads may call it, one at a time.
    options: those of Options.

    The error of an entry or of a directory is in the column error; that of the root is raised.
    """
    fields = ALL_FIELDS if stat is True else tuple(stat) if stat else ()
    flags = (
        FOLLOW * bool(follow_symlinks)
        | FOLLOW_ROOT * bool(follow_root)
        | XDEV * bool(same_device)
        | SORTED * bool(sort)
    )
    paths = _ferry.Paths((root,))
    layout = record_type(fields)[1]
    how = make_options(**options)
    with open_directory(directory) as fd:
        tree = Tree(_ferry.walk(fd, paths, flags, layout, prune, how))
    if tree["error"][0]:
        raise _ferry.os_error(int(tree["error"][0]), root)
    return tree
