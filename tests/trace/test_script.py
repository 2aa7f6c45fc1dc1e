# SPDX-License-Identifier: MIT
"""A sequence becomes a program that ferry check accepts, and that runs as batch and as C."""

import subprocess
from pathlib import Path

import pytest
from conftest import refused

SOURCE = Path(__file__).resolve().parents[2]


def ferry(ferry_path: Path, *arguments: str | Path) -> str:
    done = subprocess.run(
        [ferry_path, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("may_trace")
@pytest.mark.parametrize(
    ("deed", "results"),
    [
        ("read_file", ["openat 3", "read", "newfstatat 0", "close 0"]),
        ("look_at_entry", ["openat 3", "getdents64", "newfstatat", "close 0"]),
        # The pipe itself is of before the turn.
        ("pipe", ["openat 3", "write -9 EBADF", "getppid", "read 0"]),
    ],
)
def test_a_sequence_can_be_checked_and_run(
    ferry_path: Path, deeds: Path, tmp_path: Path, deed: str, results: list[str]
) -> None:
    script = tmp_path / "sequence.ferry"
    ferry(ferry_path, "trace", "--program", "1", "-o", script, deeds, deed)
    assert "0 errors, 0 warnings" in ferry(ferry_path, "check", script)
    shown = " ".join(ferry(ferry_path, "run", "--engine", "loop", script).split())
    at = 0
    for result in results:
        at = shown.index(result, at)


@pytest.mark.usefixtures("may_trace")
def test_what_no_batch_makes_is_left_out(ferry_path: Path, deeds: Path, tmp_path: Path) -> None:
    script = tmp_path / "sequence.ferry"
    texts = ""
    for number in ("1", "2"):
        ferry(ferry_path, "trace", "--program", number, "-o", script, deeds, "fork_once")
        texts += script.read_text()
    assert "# wait4 is left out: it may block" in texts
    assert "# clone is left out: duplicates the caller" in texts


@pytest.mark.usefixtures("may_trace")
@pytest.mark.parametrize("command", [["ls", "-lR", "/etc"], ["python3", "-c", "import json"]])
def test_sequences_of_ordinary_programs_can_be_checked(
    ferry_path: Path, tmp_path: Path, command: list[str]
) -> None:
    script = tmp_path / "sequence.ferry"
    for number in ("1", "2"):
        ferry(ferry_path, "trace", "--program", number, "-o", script, *command)
        assert "0 errors" in ferry(ferry_path, "check", script)


@pytest.mark.usefixtures("may_trace")
def test_a_sequence_as_c_compiles_and_runs(
    ferry_path: Path, build: Path, deeds: Path, tmp_path: Path, compiler: list[str]
) -> None:
    source, program = tmp_path / "sequence.c", tmp_path / "sequence"
    ferry(ferry_path, "trace", "--program", "1", "--c", "-o", source, deeds, "read_file")
    include = [f"-I{SOURCE / folder}" for folder in ("include", "uapi")]
    library = build / "lib" / "libferry.so"
    options = [
        *("-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *include),
        *(str(source), str(library), "-o", str(program), f"-Wl,-rpath,{library.parent}"),
    ]
    subprocess.run([*compiler, *options], check=True, timeout=60)
    shown = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[0] == "openat: 3"
    assert shown.splitlines()[-1] == "close: 0"


def test_options_that_make_no_sense_are_refused(ferry_path: Path) -> None:
    for options, reason in (
        (["--c", "true"], "--c needs --program"),
        (["--json", "--program", "1", "true"], "exclude each other"),
        (["--program", "0", "true"], "'0' is not the number of a sequence"),
        (["--program", "8", "true"], "there is no sequence 8"),
    ):
        refused(ferry_path, options, reason)
