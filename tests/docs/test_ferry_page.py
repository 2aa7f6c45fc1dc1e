# SPDX-License-Identifier: MIT
"""ferry(1) names the commands and options that --help names."""

import re
import subprocess

import pytest
from manual_page import PAGES, plain, sections, source

COMMANDS = ["probe", "run", "check", "bench", "report", "du", "trace", "threads", "cc", "c++"]
OF_COMPILERS = {"--explain", "--crossing", "--llvm", "--help"}
WITHOUT_LETTER = {
    "du": {
        "--exclude",
        "--files0-from",
        "--help",
        "--inodes",
        "--si",
        "--sort",
        "--time",
        "--time-style",
        "--version",
    },
    "cc": OF_COMPILERS,
    "c++": OF_COMPILERS,
}


def output(environment: dict[str, str], *args: str) -> str:
    done = subprocess.run(
        ["ferry", *args],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    return done.stdout


def options(text: str) -> set[tuple[str, str]]:
    """Pairs of a short and a long option, as "-j, --json" gives them."""
    return set(re.findall(r"(-[A-Za-z0-9]), (--[a-z0-9-]+)", text))


def options_of_page(command: str) -> set[tuple[str, str]]:
    """Of the command's own page where it has one."""
    if (PAGES / f"ferry-{command}.1").exists():
        section = plain(sections(f"ferry-{command}.1")["OPTIONS"])
    else:
        section = plain(sections("ferry.1", "SS")[f"ferry {command}"])
    return options(section.replace(' ", " ', ", "))


@pytest.mark.parametrize("command", COMMANDS)
def test_page_and_help_name_the_same_options(command: str, environment: dict[str, str]) -> None:
    shown = output(environment, command, "--help")
    assert options_of_page(command) == options(shown)
    longs = {long for _, long in options(shown)}
    assert longs | WITHOUT_LETTER.get(command, set()) == set(
        re.findall(r"(?<![\w-])--[a-z0-9-]+", shown)
    )


def test_the_page_names_the_options_of_du_without_a_letter() -> None:
    section = plain(sections("ferry.1", "SS")["ferry du"])
    assert set(re.findall(r"^\.B (--[a-z0-9-]+)", section, re.M)) == WITHOUT_LETTER["du"]


def test_the_page_of_the_compiler_names_its_options() -> None:
    section = plain(sections("ferry-cc.1")["OPTIONS"])
    assert set(re.findall(r"^\.(?:B|BI|BR) (--[a-z]+)", section, re.M)) == OF_COMPILERS


@pytest.mark.parametrize("command", COMMANDS)
def test_the_synopsis_gives_the_usage_of_the_command(
    command: str, environment: dict[str, str]
) -> None:
    usage = output(environment, command, "--help").splitlines()[0].removeprefix("Usage: ")
    synopsis = plain(sections("ferry.1")["SYNOPSIS"]).replace('"', "")
    lines = ["".join(line.split()).removeprefix(".BR") for line in synopsis.splitlines()]
    assert "".join(usage.split()) in lines


def test_the_page_describes_the_commands_that_there_are(environment: dict[str, str]) -> None:
    listed = re.findall(r"^  (\S+) +\w", output(environment, "--help"), re.M)
    described = [title.removeprefix("ferry ") for title in sections("ferry.1", "SS")]
    assert listed == described == COMMANDS


def test_the_page_describes_what_ferry_itself_takes(environment: dict[str, str]) -> None:
    described = set(re.findall(r"--[a-z]+", plain(sections("ferry.1")["OPTIONS"])))
    assert described == {"--help", "--version"}
    assert output(environment, "--version").startswith("ferry ")


def test_the_page_has_the_version_of_the_command(environment: dict[str, str]) -> None:
    version = output(environment, "--version").split(",")[0]
    for page in (
        "ferry.1",
        "ferry-bench.1",
        "ferry-bench.5",
        "ferry-cc.1",
        "ferry-report.1",
        "ferry-threads.1",
        "ferry-trace.1",
        "batch.2",
        "libferry.3",
    ):
        assert f'"{version}"' in source(page)
