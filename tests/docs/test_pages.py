# SPDX-License-Identifier: MIT
"""All manual pages are well formed, and lead to pages that exist."""

import re
import subprocess

import pytest
from manual_page import PAGES, plain, sections, without_comments

OWN = sorted(path.name for path in PAGES.glob("*.[1-9]"))
FUNCTIONS = {
    f"{name}.3"
    for path in PAGES.glob("*.3")
    for name in re.findall(r"\b(\w+)\(", plain(sections(path.name)["SYNOPSIS"]))
}


@pytest.mark.parametrize("page", OWN)
def test_mandoc_has_no_warning(page: str) -> None:
    done = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning", PAGES / page],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.parametrize("page", OWN)
def test_references_among_the_pages_lead_somewhere(page: str) -> None:
    text = without_comments(page).replace(r"\-", "-")
    references = re.findall(r"^\.(?:BR|Xr) (\S*(?:ferry|batch)\S*) \(?([1-9])\)?", text, re.M)
    assert references
    assert {f"{name}.{section}" for name, section in references} <= set(OWN) | FUNCTIONS


def test_every_page_is_installed() -> None:
    listed = re.findall(r"'([\w-]+\.[1-9])'", (PAGES / "meson.build").read_text())
    assert sorted(set(listed)) == OWN
