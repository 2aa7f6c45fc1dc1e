# SPDX-License-Identifier: MIT
"""libferry(3) covers ferry.h: every function, type and constant, and nothing else."""

import re

from conftest import INCLUDE
from manual_page import plain, sections, without_comments

HEADER = (INCLUDE / "ferry.h").read_text()
PUBLIC = HEADER.split("\n#ifdef __cplusplus\n} /* extern", 1)[0]


def functions() -> set[str]:
    code = re.sub(r"/\*.*?\*/", "", PUBLIC, flags=re.S)
    return set(re.findall(r"\b(ferry_\w+)\(", code)) | {"ferry_call"}


def test_the_synopsis_declares_every_function_and_no_other() -> None:
    synopsis = plain(sections("libferry.3")["SYNOPSIS"])
    assert set(re.findall(r"\b(ferry_\w+)\(", synopsis)) == functions()


def test_every_function_is_described() -> None:
    description = plain(sections("libferry.3", "SS")["Building"])
    for title in ("Running", "Checking", "Engines", "Other calls"):
        description += plain(sections("libferry.3", "SS")[title])
    assert {name for name in functions() if name not in description} == set()


def test_every_type_and_constant_is_named() -> None:
    page = plain(without_comments("libferry.3"))
    names = set(re.findall(r"^(?:enum|struct) (ferry_\w+)", PUBLIC, re.M))
    names |= set(re.findall(r"^\t(FERRY_\w+)", PUBLIC, re.M))
    names |= set(re.findall(r"^#define (FERRY_(?!H\b)\w+)", PUBLIC, re.M))
    assert len(names) > 10
    assert {name for name in names if name not in page} == set()
