# SPDX-License-Identifier: MIT
"""A page as its reader sees it: words, attributes, figures.  It is XML as well as HTML."""

import re
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

HREF = "{http://www.w3.org/1999/xlink}href"


def read_page(path: Path) -> Element:
    html = re.sub(r' xmlns="[^"]*"', "", path.read_text())
    assert html.startswith("<!DOCTYPE html>")
    return fromstring(html)


def text(element: Element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def by_id(page: Element, name: str) -> Element:
    (found,) = page.findall(f".//*[@id='{name}']")
    return found


def by_class(page: Element, name: str) -> list[Element]:
    return page.findall(f".//*[@class='{name}']")


def table_rows(page: Element) -> dict[str, list[str]]:
    """Every row of every table, by its first cell."""
    rows = page.findall(".//tbody/tr")
    return {text(row[0]): [text(cell) for cell in row[1:]] for row in rows}


def labels(panel: Element) -> list[str]:
    return [text(label) for label in panel.iter("text")]


def dots(panel: Element) -> int:
    """How many trials are drawn."""
    return sum(path.attrib["d"].count("M") for path in panel.findall(".//g[@class='dots']//path"))
