# SPDX-License-Identifier: MIT
"""All manual pages are well formed, and lead to pages that exist."""

import re
import subprocess
from pathlib import Path

import pytest
from manual_page import PAGES, without_comments

OWN = sorted(path.name for path in PAGES.glob("*.[1-9]"))


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
    assert {f"{name}.{section}" for name, section in references} <= set(OWN)


def test_every_page_is_installed() -> None:
    listed = re.findall(r"'([\w-]+\.[1-9])'", (PAGES / "meson.build").read_text())
    assert sorted(set(listed)) == OWN


def test_every_public_function_has_a_page(build: Path) -> None:
    """Under its own name, so that man and apropos find it."""
    names = re.findall(r"^\t\t(ferry_\w+);$", (PAGES.parent / "lib/libferry.map").read_text(), re.M)
    assert names
    installed = (build / "meson-info" / "intro-installed.json").read_text()
    assert {f"{name}.3" for name in names} <= set(re.findall(r"ferry_\w+\.3", installed))
