# SPDX-License-Identifier: MIT
"""The command line: help, page and completion agree; wrong words get one clear sentence."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from lab.cache import locked
from lab.command_line import main, make_parser
from lab.targets import DEFAULT_TARGETS, TARGETS

COMMANDS = ["fetch", "build", "boot", "shell", "show", "test", "bench", "series"]
COMMANDS += ["steps", "new-call", "style", "clean"]
PAGE = (ROOT / "man" / "ferry-lab.1").read_text().replace("\\-", "-")
COMMAND = ROOT / "lab" / "ferry-lab"
ALONE = "import sys; sys.path.append(sys.argv.pop(1)); import runpy; runpy.run_module('lab')"
COMPLETION = ROOT / "cli" / "completion"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def long_options(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", text)) - {"--help"}


def complete(*words: str) -> list[str]:
    line = " ".join(f"'{word}'" for word in words)
    script = (
        f"source {COMPLETION}/ferry.bash; COMP_WORDS=({COMMAND} {line}); COMP_CWORD={len(words)};"
        ' _ferry; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()


def section(command: str) -> str:
    return PAGE.partition(f".SS ferry-lab {command}\n")[2].partition("\n.S")[0]


def test_help_lists_the_commands() -> None:
    listed = re.findall(r"^    ([\w-]+) ", make_parser().format_help(), re.M)
    assert listed == COMMANDS
    assert complete("") == [*COMMANDS, "--help"]
    assert re.findall(r"^\.SS ferry-lab ([\w-]+)$", PAGE, re.M) == COMMANDS


def python_without_modules(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The lab with nothing but Python's own modules."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, str(ROOT), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_page_help_and_completion_name_the_same_options(command: str) -> None:
    shown = run(command, "--help")
    assert shown.returncode == 0
    options = long_options(shown.stdout)
    tags = "".join(re.findall(r"^\.TP\n(.*)$", section(command), re.M))
    assert long_options(tags) == options
    assert set(complete(command, "--")) - {"--help"} == options


def test_help_page_and_completion_name_the_targets() -> None:
    text = make_parser().format_help()
    for target in DEFAULT_TARGETS:
        assert target.name in text
        assert f"\n{target.name}\t" in PAGE
    assert set(complete("build", "")) == set(TARGETS)
    assert complete("fetch", "7") == ["7.3"]
    assert complete("build", "--patch", "/et") == ["/etc"]
    assert complete("boot", "uml-7.3", "--", "/et") == ["/etc"]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["build", "--help"], ["--complete", ""], ["fetch", "1.0"]]
)
def test_help_and_lists_need_no_module(arguments: list[str]) -> None:
    """What `make run` installs lacks the modules that only the lab needs."""
    shown = python_without_modules(*arguments)
    assert "is missing" not in shown.stderr
    assert (shown.stdout or shown.stderr).strip()
    assert shown.returncode == (125 if "1.0" in arguments else 0)


def test_a_missing_module_names_the_command_that_installs_it() -> None:
    done = python_without_modules("test", "uml-7.3")
    assert done.returncode == 125
    assert done.stderr == (
        "ferry-lab: the Python module pydantic is missing; "
        f"'make -C {ROOT} setup' installs all that the lab needs\n"
    )


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
def test_fish_completes_what_bash_does() -> None:
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    for words in (["ne"], ["build", "x86-6"]):
        script = f"source {COMPLETION}/ferry.fish; complete -C 'ferry-lab {' '.join(words)}'"
        shown = subprocess.run(
            ["fish", "-c", script],
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        assert sorted(re.findall(r"^\S+", shown, re.M)) == sorted(complete(*words))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["build", "vax-4.3"], "there is no target 'vax-4.3'; the targets are x86-6.12,"),
        (["build", "uml-7.2"], "there is no target 'uml-7.2' (did you mean 'uml-7.3'?); the"),
        (["boot", "vax-4.3", "--", "true"], "there is no target 'vax-4.3'"),
        (["boot", "--", "true"], "no target given"),
        (["boot", "--source", "/etc", "--", "true"], "--source /etc: this is not a kernel's"),
        (["bench", "--kernel-image", "/etc/passwd"], "--kernel-image /etc/passwd: this is neither"),
        (["boot", "--modules", "lab", "uml-7.3", "--", "true"], "--modules needs --kernel-image"),
        (["test", "--source", ".", "--no-series"], "--kernel-image, --source and --patch or"),
        (["test", "--source", ".", "--record"], "--record is for kernels of the series only"),
        (["boot", "uml-7.3"], "no command given; usage: ferry-lab boot TARGET -- COMMAND..."),
        (["fetch", "1.0"], "unknown version '1.0'; the versions are 6.12, 7.3"),
        (["series", "1.0", "-o", "x"], "there is no series for '1.0'"),
        (["bench", "none"], "there is no benchmark 'none'"),
        (["build", "--patch", "nowhere", "x86-7.3"], "--patch nowhere: there is no such directory"),
        (["build", "--patch", ".", "debian-6.1"], "debian-6.1 is Debian's own kernel"),
        (["test", "--record", "--no-series"], "--record is for kernels of the series only"),
        (["new-call", "Hello"], "'Hello' cannot be the name of a call"),
        (["new-call", "hello", "--number", "500"], "the number 500 is not free"),
        (["new-call", "lab"], "lab exists already; -o names another directory"),
    ],
)
def test_a_wrong_word_is_told(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.returncode == 125
    assert done.stderr.startswith(f"ferry-lab: {says}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bild"],
        ["build", "-j", "0"],
        ["build", "-j", "many"],
        ["boot", "--cpus", "-1", "uml-7.3", "--", "true"],
        ["build", "uml-7.3", "--", "true"],
        ["series", "6.12"],
    ],
)
def test_a_wrong_command_line_shows_the_usage(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ferry-lab")


def test_a_cache_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRY_CACHE", "/dev/null/cache")
    done = run("build")
    assert done.returncode == 125
    assert done.stderr == (
        "ferry-lab: cannot make /dev/null/cache: Not a directory;"
        " FERRY_CACHE can name another place\n"
    )
    monkeypatch.setenv("FERRY_CACHE", "/tmp/with space")
    assert "has a space or colon in its name" in run("build").stderr


def test_clean_removes_all_and_says_how_much(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (cache / "builds" / "x").mkdir(parents=True)
    (cache / "builds" / "x" / "image").write_bytes(os.urandom(200_000_000))
    os.link(cache / "builds" / "x" / "image", cache / "builds" / "x" / "again")
    assert main(["clean"]) == 0
    assert capsys.readouterr().out == f"ferry-lab: removed 0.2 GB from {cache}\n"
    assert [path.name for path in cache.iterdir()] == ["locks"]
    assert main(["clean"]) == 0
    assert capsys.readouterr().out == f"ferry-lab: removed 0.0 GB from {cache}\n"


def test_clean_waits_for_who_uses_the_cache(cache: Path) -> None:
    (cache / "builds").mkdir(parents=True)
    with locked("cache", shared=True):
        cleaning = subprocess.Popen(
            [ROOT / "lab" / "ferry-lab", "clean"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert cleaning.stderr and "waiting for another run" in cleaning.stderr.readline()
        assert (cache / "builds").exists()
    assert cleaning.communicate(timeout=20)[0].startswith("ferry-lab: removed")
    assert not (cache / "builds").exists()
