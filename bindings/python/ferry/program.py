# SPDX-License-Identifier: MIT
"""Batches of system calls: see libferry(3)."""

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ferry import _ferry
from ferry.call import whole

ON_FAIL = 1
ON_ZERO = 2
ON_POS = 4
ALWAYS = 7
END = "end"
"""The label after the last slot: a jump to it ends the batch."""

NOT_RUN = np.iinfo(np.int64).min
"""The result of a slot that did not run."""

MOST_ARGUMENTS = 6
MOST_APART = 255
"""Slots that a result can be forwarded over."""


class Slot:
    """A call, a copy or a goto in a program: what Program.call() and so on return.

    As an argument of a later call it stands for the result that it will have.
    """

    __slots__ = ("_program", "number")

    def __init__(self, program: "Program", number: int) -> None:
        self._program = program
        self.number = number
        """Where its result is in the results of Program.run()."""

    def __repr__(self) -> str:
        return f"<slot {self.number}>"


Argument = (
    Slot
    | SupportsIndex
    | str
    | os.PathLike[str]
    | bytes
    | bytearray
    | memoryview
    | NDArray[Any]
    | None
)


def word(value: SupportsIndex) -> int:
    return whole("the value of a parameter", value, -(2**63))


def text(label: str) -> str:
    if not isinstance(label, str):
        raise TypeError(f"a label is a str, not {label!r}")
    return label


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
    >>> read = program.call("read", fd, buffer, len(buffer))
    >>> close = program.call("close", fd)
    >>> program.check()
    []
    >>> last, results = program.run()
    >>> last, buffer[:results[read.number]]
    (2, bytearray(b'first'))

    A method that fails leaves the program as it was.  Any number of threads may run a program,
    which cannot change then.
    """

    def __init__(self) -> None:
        self._program = _ferry.Program()

    def __len__(self) -> int:
        return len(self._program)

    def call(self, call: int | str, *arguments: Argument) -> Slot:
        """Appends a system call: its name or number, and up to 6 arguments.

        An argument is an integer, None for 0, the slot of an earlier call for its result, or what
        the kernel gets the address of: a str or path, bytes, or writable memory such as a
        bytearray or an array.  The program keeps it.  Memory that the kernel writes to must be
        writable and large enough.
        """
        if isinstance(call, str):
            if call not in _ferry.CALLS:
                raise ValueError(f"there is no system call {call!r}")
            call = _ferry.CALLS[call]
        elif isinstance(call, Slot):
            raise TypeError("the first argument is the name of a system call, not a slot")
        call = whole("the number of the system call", call, -(2**31), 2**31 - 1)
        return self._append(partial(self._program.call, call), arguments)

    def copy(self, to: Argument, source: Argument) -> Slot:
        """Appends a copy of the word of 8 bytes at source to the address to."""
        return self._append(self._program.copy, (to, source))

    def goto(self, label: str) -> Slot:
        """Appends a slot that always fails and goes to label, which lies ahead."""
        return Slot(self, self._program.goto(text(label)))

    def label(self, label: str) -> None:
        """Names the next slot."""
        self._program.label(text(label))

    def jump_to(self, slot: Slot, when: int, label: str) -> None:
        """Makes slot go to label, which lies ahead, after results in when, such as ON_FAIL."""
        self._program.jump_to(self._number(slot), whole("when", when, 0, ALWAYS), text(label))

    def forward(self, slot: Slot, argument: int, source: Slot) -> None:
        """Makes an argument of slot, counted from 0, the result of the earlier slot source."""
        place = whole("argument", argument, 0, MOST_ARGUMENTS - 1)
        self._program.forward(self._number(slot), place, self._number(source))

    def parameter(self, slot: Slot, argument: int, index: int) -> None:
        """Makes an argument of slot the value with this index that run() gets."""
        place = whole("argument", argument, 0, MOST_ARGUMENTS - 1)
        self._program.parameter(self._number(slot), place, whole("index", index, 0, 2**31 - 1))

    def _number(self, slot: Slot) -> int:
        if not isinstance(slot, Slot):
            raise TypeError(f"a slot is what call() returned, not {slot!r}")
        if slot._program is not self:
            raise ValueError("the slot is one of another program")
        return slot.number

    def _append(self, append: Callable[..., int], arguments: tuple[Argument, ...]) -> Slot:
        sources = {i: self._number(each) for i, each in enumerate(arguments) if type(each) is Slot}
        if sources and len(self) - min(sources.values()) > MOST_APART:
            raise ValueError(f"a result can be forwarded over {MOST_APART} slots at most")
        number = append(*(0 if i in sources else each for i, each in enumerate(arguments)))
        for argument, source in sources.items():
            self._program.forward(number, argument, source)
        return Slot(self, number)

    @property
    def missing_label(self) -> str | None:
        """A label that a jump waits for."""
        return self._program.missing_label

    def check(self) -> list[Problem]:
        """Finds mistakes without running anything."""
        return [Problem(*problem) for problem in self._program.check()]

    def run(self, values: Iterable[int] = ()) -> tuple[int, NDArray[np.int64]]:
        """Runs the program with these values for its parameters.

        Returns the number of the last slot that ran, and the results of all by their numbers: what
        the system call returned, a negated error number, or NOT_RUN.
        """
        results = np.full(len(self), NOT_RUN)
        return self._program.run([word(value) for value in values], results), results
