# SPDX-License-Identifier: MIT
"""libferry_files(3) covers ferry_files.h: functions, constants and fields, and no other."""

import re

from conftest import INCLUDE
from manual_page import plain, sections, without_comments

PAGE = "libferry_files.3"
HEADER = re.sub(r"/\*.*?\*/", "", (INCLUDE / "ferry_files.h").read_text(), flags=re.S)


def squeezed(text: str) -> str:
    """TEXT without blanks, quotes and font requests, which are where a page needs them."""
    return re.sub(r'[\s"]', "", re.sub(r"^\.[BI]+ ?", "", text, flags=re.M))


def test_the_synopsis_is_that_of_the_header() -> None:
    declared = re.findall(r"^(?:long|int) ferry_\w+\(.*?;", HEADER, re.M | re.S)
    assert len(declared) == 3
    synopsis = squeezed(plain(sections(PAGE)["SYNOPSIS"]))
    assert [one for one in map(squeezed, declared) if one not in synopsis] == []
    assert len(re.findall(r"ferry_\w+\(", synopsis)) == 3


def test_every_function_and_constant_is_described_and_no_other() -> None:
    page = plain(without_comments(PAGE))
    constants = set(re.findall(r"\bFERRY_(?:WALK|READ)_\w+", HEADER))
    assert len(constants) == 6
    assert set(re.findall(r"\bFERRY_(?:WALK|READ)_\w+", page)) == constants
    described = "".join(plain(text) for text in sections(PAGE, "SS").values())
    for name in ("ferry_statx_many", "ferry_read_files", "ferry_walk"):
        assert name in described


def test_every_field_is_named() -> None:
    page = plain(without_comments(PAGE))
    for name, body in re.findall(r"struct (\w+) \{(.*?)\n\};", HEADER, re.S):
        fields = re.findall(r"(\w+);|\(\*(\w+)\)\(", body)
        assert fields, name
        for field in ("".join(both) for both in fields):
            assert re.search(rf"\b{field}\b", page), f"{name}.{field}"
