# SPDX-License-Identifier: MIT
"""Parts of many files."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry.call import Directory, open_directory, record_type

TO_THE_END = -1

SURELY_SMALL = 1 << 16
"""Bytes of a part whose file need not be looked at before memory is taken for it."""

MOST_AT_ONCE = 1 << 14
"""Parts; between, Ctrl-C and the like are looked at, and memory is given back."""

Numbers = Iterable[int] | NDArray[Any]


def numbers(what: str, given: Numbers, count: int, least: int) -> NDArray[np.int64]:
    found = np.asarray(given if isinstance(given, np.ndarray) else list(given))
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"{what} are whole numbers, not {found.dtype}")
    if found.shape != (count,):
        raise ValueError(f"there must be one of {what} for each of {count} paths")
    if found.size and (found.min() < least or found.max() > np.iinfo(np.int64).max):
        raise ValueError(f"one of {what} is out of range")
    return np.ascontiguousarray(found, np.int64)


def known_sizes(
    fd: int,
    paths: _ferry.Paths,
    offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    options: _ferry.Options,
) -> NDArray[np.int64]:
    """LENGTHS, but no more than the files have."""
    if not len(lengths) or (lengths.min() >= 0 and lengths.max() <= SURELY_SMALL):
        return lengths
    dtype, layout = record_type(("size",))
    stats, errors = np.zeros(len(paths), dtype), np.zeros(len(paths), np.intc)
    _ferry.stat_many(fd, paths, 0, layout, stats, errors, options)
    left = np.maximum(stats["size"] - offsets, 0)
    wanted = np.where(lengths < 0, left, np.minimum(lengths, left))
    # /proc and the like have files of unknown sizes.
    unknown = (stats["size"] == 0) & (errors == 0) & (lengths >= 0)
    return np.where(unknown, np.minimum(lengths, SURELY_SMALL), wanted)


def read_parts(
    directory: Directory | None,
    paths: _ferry.Paths,
    offsets: Numbers,
    lengths: Numbers | None,
    memory: int,
    flags: int,
    options: _ferry.Options,
) -> Iterator[Any]:
    """Yields bytes or an OSError for each part."""
    count = len(paths)
    starts = numbers("offsets", offsets, count, 0)
    ends = np.full(count, TO_THE_END) if lengths is None else lengths
    wanted = numbers("lengths", ends, count, TO_THE_END)

    def parts() -> Iterator[Any]:
        with open_directory(directory) as fd:
            sizes = known_sizes(fd, paths, starts, wanted, options)
            totals = np.cumsum(sizes)
            first = 0
            while first < count:
                before = totals[first] - sizes[first]
                fitting = int(np.searchsorted(totals, before + memory, "right"))
                end = min(max(first + 1, fitting), first + MOST_AT_ONCE)
                yield from _ferry.read_ranges(
                    fd, paths, starts, sizes, first, end - first, flags, options
                )
                first = end

    return parts()
