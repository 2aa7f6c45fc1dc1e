# SPDX-License-Identifier: MIT
"""Attributes and contents of many files."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, Unpack, cast, overload

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry.call import (
    ALL_FIELDS,
    AT_FDCWD,
    DEFAULTS,
    Directory,
    Options,
    Paths,
    as_array,
    make_options,
    open_directory,
    record_type,
)

AT_SYMLINK_NOFOLLOW = 0x100
READ_DEVICES = 0x1
READ_OPEN_FIRST = 0x2

MEMORY = 8 << 20

Stats = tuple[NDArray[np.void], NDArray[np.intc]]


class ReadOptions(Options, total=False):
    """How files are read: see read_many()."""

    limit: int | None
    memory: int
    devices: bool
    regular: bool


def split(first: Directory | Paths, second: Paths | None) -> tuple[Directory | None, _ferry.Paths]:
    """The arguments (paths) or (directory, names)."""
    if second is None:
        return None, _ferry.Paths(cast(Paths, first))
    return cast(Directory, first), _ferry.Paths(second)


def stat_many(
    first: Directory | Paths,
    second: Paths | None = None,
    /,
    *,
    fields: Iterable[str] = ALL_FIELDS,
    follow_symlinks: bool = True,
    **options: Unpack[Options],
) -> Stats:
    """Looks up the attributes of many files: stat_many(paths) or stat_many(directory, names).

    Returns a structured array with a record for each path, and an array of errors: 0, or the
    number of the error (see the module errno) that the path has; its record is then zero.
    Times are UTC, and not-a-time where they are unknown.

    >>> stats, errors = stat_many(["/", "/no/such/file"], fields=("mode", "size"))
    >>> stat.S_ISDIR(int(stats["mode"][0])), os.strerror(errors[1])
    (True, 'No such file or directory')

    fields: names in FIELDS; to ask for few can be faster, above all on network file systems.
    follow_symlinks: as in os.stat().
    options: those of Options.
    """
    directory, paths = split(first, second)
    dtype, layout = record_type(fields if type(fields) is tuple else tuple(fields))
    stats = np.empty(len(paths), dtype)
    errors = np.empty(len(paths), np.intc)
    flags = 0 if follow_symlinks else AT_SYMLINK_NOFOLLOW
    how = make_options(**options) if options else DEFAULTS
    if directory is None:
        _ferry.stat_many(AT_FDCWD, paths, flags, layout, stats, errors, how)
    else:
        with open_directory(directory) as fd:
            _ferry.stat_many(fd, paths, flags, layout, stats, errors, how)
    return stats, errors


class Chunk:
    """Files that were read at once: their contents in one buffer, and arrays that describe them."""

    def __init__(self, chunk: _ferry.Chunk) -> None:
        self._chunk = chunk
        self.data: NDArray[np.uint8] = as_array(chunk.arena, np.uint8)
        """The buffer with the contents of all files."""
        self.starts: NDArray[np.int64] = as_array(chunk.starts, np.int64)
        """Where each file begins in data."""
        self.lengths: NDArray[np.int64] = as_array(chunk.lengths, np.int64)
        """Bytes of each file."""
        self.errors: NDArray[np.intc] = as_array(chunk.errors, np.intc)
        """0, or the number of the error; the file then has no contents."""
        self.first = chunk.first
        """The position of the first file in the list of paths."""

    def __len__(self) -> int:
        return len(self._chunk)

    def __getitem__(self, index: int) -> memoryview:
        start = self.starts[index]
        return self.data.data[start : start + self.lengths[index]]


@contextmanager
def open_reader(
    first: Directory | Paths,
    second: Paths | None,
    limit: int | None = None,
    memory: int = MEMORY,
    devices: bool = False,
    regular: bool = False,
    **options: Unpack[Options],
) -> Iterator[_ferry.Reader]:
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}; it must be a number of bytes above 0")
    if memory < 1:
        raise ValueError(f"memory is {memory}; it must be a number of bytes above 0")
    directory, paths = split(first, second)
    flags = READ_DEVICES * devices | READ_OPEN_FIRST * regular
    how = make_options(**options) if options else DEFAULTS
    with open_directory(directory) as fd:
        reader = _ferry.Reader(fd, paths, flags, limit or 0, memory, how)
        try:
            yield reader
        finally:
            reader.close()


def read_chunks(
    first: Directory | Paths, second: Paths | None = None, /, **how: Unpack[ReadOptions]
) -> Iterator[Chunk]:
    """Reads many files, as read_many() does, and yields them in chunks.

    Python then needs no object for each file.

    >>> [chunk] = read_chunks(directory, ["a", "b"])
    >>> chunk.lengths.tolist(), bytes(chunk[1])
    ([5, 6], b'second')
    """
    with open_reader(first, second, **how) as reader:
        yield from map(Chunk, reader)


@overload
def read_many(
    first: Directory | Paths,
    second: Paths | None = ...,
    /,
    *,
    views: Literal[False] = ...,
    on_error: Literal["raise"] = ...,
    **how: Unpack[ReadOptions],
) -> Iterator[bytes]: ...
@overload
def read_many(
    first: Directory | Paths,
    second: Paths | None = ...,
    /,
    *,
    views: Literal[True],
    on_error: Literal["raise"] = ...,
    **how: Unpack[ReadOptions],
) -> Iterator[memoryview]: ...
@overload
def read_many(
    first: Directory | Paths,
    second: Paths | None = ...,
    /,
    *,
    views: Literal[False] = ...,
    on_error: Literal["return"],
    **how: Unpack[ReadOptions],
) -> Iterator[bytes | OSError]: ...
@overload
def read_many(
    first: Directory | Paths,
    second: Paths | None = ...,
    /,
    *,
    views: Literal[True],
    on_error: Literal["return"],
    **how: Unpack[ReadOptions],
) -> Iterator[memoryview | OSError]: ...
def read_many(
    first: Directory | Paths,
    second: Paths | None = None,
    /,
    *,
    views: bool = False,
    on_error: Literal["raise", "return"] = "raise",
    **how: Unpack[ReadOptions],
) -> Iterator[bytes | memoryview | OSError]:
    """Reads many files: read_many(paths) or read_many(directory, names).

    Yields the contents in the order of the paths, as bytes or, with views, as memoryviews of a
    buffer that many files share.  Files are read ahead, as many as fit into memory.  Where the
    caller works on them for long, others are read in the meantime.

    >>> list(read_many(directory, ["a", "b"]))
    [b'first', b'second']
    >>> [view.nbytes for view in read_many(directory, ["a", "b"], views=True)]
    [5, 6]

    on_error: "raise" ends with the OSError of the first file that failed, after all files before
        it; "return" yields the OSError in place of the contents, and goes on.
    how: the options below, and those of Options.
    limit: the most bytes of a file; a longer one fails with EFBIG.
    memory: bytes to read ahead; only a large file takes more.
    devices: read character and block devices, too.  FIFOs and sockets always fail.
    regular: the files are known to be regular, which saves looking at each before it is opened.
    """
    if on_error not in ("raise", "return"):
        raise ValueError(f'on_error is {on_error!r}; it must be "raise" or "return"')
    return items(open_reader(first, second, **how), views, on_error == "raise")


def items(
    opened: AbstractContextManager[_ferry.Reader], views: bool, strict: bool
) -> Iterator[bytes | memoryview | OSError]:
    with opened as reader:
        for chunk in reader:
            results = chunk.views() if views else chunk.copies()
            failed = chunk.first_failed if strict else -1
            del chunk  # whose buffer can be used again
            if failed >= 0:
                yield from results[:failed]
                raise results[failed]
            yield from results
            del results
