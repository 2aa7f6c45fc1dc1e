# SPDX-License-Identifier: MIT
"""Batches of system calls: see libferry(3)."""

import os
from collections.abc import Iterable
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry

ON_FAIL = 1
ON_ZERO = 2
ON_POS = 4
ALWAYS = 7
END = "end"
"""The label after the last slot: a jump to it ends the batch."""

NOT_RUN = np.iinfo(np.int64).min
"""The result of a slot that did not run."""

Argument = (
    SupportsIndex | str | os.PathLike[str] | bytes | bytearray | memoryview | NDArray[Any] | None
)


class Problem(NamedTuple):
    """A mistake that Program.check() has found."""

    slot: int
    fatal: bool
    """The slot can only fail; otherwise it runs, but probably not as meant."""
    reason: str


class Program:
    """A batch of system calls, which is built once and runs in as few crossings as possible.

    >>> path, buffer = os.path.join(directory, "a"), bytearray(16)
    >>> program = Program()
    >>> fd = program.call("openat", -100, path, os.O_RDONLY)
    >>> program.jump_to(fd, ON_FAIL, END)
    >>> read = program.call("read", 0, buffer, len(buffer))
    >>> program.forward(read, 0, fd)
    >>> program.forward(program.call("close", 0), 0, fd)
    >>> program.check()
    []
    >>> last, results = program.run()
    >>> last, buffer[:results[read]]
    (2, bytearray(b'first'))

    A slot is the number that call(), copy() or goto() returned.  A method that fails leaves
    the program as it was.  Any number of threads may run a program, which cannot change then.
    """

    def __init__(self) -> None:
        self._program = _ferry.Program()

    def __len__(self) -> int:
        return len(self._program)

    def call(self, call: int | str, *arguments: Argument) -> int:
        """Appends a system call: its name or number, and up to 6 arguments.

        An argument is an integer, None for 0, or what the kernel gets the address of: a str or
        path, bytes, or writable memory such as a bytearray or an array.  The program keeps it.
        Memory that the kernel writes to must be writable and large enough.
        """
        if isinstance(call, str):
            if call not in _ferry.CALLS:
                raise ValueError(f"there is no system call {call!r}")
            call = _ferry.CALLS[call]
        return self._program.call(call, *arguments)

    def copy(self, to: Argument, source: Argument) -> int:
        """Appends a copy of the word of 8 bytes at source to the address to."""
        return self._program.copy(to, source)

    def goto(self, label: str) -> int:
        """Appends a slot that always fails and goes to label, which lies ahead."""
        return self._program.goto(label)

    def label(self, label: str) -> None:
        """Names the next slot."""
        self._program.label(label)

    def jump_to(self, slot: int, when: int, label: str) -> None:
        """Makes slot go to label, which lies ahead, after results in when, such as ON_FAIL."""
        self._program.jump_to(slot, when, label)

    def forward(self, slot: int, argument: int, source: int) -> None:
        """Makes an argument of slot, counted from 0, the result of the earlier slot source."""
        self._program.forward(slot, argument, source)

    def parameter(self, slot: int, argument: int, index: int) -> None:
        """Makes an argument of slot the value with this index that run() gets."""
        self._program.parameter(slot, argument, index)

    @property
    def missing_label(self) -> str | None:
        """A label that a jump waits for."""
        return self._program.missing_label

    def check(self) -> list[Problem]:
        """Finds mistakes without running anything."""
        return [Problem(*problem) for problem in self._program.check()]

    def run(self, values: Iterable[int] = ()) -> tuple[int, NDArray[np.int64]]:
        """Runs the program with these values for its parameters.

        Returns the last slot that ran, and the results of all: what the system call returned, a
        negated error number, or NOT_RUN.
        """
        results = np.full(len(self), NOT_RUN)
        return self._program.run(list(values), results), results
