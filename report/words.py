# SPDX-License-Identifier: MIT
"""Numbers and lists as people read them."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

UNITS = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "instructions": ((1e9, "G instr."), (1e6, "M instr."), (1e3, "k instr."), (1.0, "instr.")),
}
MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
LEAST_ERROR = 1e-6  # of any figure: less is the rounding of equal trials
NO_BREAK = "\N{NO-BREAK SPACE}"

_unit: ContextVar[str] = ContextVar("unit", default="ns")


@contextmanager
def measured_in(unit: str) -> Iterator[None]:
    """Within it, times are of the run that has this unit."""
    token = _unit.set(unit)
    try:
        yield
    finally:
        _unit.reset(token)


def unit() -> str:
    """Of the times in the document: ns, or instructions."""
    return _unit.get()


def scaled(time: float) -> tuple[float, str]:
    """TIME in the largest unit of which it has one."""
    units = UNITS[unit()]
    size, name = next((pair for pair in units if abs(time) * 1.0000001 >= pair[0]), units[-1])
    return time / size, name


def fixed(value: float, digits: int) -> str:
    """VALUE with DIGITS after the point, a true minus sign, and no minus before zero."""
    text = f"{abs(value):,.{max(digits, 0)}f}"
    negative = value < 0 and any(digit in text for digit in "123456789")
    return MINUS + text if negative else text


def significant(value: float | None, digits: int = 3) -> str:
    """VALUE rounded to DIGITS significant ones, never as a power of ten."""
    if value is None:
        return NONE
    if value == 0 or not math.isfinite(value):
        return fixed(value, 0)
    return fixed(value, digits - 1 - math.floor(math.log10(abs(value))))


def time(value: float, digits: int = 3) -> str:
    number, name = scaled(value)
    return f"{significant(number, digits)}{NO_BREAK}{name}"


def digits_of_error(error: float) -> int:
    """The digits after the point that ERROR permits: two of its own, or one from the third on."""
    if error < LEAST_ERROR or not math.isfinite(error):
        return 2
    first = -math.floor(math.log10(error))
    return first + 1 if first < 3 else first


def with_error(value: float | None, error: float | None) -> str:
    """VALUE ± ERROR, rounded to two digits of the error."""
    if value is None or error is None:
        return significant(value)
    digits = digits_of_error(error)
    return f"{fixed(value, digits)}{NO_BREAK}±{NO_BREAK}{fixed(error, digits)}"


def percent(share: float | None) -> str:
    if share is None:
        return NONE
    return f"{fixed(100 * share, 0 if abs(share) >= 0.1 else 1)}{NO_BREAK}%"


def whole(number: float | None) -> str:
    return NONE if number is None else f"{number:,.0f}"


def joined(words: Sequence[str]) -> str:
    """One, two and three."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
