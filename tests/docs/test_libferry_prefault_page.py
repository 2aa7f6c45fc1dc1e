# SPDX-License-Identifier: MIT
"""libferry_prefault(3) covers ferry_prefault.h: functions, constants and fields, and no other."""

import re

from conftest import INCLUDE
from manual_page import plain, sections, without_comments

PAGE = "libferry_prefault.3"
HEADER = re.sub(r"/\*.*?\*/", "", (INCLUDE / "ferry_prefault.h").read_text(), flags=re.S)


def test_the_synopsis_declares_every_function_and_no_other() -> None:
    functions = set(re.findall(r"\b(ferry_\w+)\(", HEADER))
    assert len(functions) == 3
    synopsis = plain(sections(PAGE)["SYNOPSIS"])
    assert set(re.findall(r"\b(ferry_\w+)\(", synopsis)) == functions
    described = "".join(plain(text) for text in sections(PAGE, "SS").values())
    assert {name for name in functions if name not in described} == set()


def test_every_constant_and_field_is_named() -> None:
    page = plain(without_comments(PAGE))
    names = set(re.findall(r"\b(FERRY_PREFAULT_(?!H\b)\w+)", HEADER))
    assert len(names) == 9
    fields = set(re.findall(r"(\w+);", HEADER.split("struct ferry_prefaulted {")[1].split("}")[0]))
    assert fields == {"way", "large_page", "faults"}
    assert {name for name in names | fields if name not in page} == set()
    assert {name for name in re.findall(r"FERRY_PREFAULT_\w+", page) if name not in names} == set()
