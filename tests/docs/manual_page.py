# SPDX-License-Identifier: MIT
"""Reads the man(7) source of a manual page: examples, tables, sections."""

import re
from dataclasses import dataclass
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "man"

ESCAPES = {
    r"\e": "\\",
    r"\-": "-",
    r"\&": "",
    r"\ ": " ",
    r"\(aq": "'",
    r"\(dq": '"',
    r"\(ga": "`",
    r"\(ha": "^",
    r"\(ti": "~",
    r"\(bu": "*",
    r"\(lq": '"',
    r"\(rq": '"',
}
ESCAPE = re.compile(r"\\f(?:\(..|.)|\\\(..|\\.")


@dataclass(frozen=True)
class Example:
    """The text between .EX and .EE, and the comment before it: `.\\" kind: name`."""

    page: str
    kind: str
    name: str
    text: str


def plain(text: str) -> str:
    """TEXT as a reader sees it: escapes replaced, font changes gone."""

    def replace(match: re.Match[str]) -> str:
        return "" if match[0].startswith(r"\f") else ESCAPES[match[0]]

    return ESCAPE.sub(replace, text)


def source(page: str) -> str:
    return (PAGES / page).read_text()


def without_comments(page: str) -> str:
    return re.sub(r"^['.]\\\".*\n", "", source(page), flags=re.M)


def examples(page: str) -> list[Example]:
    pattern = re.compile(
        r'(?:^\.\\" (?P<kind>\w+): (?P<name>\S+)\n)?^\.EX\n(?P<text>.*?)^\.EE$', re.M | re.S
    )
    return [
        Example(page, match["kind"] or "", match["name"] or "", plain(match["text"]))
        for match in pattern.finditer(source(page))
    ]


def example(page: str, kind: str, name: str) -> str | None:
    """The text of one example, or None."""
    for candidate in examples(page):
        if (candidate.kind, candidate.name) == (kind, name):
            return candidate.text
    return None


def tables(page: str) -> list[list[list[str]]]:
    """The cells of each table, row by row, the heading first."""
    found = []
    for body in re.findall(r"^\.TS\n(.*?)^\.TE$", source(page), re.M | re.S):
        content = body.split(".\n", 1)[1].replace("T{\n", "").replace("\nT}", "")
        found.append([plain(row).split("\t") for row in content.splitlines()])
    return found


def sections(page: str, level: str = "SH") -> dict[str, str]:
    """The source below each .SH (or .SS), by its plain title."""
    parts = re.split(rf"^\.{level} (.*)\n", without_comments(page), flags=re.M)
    below = (re.split(r"^\.S[HS] ", part, maxsplit=1, flags=re.M)[0] for part in parts[2::2])
    return dict(zip(map(plain, parts[1::2]), below, strict=True))
