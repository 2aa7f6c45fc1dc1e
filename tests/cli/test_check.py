# SPDX-License-Identifier: MIT
"""ferry check: mistakes are found with their place, and nothing is run."""

import json
from pathlib import Path

import pytest
from conftest import Ferry

MISTAKES = """\
buffer b 8
start: fork()                            # blocked
       write(1, b, 1)                    any -> end
       getpid()                          # nothing leads here
"""


def test_a_good_program_has_no_mistakes(ferry: Ferry, program: Path) -> None:
    done = ferry("check", program)
    assert done.returncode == 0
    assert done.stdout.decode() == f"{program}: 4 slots, 0 errors, 0 warnings\n"


def test_mistakes_come_with_file_line_slot_and_reason(ferry: Ferry, tmp_path: Path) -> None:
    path = tmp_path / "bad.ferry"
    path.write_text(MISTAKES)
    done = ferry("check", path)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert lines[0].startswith(f"{path}:2: slot 0 (fork): error: ")
    assert lines[1].startswith(f"{path}:4: slot 2 (getpid): warning: ")
    assert lines[2] == f"{path}: 3 slots, 1 error, 1 warning"


def test_json_says_the_same(ferry: Ferry, tmp_path: Path) -> None:
    path = tmp_path / "bad.ferry"
    path.write_text(MISTAKES)
    done = ferry("check", "--json", path)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["slots"] == 3
    assert [(p["slot"], p["call"], p["severity"]) for p in report["problems"]] == [
        (0, "fork", "error"),
        (2, "getpid", "warning"),
    ]


def test_arguments_that_are_missing_or_too_long_are_warned_about(ferry: Ferry) -> None:
    done = ferry("check", input=b"buffer b 8\nread(1)\nread(0, b, 9)\n")
    assert done.returncode == 0
    assert done.stdout.decode().splitlines() == [
        "standard input:2: slot 0 (read): warning: "
        "read takes 3 arguments, not 1; those left out are 0",
        "standard input:3: slot 1 (read): warning: the length is 9, but b has only 8 bytes",
        "standard input: 2 slots, 0 errors, 2 warnings",
    ]


def test_every_mistake_of_a_text_is_reported(ferry: Ferry, tmp_path: Path) -> None:
    path = tmp_path / "bad.ferry"
    path.write_text("getpid()\n  opneat(1)\nclose($nothing)\n")
    done = ferry("check", path)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().splitlines() == [
        f"ferry: {path}:2:3: unknown call opneat; did you mean openat?",
        f"ferry: {path}:3:7: undefined label nothing",
    ]


def test_the_list_of_mistakes_says_that_there_are_more(ferry: Ferry) -> None:
    lines = ferry("check", input=b"opnat()\n" * 30).stderr.decode().splitlines()
    assert lines[0] == "ferry: standard input:1:1: unknown call opnat; did you mean openat?"
    assert len(lines) == 21
    assert lines[-1].startswith("ferry: standard input: there are more mistakes")


def test_many_mistakes_take_no_time(ferry: Ferry) -> None:
    """Each unknown name is compared with all known ones, for the hint: that ends with the list."""
    lines = (f"goto there_{i:06}\nhere_{i:06}: getpid()\n" for i in range(60000))
    done = ferry("check", input="".join(lines).encode())
    assert done.returncode == 2
    assert b"there are more mistakes" in done.stderr


@pytest.mark.parametrize("content", [b"\0", b"\xff" * 100, b"\x7fferry", b"getpid()\n\0"])
def test_garbage_is_refused(ferry: Ferry, content: bytes) -> None:
    done = ferry("check", input=content)
    assert done.returncode == 2
    assert done.stderr.startswith(b"ferry: standard input:")


def test_nothing_is_run(ferry: Ferry) -> None:
    done = ferry("check", input=b'string s "ran"\nwrite(1, s, 3)\n')
    assert done.returncode == 0
    assert b"ran" not in done.stdout


def test_warnings_alone_are_no_failure(ferry: Ferry) -> None:
    done = ferry("check", input=b"getpid() any -> end\ngetpid()\n")
    assert done.returncode == 0
    assert b"warning" in done.stdout


def test_a_file_without_end_is_refused(ferry: Ferry) -> None:
    done = ferry("check", "/dev/zero")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"/dev/zero: cannot read: File too large" in done.stderr
