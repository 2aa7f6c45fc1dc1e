# SPDX-License-Identifier: MIT
"""What the arguments of all functions have in common."""

import inspect
import operator
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from numbers import Real
from typing import Any, Protocol, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry._ferry import Names

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=np.generic)
StrPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths = Iterable[StrPath] | Names


class HasFileno(Protocol):
    """An open file or socket."""

    def fileno(self) -> int: ...


Directory = int | HasFileno | StrPath

FIELDS: dict[str, np.dtype[Any]] = {name: np.dtype(kind) for name, kind in _ferry.FIELDS.items()}
"""The attributes of a file and their types: the names of os.stat_result, without st_."""

CANCEL: ContextVar[_ferry.Cancel | None] = ContextVar("CANCEL", default=None)
"""What ends the calls of this context from outside."""

Progress = Callable[[int], object]

AT_FDCWD = -100
"""Names are relative to the working directory."""

MOST_DESCRIPTORS = MOST_THREADS = 2**31 - 1


THREADS = """threads: the most threads that work; 0 for as many as help.
"""
WAITS = """timeout: the most seconds that one system call may take; an item that takes longer fails.
progress: a function that is called about ten times a second with the number of items that are
    done; an exception in it ends the call.
"""


def documented(*more: str) -> Callable[[F], F]:
    """Adds what several functions have in common to the documentation of one."""

    def add(function: F) -> F:
        function.__doc__ = inspect.cleandoc(function.__doc__ or "") + "\n\n" + "".join(more)
        return function

    return add


def whole(what: str, value: SupportsIndex, least: int, most: int = sys.maxsize) -> int:
    """VALUE as an int between LEAST and MOST."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{what} is {number}; it must be between {least} and {most}")
    return number


def callback(what: str, function: object) -> None:
    if function is not None and not callable(function):
        raise TypeError(f"{what} must be a function, not {function!r}")


def make_options(
    threads: SupportsIndex, timeout: float | None, progress: Progress | None
) -> _ferry.Options:
    cancel = CANCEL.get()
    if not threads and timeout is None and progress is None and cancel is None:
        return DEFAULTS
    count = whole("threads", threads, 0, MOST_THREADS)
    if timeout is not None and not isinstance(timeout, Real):
        raise TypeError(f"timeout must be a number of seconds, not {timeout!r}")
    if timeout is not None and not 0 < timeout <= 4_000_000:
        raise ValueError(f"timeout is {timeout}; it must be a number of seconds above 0")
    callback("progress", progress)
    return _ferry.Options(count, max(1, round(timeout * 1000)) if timeout else 0, progress, cancel)


def as_array(buffer: _ferry.Buffer, dtype: np.dtype[T] | type[T]) -> NDArray[T]:
    """The buffer itself as an array, which keeps it."""
    return np.frombuffer(memoryview(buffer), dtype)


DEFAULTS = _ferry.Options(0, 0, None, None)


@contextmanager
def open_directory(directory: Directory | None) -> Iterator[int]:
    """A descriptor of the directory, which is closed again only if it was opened here."""
    if directory is None:
        yield AT_FDCWD
    elif isinstance(directory, int):
        yield whole("the descriptor of the directory", directory, AT_FDCWD, MOST_DESCRIPTORS)
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
