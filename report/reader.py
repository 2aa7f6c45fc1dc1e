# SPDX-License-Identifier: MIT
"""JSON values into records, which are dataclasses; an error names the field that does not fit.

Fields that a record lacks are ignored; those with a default may be absent.  Of a list, what was
not available is left out.
"""

import dataclasses
import json
import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

SCALARS: dict[object, tuple[set[type], str]] = {
    bool: ({bool}, "true or false"),
    int: ({int}, "an integer"),
    float: ({int, float}, "a number"),
    str: ({str}, "a string"),
}


class Unfit(Exception):
    """What is wrong, after "the field 'rows[3].median' "."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"the field '{place.lstrip('.')}' {what}")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Record:
    """Base of what is read: every subclass is a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


T = TypeVar("T", bound=Record)


@dataclass(frozen=True)
class Rule:
    """A condition on a value, as Annotated[type, Rule(...)]."""

    words: str
    holds: Callable[[Any], bool]


def shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def require(holds: bool, place: str, value: object, wanted: str) -> None:
    if not holds:
        raise Unfit(place, f"is {shown(value)}, and ferry-bench(5) wants {wanted} there")


def read(kind: type[T], value: Any, place: str = "") -> T:  # noqa: ANN401
    """VALUE as KIND; Unfit names the first field that does not fit."""
    require(isinstance(value, dict), place, value, "an object")
    found = {}
    for one in dataclasses.fields(kind):
        if one.name in value:
            found[one.name] = read_value(one.type, value[one.name], f"{place}.{one.name}")
        elif {one.default, one.default_factory} == {MISSING}:
            raise Unfit(f"{place}.{one.name}", "is missing; see ferry-bench(5)")
    try:
        return kind(**found)
    except ValueError as error:
        raise Unfit(place, str(error)) from None


def read_list(kind: Any, values: Any, place: str) -> list[Any]:  # noqa: ANN401
    require(isinstance(values, list), place, values, "a list")
    return [
        read_value(kind, value, f"{place}[{i}]")
        for i, value in enumerate(values)
        if not isinstance(value, dict) or value.get("available") is not False
    ]


def read_value(kind: Any, value: Any, place: str) -> Any:  # noqa: ANN401
    origin, of = get_origin(kind), get_args(kind)
    if kind is object:
        return value
    if kind in SCALARS:
        types, words = SCALARS[kind]
        finite = not isinstance(value, float) or math.isfinite(value)
        require(type(value) in types and finite, place, value, words)
        return value
    if origin in (Union, UnionType):  # with None, which comes last
        return None if value is None else read_value(of[0], value, place)
    if origin is Literal:
        require(value in of, place, value, " or ".join(map(shown, of)))
        return value
    if origin is Annotated:
        found = read_value(of[0], value, place)
        for rule in of[1:]:
            require(rule.holds(found), place, value, rule.words)
        return found
    if origin is list:
        return read_list(of[0], value, place)
    if origin is dict:
        require(isinstance(value, dict), place, value, "an object")
        return {name: read_value(of[1], one, f"{place}.{name}") for name, one in value.items()}
    return read(kind, value, place)
