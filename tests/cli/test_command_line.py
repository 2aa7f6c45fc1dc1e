# SPDX-License-Identifier: MIT
"""The command line: help, mistakes, probe, completion."""

import json
import platform
import subprocess
from pathlib import Path

import pytest
from conftest import Ferry

ON_FILES = ("probe", "run", "check", "asm", "dis")
COMMANDS = (*ON_FILES, "bench", "report")


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
    assert all(f"  {command} ".encode() in done.stdout for command in COMMANDS)
    assert ferry("help").stdout == done.stdout


def test_version(ferry: Ferry) -> None:
    assert ferry("--version").stdout.startswith(b"ferry 0.")


def test_no_command_and_a_wrong_one_are_usage_errors(ferry: Ferry) -> None:
    for args in ((), ("fly",)):
        done = ferry(*args)
        assert done.returncode == 2
        assert b"ferry --help" in done.stderr
    assert b"'fly'" in ferry("fly").stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_options_and_too_many_arguments(ferry: Ferry, command: str) -> None:
    assert ferry(command, "--no-such-option").returncode == 2
    done = ferry(command, "one", "two")
    assert done.returncode == 2
    assert b"'two'" in done.stderr


@pytest.mark.parametrize("command", ON_FILES)
def test_an_unreadable_file_is_named(ferry: Ferry, command: str, tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        done = ferry(command, path)
        assert done.returncode == 2
        assert str(path).encode() in done.stderr
        assert done.stdout == b""


def test_probe_tells_the_kernel_and_every_engine(ferry: Ferry) -> None:
    report = json.loads(ferry("probe", "--json").stdout)
    assert report["kernel"] == platform.release()
    assert [engine["name"] for engine in report["engines"]] == [
        "loop",
        "uring",
        "device",
        "syscall",
    ]
    assert report["engines"][0]["here"]
    text = ferry("probe").stdout.decode()
    assert platform.release() in text
    for engine in report["engines"]:
        assert engine["why"] in text


@pytest.mark.parametrize(
    ("asked", "place", "words"),
    [
        ("user", "user", "runners stay in user space: $FERRY_FLEXSC_RUNNER says so"),
        ("here", None, "runners cannot be started: $FERRY_FLEXSC_RUNNER is none of user"),
    ],
)
def test_probe_tells_where_runners_stay(
    ferry: Ferry, asked: str, place: str | None, words: str
) -> None:
    env = {"FERRY_FLEXSC_RUNNER": asked}
    found = json.loads(ferry("probe", "--json", env=env).stdout)["flexsc"]
    assert found["place"] == place
    text = ferry("probe", env=env).stdout.decode()
    assert words in text
    assert found["why"] in text


def test_probe_tells_what_auto_takes_for_a_program(ferry: Ferry, tmp_path: Path) -> None:
    reads = tmp_path / "reads.ferry"
    reads.write_text("buffer b 1\n" + "pread64(0, b, 1, 0)\n" * 64)
    few = tmp_path / "few.ferry"
    few.write_text("buffer b 1\npread64(0, b, 1, 0)\n")
    chosen = [json.loads(ferry("probe", "--json", path).stdout)["auto"] for path in (reads, few)]
    assert all(len(decisions) == 1 for decisions in chosen)
    if chosen[0][0]["engine"] in ("uring", "loop"):  # without an engine of one crossing
        assert chosen[1][0]["engine"] == "loop"
    assert chosen[0][0]["program"] == str(reads)


def complete(*words: str) -> list[str]:
    script = Path(__file__).parents[2] / "cli" / "completion" / "ferry.bash"
    shell = f"""
        source '{script}'
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)})
        COMP_CWORD={len(words) - 1}
        _ferry
        printf '%s\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", shell], check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_completion_knows_commands_options_and_engines(ferry: Ferry) -> None:
    assert set(COMMANDS) <= set(complete("ferry", ""))
    assert complete("ferry", "run", "--engine", "u") == ["uring"]
    assert complete("ferry", "bench", "d") == ["dispatch"]
    assert complete("ferry", "bench", "batch", "--call", "write,st") == ["write,statx"]
    for command in COMMANDS:
        offered = complete("ferry", command, "--")
        usage = ferry(command, "--help").stdout.decode()
        assert "--help" in offered
        assert all(option in usage for option in offered)
