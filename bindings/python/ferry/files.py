# SPDX-License-Identifier: MIT
"""Attributes and contents of many files."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, TypedDict, Unpack, cast, overload

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry.call import (
    ALL_FIELDS,
    AT_FDCWD,
    DEFAULTS,
    THREADS,
    WAITS,
    Directory,
    Paths,
    Progress,
    as_array,
    documented,
    make_options,
    open_directory,
    record_type,
    whole,
)
from ferry.ranges import Numbers, read_parts

AT_SYMLINK_NOFOLLOW = 0x100
READ_DEVICES = 0x1
READ_OPEN_FIRST = 0x2

MEMORY = 8 << 20

Stats = tuple[NDArray[np.void], NDArray[np.intc]]


READING = """limit: the most bytes of a file; a longer one fails with EFBIG.
memory: bytes to read ahead; only a large file takes more.
devices: read character and block devices, too.  FIFOs and sockets always fail.
regular: the files are known to be regular, which saves looking at each before it is opened.
"""


class ReadOptions(TypedDict, total=False):
    """How files are read: for the overloads of read_many(), whose own parameters these are."""

    limit: int | None
    memory: int
    devices: bool
    regular: bool
    threads: int
    timeout: float | None
    progress: Progress | None
    offsets: Numbers | None
    lengths: Numbers | None


def read_flags(devices: bool, regular: bool) -> int:
    return READ_DEVICES * bool(devices) | READ_OPEN_FIRST * bool(regular)


def check_on_error(on_error: str) -> None:
    if on_error not in ("raise", "return"):
        raise ValueError(f'on_error is {on_error!r}; it must be "raise" or "return"')


def split(first: Directory | Paths, second: Paths | None) -> tuple[Directory | None, _ferry.Paths]:
    """The arguments (paths) or (directory, names)."""
    if second is None:
        return None, _ferry.Paths(cast(Paths, first))
    return cast(Directory, first), _ferry.Paths(second)


@documented(THREADS, WAITS)
def stat_many(
    first: Directory | Paths,
    second: Paths | None = None,
    /,
    *,
    fields: Iterable[str] = ALL_FIELDS,
    follow_symlinks: bool = True,
    threads: int = 0,
    timeout: float | None = None,
    progress: Progress | None = None,
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
    """
    directory, paths = split(first, second)
    dtype, layout = record_type(fields if type(fields) is tuple else tuple(fields))
    stats = np.empty(len(paths), dtype)
    errors = np.empty(len(paths), np.intc)
    flags = 0 if follow_symlinks else AT_SYMLINK_NOFOLLOW
    how = make_options(threads, timeout, progress)
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
    options: _ferry.Options = DEFAULTS,
) -> Iterator[_ferry.Reader]:
    most = 0 if limit is None else whole("limit", limit, 1)
    ahead = whole("memory", memory, 1)
    directory, paths = split(first, second)
    flags = read_flags(devices, regular)
    with open_directory(directory) as fd:
        reader = _ferry.Reader(fd, paths, flags, most, ahead, options)
        try:
            yield reader
        finally:
            reader.close()


@documented(READING, THREADS, WAITS)
def read_chunks(
    first: Directory | Paths,
    second: Paths | None = None,
    /,
    *,
    limit: int | None = None,
    memory: int = MEMORY,
    devices: bool = False,
    regular: bool = False,
    threads: int = 0,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Iterator[Chunk]:
    """Reads many files, as read_many() does, and yields them in chunks.

    Python then needs no object for each file.

    >>> [chunk] = read_chunks(directory, ["a", "b"])
    >>> chunk.lengths.tolist(), bytes(chunk[1])
    ([5, 6], b'second')
    """
    how = make_options(threads, timeout, progress)
    with open_reader(first, second, limit, memory, devices, regular, how) as reader:
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
@documented(READING, THREADS, WAITS)
def read_many(
    first: Directory | Paths,
    second: Paths | None = None,
    /,
    *,
    views: bool = False,
    on_error: Literal["raise", "return"] = "raise",
    offsets: Numbers | None = None,
    lengths: Numbers | None = None,
    limit: int | None = None,
    memory: int = MEMORY,
    devices: bool = False,
    regular: bool = False,
    threads: int = 0,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Iterator[bytes | memoryview | OSError]:
    """Reads many files: read_many(paths) or read_many(directory, names).

    Yields the contents in the order of the paths, as bytes or, with views, as memoryviews of a
    buffer that many files share.  Files are read ahead, as many as fit into memory.  Where the
    caller works on them for long, others are read in the meantime.

    >>> list(read_many(directory, ["a", "b"]))
    [b'first', b'second']
    >>> [view.nbytes for view in read_many(directory, ["a", "b"], views=True)]
    [5, 6]
    >>> list(read_many(directory, ["a", "b", "b"], offsets=[0, 3, 9], lengths=[2, 3, 4]))
    [b'fi', b'ond', b'']

    views: whether the contents are memoryviews.
    on_error: "raise" ends with the OSError of the first file that failed, after all files before
        it; "return" yields the OSError in place of the contents, and goes on.
    offsets: where to begin in each file, of which a part is read then.  A path may come several
        times.
    lengths: bytes of each part, which has less at the end of its file; -1 for the rest.
    """
    check_on_error(on_error)
    how = make_options(threads, timeout, progress)
    if offsets is not None or lengths is not None:
        if limit is not None:
            raise ValueError("limit is for whole files; lengths are for parts")
        directory, paths = split(first, second)
        starts = np.zeros(len(paths), np.int64) if offsets is None else offsets
        room = whole("memory", memory, 1)
        parts = read_parts(
            directory, paths, starts, lengths, room, read_flags(devices, regular), how
        )
        return each_part(parts, views, on_error == "raise")
    reader = open_reader(first, second, limit, memory, devices, regular, how)
    return items(reader, views, on_error == "raise")


def each_part(
    parts: Iterator[bytes | OSError], views: bool, strict: bool
) -> Iterator[bytes | memoryview | OSError]:
    for part in parts:
        if isinstance(part, bytes):
            yield memoryview(part) if views else part
        elif strict:
            raise part
        else:
            yield part


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
