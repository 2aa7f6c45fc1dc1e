# SPDX-License-Identifier: MIT
"""Section 3 covers the public headers: each name is found, declared and described as it is."""

import re
from functools import cache
from pathlib import Path

import pytest
from conftest import INCLUDE
from manual_page import PAGES, plain, sections, without_comments

HEADERS = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))


@cache
def code(header: str) -> str:
    """A header without comments, macros' bodies joined to their first lines."""
    text = (INCLUDE / header).read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return text.replace("\\\n", " ")


def functions(header: str) -> set[str]:
    """Exported and inline functions, and macros that are used as functions."""
    found = set(re.findall(r"^[a-z][\w *]*?\b(\w+)\(", code(header), re.M))
    found |= set(re.findall(r"^#define ([a-z]\w*)\(", code(header), re.M))
    # Where the type has a line of its own
    found |= set(re.findall(r"^(ferry_\w+)\(", code(header), re.M))
    return {name for name in found if name not in ("__asm__", "static_assert")}


def structures(header: str) -> dict[str, list[str]]:
    """The members of each public structure."""
    found = {}
    for name, body in re.findall(r"^struct (\w+) \{(.*?)\n\}", code(header), re.M | re.S):
        found[name] = re.findall(r"(\w+)(?:;|, |\[)|\(\*(\w+)\)\(", body)
        found[name] = ["".join(both) for both in found[name]]
    return found


def constants(header: str) -> set[str]:
    """Those for programs: the parts of ferry/loop.h are not."""
    if header.startswith("ferry/"):
        return set()
    named = re.findall(r"^(?:\t|#define )(FERRY_\w+)\b(?!\()", code(header), re.M)
    return {name for name in named if not name.endswith("_H")}


@cache
def pages() -> dict[str, str]:
    """All pages that programmers read, as plain text."""
    return {path.name: plain(without_comments(path.name)) for path in PAGES.glob("*.[23]")}


@pytest.fixture(scope="module")
def links(build: Path) -> dict[str, str]:
    """The page that `man NAME` shows, as it is installed."""
    ninja = (build / "meson-info" / "intro-installed.json").read_text()
    found = {name: f"{name}.{section}" for name, section in re.findall(r"(\w+)\.([23])\b", ninja)}
    for page in PAGES.glob("*.3"):
        text = without_comments(page.name)
        declared = plain(sections(page.name)["SYNOPSIS"])
        names = re.findall(r"\b(\w+)\(", declared) + re.findall(r"^(\w+)\(\)\t", text, re.M)
        names += re.findall(r"^\.B struct (\w+) \{", text, re.M)
        found |= {name: page.name for name in names if name in found}
    return found


@pytest.mark.parametrize("header", [name for name in HEADERS if functions(name)])
def test_man_finds_every_public_name(header: str, links: dict[str, str]) -> None:
    names = functions(header) | structures(header).keys()
    names -= {"syscall"}  # syscall_t of batch(2)
    assert names
    assert {name for name in names if name not in links} == set()


def squeezed(text: str) -> str:
    """TEXT without blanks, quotes and font requests, which are where a page needs them."""
    return re.sub(r'[\s"]', "", re.sub(r"^\.[BIR]+ ?", "", text, flags=re.M))


@pytest.mark.parametrize("header", [name for name in HEADERS if "/" not in name])
def test_synopses_declare_functions_as_the_header_does(header: str) -> None:
    declared = re.findall(r"^[a-z][\w *]*\bferry_\w+\([^;{]*?\);", code(header), re.M)
    assert declared
    synopses = "".join(
        squeezed(plain(sections(page.name)["SYNOPSIS"])) for page in PAGES.glob("*.3")
    )
    assert [one for one in declared if squeezed(one) not in synopses] == []


def test_synopses_declare_nothing_else() -> None:
    known = set().union(*map(functions, HEADERS))
    for page in PAGES.glob("*.3"):
        declared = set(re.findall(r"\b(ferry_\w+)\(", plain(sections(page.name)["SYNOPSIS"])))
        assert declared <= known, page.name


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.3")))
def test_a_page_says_something_of_each_function(page: str) -> None:
    synopsis = plain(sections(page)["SYNOPSIS"])
    below = pages()[page].split(".SH DESCRIPTION", 1)[1]
    declared = set(re.findall(r"\b(ferry_\w+)\(", synopsis))
    if len(declared) > 1:  # a page of one function calls it "the function"
        assert {name for name in declared if name not in below} == set()


@pytest.mark.parametrize("header", HEADERS)
def test_every_constant_is_named_and_no_other(header: str) -> None:
    text = "".join(pages().values())
    assert {name for name in constants(header) if not re.search(rf"\b{name}\b", text)} == set()


def test_every_member_of_a_structure_is_named(links: dict[str, str]) -> None:
    for header in HEADERS:
        for name, members in structures(header).items():
            if name not in links:
                continue
            text = pages()[links[name]]
            missing = [one for one in members if not re.search(rf"\b{one}\b", text)]
            assert missing == [], f"{links[name]}: {name}"


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.3")))
def test_a_page_lists_its_functions_in_its_name(page: str) -> None:
    """man -k and apropos read that line."""
    if page.startswith("lib"):
        return
    names = set(re.findall(r"\w+", plain(sections(page)["NAME"]).split(" -")[0]))
    assert page.removesuffix(".3") in names
    assert names <= set().union(*map(functions, HEADERS))
