# SPDX-License-Identifier: MIT
"""JSON values into records, which are dataclasses; an error names the field that does not fit.

Fields that a record lacks are ignored; those with a default may be absent.
"""

import dataclasses
import json
import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T", bound="Record")
SCALARS: dict[object, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "an integer"),
    float: ((int, float), "a number"),
    str: ((str,), "a string"),
    NoneType: ((NoneType,), "null"),
}


class Unfit(Exception):
    """What is wrong, after "the field 'rows[3].median' "."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"the field '{place.lstrip('.')}' {what}")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Record:
    """Base of what is read: every subclass is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


@dataclass(frozen=True)
class Rule:
    """A condition on a value, as Annotated[type, Rule(...)]."""

    words: str
    holds: Callable[[Any], bool]


def shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def unfit(place: str, value: object, wanted: str) -> Unfit:
    return Unfit(place, f"is {shown(value)}, and ferry-bench(5) wants {wanted} there")


@cache
def fields_of(kind: type) -> dict[str, tuple[Any, bool]]:
    """Type of each field, and whether it may be absent."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        one.name: (hints[one.name], {one.default, one.default_factory} != {MISSING})
        for one in dataclasses.fields(kind)
    }


def read_record(kind: Any, value: Any, place: str) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        raise unfit(place, value, "an object")
    found = {}
    for name, (of, may_be_absent) in fields_of(kind).items():
        if name in value:
            found[name] = read_value(of, value[name], f"{place}.{name}")
        elif not may_be_absent:
            raise Unfit(f"{place}.{name}", "is missing; see ferry-bench(5)")
    try:
        return kind(**found)
    except ValueError as error:
        raise Unfit(place, str(error)) from None


def read_one_of(kinds: tuple[Any, ...], value: Any, place: str) -> Any:  # noqa: ANN401
    """Null or the other; of two records the one that "available" selects."""
    if value is None and NoneType in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not NoneType)
    if len(kinds) == 1:
        return read_value(kinds[0], value, place)
    if not isinstance(value, dict):
        raise unfit(place, value, "an object")
    available = read_value(bool, value.get("available"), f"{place}.available")
    (kind,) = (one for one in kinds if get_args(fields_of(one)["available"][0]) == (available,))
    return read_record(kind, value, place)


def read_list(of: tuple[Any, ...], value: Any, place: str) -> list[Any]:  # noqa: ANN401
    """As many values as OF has types, or any number of one type."""
    if not isinstance(value, list):
        raise unfit(place, value, "a list")
    if len(of) > 1 and len(value) != len(of):
        raise unfit(place, value, f"a list of {len(of)}")
    kinds = of if len(of) > 1 else of * len(value)
    return [
        read_value(kind, one, f"{place}[{i}]")
        for i, (kind, one) in enumerate(zip(kinds, value, strict=True))
    ]


def read_scalar(kind: Any, value: Any, place: str) -> Any:  # noqa: ANN401
    types, words = SCALARS[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind is not bool):
        raise unfit(place, value, words)
    if isinstance(value, float) and not math.isfinite(value):
        raise unfit(place, value, words)
    return value


def read_value(kind: Any, value: Any, place: str) -> Any:  # noqa: ANN401
    origin, of = get_origin(kind), get_args(kind)
    if origin is Annotated:
        found = read_value(of[0], value, place)
        for rule in of[1:]:
            if not rule.holds(found):
                raise unfit(place, value, rule.words)
        return found
    if kind in (object, Any):
        return value
    if isinstance(kind, type) and issubclass(kind, Record):
        return read_record(kind, value, place)
    if origin in (Union, UnionType):
        return read_one_of(of, value, place)
    if origin is Literal:
        if value not in of:
            raise unfit(place, value, " or ".join(map(shown, of)))
        return value
    if origin is list:
        return read_list(of, value, place)
    if origin is tuple:
        return tuple(read_list(of, value, place))
    if origin is dict:
        if not isinstance(value, dict):
            raise unfit(place, value, "an object")
        return {name: read_value(of[1], one, f"{place}.{name}") for name, one in value.items()}
    return read_scalar(kind, value, place)


def read(kind: type[T], value: object) -> T:
    """VALUE as KIND, a record; Unfit names the first field that does not fit."""
    found: T = read_value(kind, value, "")
    return found
