# SPDX-License-Identifier: MIT
"""Every example in the manual pages compiles, runs and prints what the page says."""

import subprocess
from itertools import chain
from pathlib import Path

import pytest
from conftest import Compile, in_shell
from manual_page import PAGES, Example, example, examples


def programs(page: str) -> list[Example]:
    return [shown for shown in examples(page) if "\nmain(" in shown.text]


def name_of(shown: Example) -> str:
    return shown.name


def words(text: str) -> list[list[str]]:
    """Lines of words: a page turns tabs into spaces."""
    return [line.split() for line in text.splitlines()]


def run_and_compare(program: Path, shown: Example, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    expected = example(shown.page, "output", shown.name)
    assert done.stdout if expected is None else done.stdout == expected


@pytest.mark.parametrize("shown", programs("batch.2"), ids=name_of)
def test_programs_of_batch_need_only_the_header(
    shown: Example, compile_c: Compile, environment: dict[str, str]
) -> None:
    run_and_compare(compile_c(shown.text), shown, environment)


LIBRARY = sorted(path.name for path in PAGES.glob("*.3"))


@pytest.mark.parametrize("shown", chain.from_iterable(map(programs, LIBRARY)), ids=name_of)
def test_programs_of_libferry_run_with_the_library(
    shown: Example,
    compile_c: Compile,
    compiler: list[str],
    build: Path,
    environment: dict[str, str],
) -> None:
    libraries = [str(build / "lib" / "libferry.a"), "-pthread"]
    run_and_compare(compile_c(shown.text, compiler, libraries), shown, environment)


@pytest.mark.parametrize("page", ["batch.2", *LIBRARY])
def test_every_program_is_marked_and_every_output_has_a_program(page: str) -> None:
    assert page not in ("batch.2", "libferry.3") or programs(page)
    marked = {shown.name for shown in examples(page) if shown.kind == "program"}
    assert marked == {shown.name for shown in programs(page)}
    assert {shown.name for shown in examples(page) if shown.kind == "output"} <= marked


SESSIONS = [shown for shown in examples("ferry.1") if shown.kind == "session"]


def run_session(text: str, directory: Path, environment: dict[str, str]) -> str:
    """What a terminal shows after the commands of TEXT, which follow "$ "."""
    shown = ""
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        shown += f"{line}\n{in_shell(line[2:], directory, environment)}"
    return shown


@pytest.mark.parametrize("session", SESSIONS, ids=name_of)
def test_sessions_of_ferry_show_what_the_command_prints(
    session: Example, tmp_path: Path, environment: dict[str, str]
) -> None:
    for shown in examples("ferry.1"):
        if shown.kind == "file":
            (tmp_path / shown.name).write_text(shown.text)
    printed = run_session(session.text, tmp_path, environment)
    assert words(printed) == words(session.text)
