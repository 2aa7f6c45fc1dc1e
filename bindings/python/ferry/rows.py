# SPDX-License-Identifier: MIT
"""Choices of rows, and names on their way through pickle."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry.call import as_array

Rows = slice | list[int] | list[bool] | NDArray[Any]
"""Some of many rows: a slice, their numbers, or a boolean for each."""


def rows_of(which: Rows, count: int) -> NDArray[np.int64]:
    """The numbers of the rows."""
    if isinstance(which, slice):
        return np.arange(*which.indices(count), dtype=np.int64)
    if isinstance(which, str | bytes):
        raise TypeError(f"rows are whole numbers or booleans, not {which!r}")
    which = np.asarray(which)
    if which.ndim != 1:
        raise TypeError("rows are a slice, a list, or an array of one dimension")
    if which.dtype == np.bool_:
        if which.shape != (count,):
            raise ValueError(f"there must be {count} booleans, one for each entry")
        return np.flatnonzero(which)
    if which.dtype.kind not in "iu" and which.size:
        raise TypeError(f"rows are whole numbers or booleans, not {which.dtype}")
    return np.ascontiguousarray(which, np.int64)


Saved = tuple[NDArray[np.uint8], NDArray[np.int64]]


def reduce_names(names: _ferry.Names) -> tuple[object, Saved]:
    return restore_names, (as_array(names.bytes, np.uint8), as_array(names.offsets, np.int64))


def restore_names(*saved: *Saved) -> _ferry.Names:
    return _ferry.restore_names(*saved)
