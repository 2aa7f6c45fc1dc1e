# SPDX-License-Identifier: MIT
"""What the arguments of all functions have in common."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry._ferry import Names

T = TypeVar("T", bound=np.generic)
StrPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths = Iterable[StrPath] | Names


class HasFileno(Protocol):
    """An open file or socket."""

    def fileno(self) -> int: ...


Directory = int | HasFileno | StrPath

FIELDS: dict[str, np.dtype[Any]] = {name: np.dtype(kind) for name, kind in _ferry.FIELDS.items()}
"""The attributes of a file and their types: those of os.stat_result, without st_."""

AT_FDCWD = -100
"""Names are relative to the working directory."""


class Options(TypedDict, total=False):
    """How a call does its work."""

    threads: int
    """The most threads that work; as many as are of use if it is 0 or not given."""

    timeout: float | None
    """The most seconds that a system call may take; an item that takes longer fails."""

    progress: Callable[[int], object] | None
    """Called about ten times a second with the number of items done; an exception ends the call."""


def make_options(
    threads: int = 0,
    timeout: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> _ferry.Options:
    if threads < 0:
        raise ValueError(f"threads is {threads}; it must be 0 or more")
    if timeout is not None and not 0 < timeout <= 4_000_000:
        raise ValueError(f"timeout is {timeout}; it must be a number of seconds above 0")
    if progress is not None and not callable(progress):
        raise TypeError("progress must be a function of one number")
    return _ferry.Options(threads, max(1, round(timeout * 1000)) if timeout else 0, progress)


def as_array(buffer: _ferry.Buffer, dtype: np.dtype[T] | type[T]) -> NDArray[T]:
    """The buffer itself as an array, which keeps it."""
    return np.frombuffer(memoryview(buffer), dtype)


DEFAULTS = make_options()


@contextmanager
def open_directory(directory: Directory | None) -> Iterator[int]:
    """A descriptor of the directory, which is closed again only if it was opened here."""
    if directory is None:
        yield AT_FDCWD
    elif isinstance(directory, int):
        yield directory
    elif isinstance(directory, str | bytes | os.PathLike):
        fd = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield fd
        finally:
            os.close(fd)
    elif hasattr(directory, "fileno"):
        yield directory.fileno()
    else:
        raise TypeError(f"a directory is a path or a descriptor, not {type(directory).__name__}")


@lru_cache
def record_type(fields: tuple[str, ...]) -> tuple[np.dtype[np.void], _ferry.Layout]:
    """The type of a structured array with these fields, and the same for C++."""
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise ValueError(f"there is no field {unknown[0]!r}; there are {', '.join(FIELDS)}")
    dtype = np.dtype([(name, FIELDS[name]) for name in fields], align=True)
    assert dtype.fields is not None
    places = [(name, place[1]) for name, place in dtype.fields.items()]
    return dtype, _ferry.Layout(places, dtype.itemsize)


ALL_FIELDS = tuple(FIELDS)
