# SPDX-License-Identifier: MIT
"""The command line: help, mistakes, probe, completion."""

import fcntl
import json
import os
import platform
import shutil
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from conftest import Ferry, read_terminal

ON_FILES = ("run", "check")
COMMANDS = ("probe", *ON_FILES, "bench", "report")
# In du, -h is what it is in other programs of this name, and PATH may be given more than once.
ALL_COMMANDS = (*COMMANDS, "du", "trace")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_usage_and_an_example(ferry: Ferry, command: str) -> None:
    for option in ("--help", "-h"):
        done = ferry(command, option)
        assert done.returncode == 0
        assert done.stdout.startswith(f"Usage: ferry {command} ".encode())
        assert b"Example: ferry " in done.stdout


def test_help_lists_every_command(ferry: Ferry) -> None:
    done = ferry("--help")
    assert done.returncode == 0
    assert all(f"  {command} ".encode() in done.stdout for command in ALL_COMMANDS)
    assert ferry("help").stdout == done.stdout


def test_version(ferry: Ferry) -> None:
    assert ferry("--version").stdout.startswith(b"ferry 0.")


def test_no_command_and_a_wrong_one_are_usage_errors(ferry: Ferry) -> None:
    for args in ((), ("fly",)):
        done = ferry(*args)
        assert done.returncode == 2
        assert b"ferry --help" in done.stderr
    assert b"'fly'" in ferry("fly").stderr


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("prob",), "probe"), (("nur",), "run"), (("bench", "crosing"), "crossing")],
)
def test_a_misspelt_word_gets_the_right_one(
    ferry: Ferry, words: tuple[str, ...], meant: str
) -> None:
    assert f"(did you mean '{meant}'?)".encode() in ferry(*words).stderr


def test_a_word_like_no_other_gets_no_guess(ferry: Ferry) -> None:
    for words in (("fly",), ("",), ("x" * 100,), ("bench", "fly")):
        assert b"did you mean" not in ferry(*words).stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_options_and_too_many_arguments(ferry: Ferry, command: str) -> None:
    done = ferry(command, "--no-such-option")
    assert done.returncode == 2
    assert done.stderr.startswith(f"ferry: {command}: ".encode())
    assert b"--no-such-option" in done.stderr
    done = ferry(command, "one", "two")
    assert done.returncode == 2
    excess = b"one" if command in ("probe", "report") else b"'two'"
    assert excess in done.stderr


@pytest.mark.parametrize(
    ("command", "option"), [("run", "--engine"), ("run", "-e"), ("report", "-o")]
)
def test_an_option_without_its_value_is_named(ferry: Ferry, command: str, option: str) -> None:
    done = ferry(command, option)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ferry: {command}: option".encode())


@pytest.mark.parametrize("command", ON_FILES)
def test_an_unreadable_file_is_named(ferry: Ferry, command: str, tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        done = ferry(command, path)
        assert done.returncode == 2
        assert str(path).encode() in done.stderr
        assert done.stdout == b""


def unwrapped(text: str) -> str:
    return " ".join(text.split())


def test_probe_names_the_kernel_and_every_engine(ferry: Ferry) -> None:
    report = json.loads(ferry("probe", "--json").stdout)
    assert report["kernel"] == platform.release()
    assert [engine["name"] for engine in report["engines"]] == [
        "loop",
        "device",
        "syscall",
    ]
    assert report["engines"][0]["here"]
    text = ferry("probe").stdout.decode()
    assert platform.release() in text
    for engine in report["engines"]:
        assert engine["why"] in unwrapped(text)
        assert engine["here"] == (engine["remedy"] is None)
        assert engine["here"] or f"to have it here, {engine['remedy']}" in unwrapped(text)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_probe_fits_the_terminal(ferry: Ferry) -> None:
    controller, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    ferry("probe", stdout=terminal)
    os.close(terminal)
    shown = read_terminal(controller).decode()
    assert "ENGINE" in shown
    assert all(len(line) <= 60 for line in shown.splitlines())


@pytest.mark.parametrize(
    ("asked", "place", "words"),
    [
        ("user", "user", "runners stay in user space: $FERRY_FLEXSC_RUNNER says so"),
        ("here", None, "runners cannot be started: $FERRY_FLEXSC_RUNNER is none of user"),
    ],
)
def test_probe_shows_where_runners_stay(
    ferry: Ferry, asked: str, place: str | None, words: str
) -> None:
    env = {"FERRY_FLEXSC_RUNNER": asked}
    found = json.loads(ferry("probe", "--json", env=env).stdout)["flexsc"]
    assert found["place"] == place
    text = ferry("probe", env=env).stdout.decode()
    assert words in unwrapped(text)
    assert found["why"] in unwrapped(text)


def test_probe_shows_what_auto_chooses(ferry: Ferry) -> None:
    report = json.loads(ferry("probe", "--json").stdout)
    here = [engine["name"] for engine in report["engines"] if engine["here"]]
    assert report["auto"]["engine"] == here[-1]  # the list is in the order of crossings
    chosen = f"auto {report['auto']['engine']}: {report['auto']['why']}"
    assert chosen in unwrapped(ferry("probe").stdout.decode())


def complete(*words: str) -> list[str]:
    script = Path(__file__).parents[2] / "cli" / "completion" / "ferry.bash"
    shell = f"""
        source '{script}'
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)})
        COMP_CWORD={len(words) - 1}
        _ferry
        printf '%s\n' "${{COMPREPLY[@]}}"
    """
    path = f"{Path(os.environ['FERRY_BUILD']).absolute() / 'cli'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", shell],
        env=os.environ | {"PATH": path},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()


def test_completion_knows_commands_options_and_engines(ferry: Ferry) -> None:
    assert set(ALL_COMMANDS) <= set(complete("ferry", ""))
    assert complete("ferry", "run", "--engine", "l") == ["loop"]
    assert complete("ferry", "bench", "d") == ["dispatch"]
    assert complete("ferry", "bench", "batch", "--call", "write,st") == ["write,statx"]
    assert complete("ferry", "bench", "batch", "--wo") == []
    assert complete("ferry", "bench", "flexsc", "--wo") == ["--work"]
    assert complete("ferry", "bench", "apps", "--app", "mdu,t") == ["mdu,total"]
    assert complete("ferry", "du", "--sort", "s") == ["size"]
    for command in ALL_COMMANDS:
        offered = complete("ferry", command, "--")
        usage = ferry(command, "--help").stdout.decode()
        assert "--help" in offered
        assert all(option in usage for option in offered)


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
def test_fish_completes_what_bash_does() -> None:
    folder = Path(os.environ["FERRY_BUILD"]).absolute() / "cli"
    script = Path(__file__).parents[2] / "cli" / "completion" / "ferry.fish"
    for words in (["pro"], ["run", "--engine", "l"], ["bench", "batch", "--call", "write,st"]):
        line = " ".join(["ferry", *words])
        done = subprocess.run(
            ["fish", "-c", f"source {script}; complete -C '{line}'"],
            env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert [row.partition("\t")[0] for row in done.stdout.splitlines()] == complete(
            "ferry", *words
        )


def test_a_file_completes_where_nothing_else_is_meant(ferry: Ferry) -> None:
    assert ferry("--complete", "run", "").stdout == b""
    assert ferry("--complete", "no-such-command", "").stdout == b""
    assert b"--json\tprint JSON" in ferry("--complete", "run", "--").stdout
