# SPDX-License-Identifier: MIT
"""Numbers and lists as people read them."""

import math
from collections.abc import Sequence

UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
NO_BREAK = "\N{NO-BREAK SPACE}"


def fixed(value: float, digits: int) -> str:
    """VALUE with DIGITS after the point, a true minus sign, and no minus before zero."""
    text = f"{abs(value):,.{max(digits, 0)}f}"
    negative = value < 0 and any(digit in text for digit in "123456789")
    return MINUS + text if negative else text


def significant(value: float, digits: int = 3) -> str:
    """VALUE rounded to DIGITS significant ones, never as a power of ten."""
    if value == 0 or not math.isfinite(value):
        return fixed(value, 0)
    return fixed(value, digits - 1 - math.floor(math.log10(abs(value))))


def doubt(is_significant: bool) -> str:
    """What is said behind a ratio."""
    return "" if is_significant else ", which the noise could have made"


def unit_of(ns: float) -> tuple[float, str]:
    """The unit to write NS in, and how many ns it has."""
    for size, name in UNITS:
        if abs(ns) >= size:
            return size, name
    return 1.0, "ns"


def time(ns: float, digits: int = 3) -> str:
    size, name = unit_of(ns)
    return f"{significant(ns / size, digits)}{NO_BREAK}{name}"


def digits_of_error(error: float) -> int:
    """Digits after the point that ERROR leaves meaningful: two of its own, or one from the
    third on."""
    if error <= 0 or not math.isfinite(error):
        return 2
    first = -math.floor(math.log10(error))
    return first + 1 if first < 3 else first


def with_error(value: float, error: float | None, unit: str = "") -> str:
    """VALUE ± ERROR, rounded to two digits of the error."""
    tail = f"{NO_BREAK}{unit}" if unit else ""
    if error is None:
        return significant(value) + tail
    digits = digits_of_error(error)
    return f"{fixed(value, digits)}{NO_BREAK}±{NO_BREAK}{fixed(error, digits)}{tail}"


def time_with_error(ns: float, error: float) -> str:
    size, name = unit_of(ns)
    return with_error(ns / size, error / size, name)


def times(ratio: float) -> str:
    return f"{significant(ratio)} times"


def percent(share: float) -> str:
    return f"{fixed(100 * share, 0 if abs(share) >= 0.1 else 1)}{NO_BREAK}%"


def joined(words: Sequence[str], last: str = "and") -> str:
    """One, two and three."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(number: int, thing: str) -> str:
    if number == 1:
        return f"1 {thing}"
    plural = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    return f"{number:,} {plural}"
