# SPDX-License-Identifier: MIT
"""The tutorials show what their commands print, apart from the figures.

Commands of the lab, and those after them, run only where FERRY_GUESTS is set: they build a
kernel and boot it.
"""

import os
import re
import shutil
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pytest
from conftest import SOURCE, in_shell

TUTORIALS = sorted((SOURCE / "doc").glob("tutorial-*.md"))
BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.M | re.S)
# A part in per cent that does not exceed the noise is printed as "-".
FIGURE = re.compile(r"0x[0-9a-f]+|[+-]?\d[\d.,]*( %)?|(?<= )-(?= |$)")
LAB = re.compile(r"\bferry-lab (boot|build|style|test)\b")
PROGRESS = re.compile(r"ferry-lab: (building|built|fetching|waiting) ")  # only where it has to
ANYTHING = "..."  # in a document: lines that are left out
SECONDS = 1200  # a kernel may have to be built


@dataclass(frozen=True)
class Step:
    """A file to write, or a command and the lines that it prints."""

    file: str = ""
    text: str = ""
    command: str = ""
    lines: tuple[str, ...] = ()


def steps(page: Path) -> list[Step]:
    found = []
    for block in BLOCK.finditer(page.read_text()):
        if block["file"]:
            found.append(Step(file=block["file"], text=block["text"]))
        elif block["language"] == "console":
            for part in re.split(r"^\$ ", block["text"], flags=re.M)[1:]:
                command, *lines = part.splitlines()
                found.append(Step(command=command, lines=tuple(lines)))
    return found


def without_figures(line: str) -> str:
    return " ".join(FIGURE.sub("N", line).split())


def assert_alike(printed: list[str], shown: list[str]) -> None:
    """As in a shell's pattern, a line of dots in SHOWN stands for any lines."""
    pattern = ""
    for line in shown:
        pattern += r"(.*\n)*" if line == ANYTHING else re.escape(without_figures(line)) + r"\n"
    lines = [line for line in printed if not PROGRESS.match(line)]
    text = "".join(f"{without_figures(line)}\n" for line in lines)
    assert re.fullmatch(pattern, text), f"{text}\nis not what the page shows:\n{pattern}"


@pytest.fixture
def shell(
    tmp_path: Path, build: Path, compiler: list[str], environment: dict[str, str]
) -> dict[str, str]:
    """An environment in which ferry is installed, as far as a shell can see."""
    programs = tmp_path / "programs"
    programs.mkdir()
    # By their paths: the script must not find itself.
    words = [shutil.which(word) or word for word in compiler]
    (programs / "cc").write_text(f'#!/bin/sh\nexec {" ".join(words)} "$@"\n')
    (programs / "cc").chmod(0o755)
    return environment | {
        "PATH": f"{programs}:{SOURCE / 'lab'}:{environment['PATH']}",
        "PKG_CONFIG_PATH": str(build / "meson-uninstalled"),
        "LD_LIBRARY_PATH": str(build / "lib"),
        # A page's programs end without freeing, and strace leaves ptrace(2) to nobody else.
        "ASAN_OPTIONS": "detect_leaks=0",
    }


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_commands_print_what_the_page_shows(
    page: Path, tmp_path: Path, shell: dict[str, str]
) -> None:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    place = tmp_path / "here"
    place.mkdir()
    guests = "FERRY_GUESTS" in os.environ
    for step in takewhile(lambda step: guests or not LAB.search(step.command), steps(page)):
        if step.file:
            (place / step.file).parent.mkdir(parents=True, exist_ok=True)
            (place / step.file).write_text(step.text)
            continue
        printed = in_shell(step.command, place, shell, SECONDS)
        assert_alike(printed.splitlines(), list(step.lines))
