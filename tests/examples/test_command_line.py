# SPDX-License-Identifier: MIT
"""What every example does alike: help, wrong usage, the engine, a full disk."""

import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAMS, Run

USERS_OF_LIBFERRY = tuple(program for program in PROGRAMS if program != "unimpl")

# Arguments with which a program prints something, or nothing but an error of its output.
PRINTING = {
    "ahead": ("/usr/bin/env",),
    "ftw": ("/usr/bin",),
    "mdu": ("/dev/null",),
    "pathsearch": ("null", "/dev"),
    "rw": (),
    "sigset": (),
    "total": ("/usr/bin/env",),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_shows_usage_and_an_example(run: Run, program: str) -> None:
    done = run(program, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: {program}".encode())
    assert f"\nExample: {'BATCH_EMUL=1 ' if program == 'unimpl' else ''}".encode() in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize("program", PROGRAMS)
def test_unknown_option_is_named_and_refused(run: Run, program: str) -> None:
    done = run(program, "--nonsense")
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"nonsense" in done.stderr
    assert b"--help" in done.stderr


@pytest.mark.parametrize(
    ("program", "args", "complaint"),
    [
        ("ahead", (), "not one FILE given"),
        ("total", (), "no FILE given"),
        ("pathsearch", (), "no NAME given"),
        ("pathsearch", ("a", "b", "c"), "more than NAME and PATHLIST"),
        ("pathsearch", ("",), "NAME is empty"),
        ("sigset", ("x",), "'x' is too much"),
        ("rw", ("x",), "'x' is too much"),
        ("rw", ("-b", "0"), "BYTES is '0': it must be a number from 1 to 16777216"),
        ("rw", ("-b", "16777217"), "BYTES is '16777217'"),
        ("rw", ("-b", "9223372036854775808"), "BYTES is '9223372036854775808'"),
        ("rw", ("-b", "1k"), "BYTES is '1k'"),
        ("rw", ("-b", ""), "BYTES is ''"),
        ("rw", ("-p", "65"), "PAIRS is '65': it must be a number from 1 to 64"),
        ("rw", ("-p",), "p"),
        ("mdu", ("-b", "-s"), "-b and -s exclude each other"),
        ("unimpl", ("x",), "'x' is not known"),
    ],
)
def test_wrong_usage_is_explained(
    run: Run, program: str, args: tuple[str, ...], complaint: str
) -> None:
    done = run(program, *args)
    assert done.returncode == 2
    assert done.stdout == b""
    assert complaint in done.stderr.decode()


@pytest.mark.parametrize("program", USERS_OF_LIBFERRY)
def test_unknown_engine_is_named_with_those_known(run: Run, program: str) -> None:
    done = run(program, *PRINTING[program], env_more={"FERRY_ENGINE": "steam"})
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode() == (
        f"{program}: FERRY_ENGINE is 'steam': it must be auto, loop, device or syscall\n"
    )


@pytest.mark.parametrize("program", USERS_OF_LIBFERRY)
def test_batch_emul_means_the_loop(run: Run, program: str) -> None:
    env = {"FERRY_ENGINE": "", "BATCH_EMUL": "1"}
    assert run(program, *PRINTING[program], env_more=env).returncode == 0


@pytest.mark.parametrize("program", USERS_OF_LIBFERRY)
@pytest.mark.parametrize("args", ["printing", "--help"])
def test_full_disk_is_an_error(run: Run, program: str, args: str) -> None:
    with Path("/dev/full").open("wb") as full, Path("/usr/bin/env").open("rb") as some_input:
        done = run(
            program,
            *(PRINTING[program] if args == "printing" else (args,)),
            stdin=some_input,
            stdout=full,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{program}: cannot write to standard output".encode())


@pytest.mark.parametrize("program", USERS_OF_LIBFERRY)
def test_closed_output_is_an_error(run: Run, program: str) -> None:
    with Path("/usr/bin/env").open("rb") as some_input:
        done = run(
            program,
            *PRINTING[program],
            shell='exec "$@" >&-',
            stdin=some_input,
            stdout=subprocess.DEVNULL,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{program}: cannot write to standard output".encode())
