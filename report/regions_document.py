# SPDX-License-Identifier: MIT
"""The JSON of ferry cc --explain=json: the fields that the page shows."""

from .reader import Record

SCHEMA = "ferry-cc"
VERSION = 1


class End(Record):
    text: str
    remedy: str


class Region(Record):
    file: str
    line: int
    column: int
    function: str
    calls: list[str]
    is_region: bool
    in_a_row: int
    saved_ns: float | None
    ends: list[End]
