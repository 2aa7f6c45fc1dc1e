# SPDX-License-Identifier: MIT
"""libferry_flexsc(3) covers ferry_flexsc.h: every function, option and flag, and nothing else."""

import re

from conftest import INCLUDE
from manual_page import plain, sections, without_comments

PAGE = "libferry_flexsc.3"
HEADER = re.sub(r"/\*.*?\*/", "", (INCLUDE / "ferry_flexsc.h").read_text(), flags=re.S)


def functions() -> set[str]:
    return set(re.findall(r"\b(ferry_\w+)\(", HEADER))


def test_the_synopsis_declares_every_function_and_no_other() -> None:
    synopsis = plain(sections(PAGE)["SYNOPSIS"])
    assert set(re.findall(r"\b(ferry_\w+)\(", synopsis)) == functions()


def test_every_function_is_described() -> None:
    description = "".join(plain(text) for text in sections(PAGE, "SS").values())
    described_elsewhere = {"ferry_flexsc_in_kernel", "ferry_flexsc_runners", "ferry_flexsc_cpu_ns"}
    described_elsewhere |= {"ferry_flexsc_call"}
    missing = {name for name in functions() if name not in description}
    assert missing <= described_elsewhere


def test_every_option_and_flag_is_named() -> None:
    page = plain(without_comments(PAGE))
    options = HEADER.split("struct ferry_flexsc_options {")[1].split("}")[0]
    names = set(re.findall(r"(\w+);", options))
    flags = "FLEXSC_USER|FLEXSC_UNCONFINED|NO_SPIN"
    names |= set(re.findall(rf"^#define (FERRY_(?:{flags}))", HEADER, re.M))
    assert len(names) == 9
    assert {name for name in names if name not in page} == set()
