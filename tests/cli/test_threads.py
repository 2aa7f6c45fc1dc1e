# SPDX-License-Identifier: MIT
"""ferry threads: what it runs carried, what plainly and why, and its environment."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Ferry

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="for x86-64 only")

HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 5; }\n'


def build(tmp_path: Path, *options: str) -> Path:
    source = tmp_path / "hello.c"
    program = tmp_path / "hello"
    source.write_text(HELLO)
    subprocess.run(["cc", *options, "-o", program, source], check=True, capture_output=True)
    return program


def test_the_program_runs_with_the_library_and_its_status(
    ferry: Ferry, tmp_path: Path, sanitized: bool
) -> None:
    done = ferry("threads", "--report", build(tmp_path))
    assert (done.stdout, done.returncode) == (b"hello\n", 5)
    if not sanitized:
        assert b"carried 0 threads" in done.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["-static"], "it is statically linked, so it takes no library"),
        (["-fsanitize=address"], "it was built with a sanitizer"),
    ],
)
def test_a_program_that_takes_no_library_runs_plainly(
    ferry: Ferry, tmp_path: Path, options: list[str], why: str
) -> None:
    program = build(tmp_path, *options)
    done = ferry("threads", program)
    assert (done.stdout, done.returncode) == (b"hello\n", 5)
    assert done.stderr.decode() == f"ferry: threads: {program} runs plainly: {why}\n"


def test_a_setuid_program_runs_plainly(ferry: Ferry, tmp_path: Path) -> None:
    program = build(tmp_path)
    program.chmod(0o4755)
    done = ferry("threads", program)
    assert (done.stdout, done.returncode) == (b"hello\n", 5)
    assert b"runs plainly: it is setuid or setgid" in done.stderr


def test_what_was_set_is_kept(ferry: Ferry, tmp_path: Path, sanitized: bool) -> None:
    if sanitized:
        pytest.skip("ferry itself has a sanitizer's library to load")
    done = ferry(
        "threads",
        "--carriers",
        "3",
        "env",
        env={"GLIBC_TUNABLES": "glibc.malloc.check=0", "LD_PRELOAD": ""},
    )
    lines = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
    assert lines["GLIBC_TUNABLES"] == "glibc.malloc.check=0:glibc.pthread.rseq=0"
    assert lines["LD_PRELOAD"].endswith("/libferry_threads.so.0")
    assert lines["FERRY_THREADS_CARRIERS"] == "3"


def test_a_script_stands_for_its_interpreter(ferry: Ferry, tmp_path: Path) -> None:
    interpreter = build(tmp_path, "-static")
    script = tmp_path / "script"
    script.write_text(f"#!{interpreter}\n")
    script.chmod(0o755)
    done = ferry("threads", script)
    assert b"it is statically linked" in done.stderr
    assert done.returncode == 5


def test_a_traced_program_runs_plainly(ferry_path: Path) -> None:
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("strace is not installed")
    command = [strace, "-o", "/dev/null", str(ferry_path), "threads", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "true runs plainly: it is traced" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "threads: no command"),
        (["--carriers", "0", "true"], 2, "--carriers is a number from 1 to 128, not '0'"),
        (["--after", "x", "true"], 2, "--after is a number from 0 to 1000000, not 'x'"),
        (["no-such-program"], 127, "threads: there is no program 'no-such-program'"),
    ],
)
def test_mistakes(ferry: Ferry, arguments: list[str], status: int, message: str) -> None:
    done = ferry("threads", *arguments)
    assert done.returncode == status
    assert message in done.stderr.decode()
