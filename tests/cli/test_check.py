# SPDX-License-Identifier: MIT
"""ferry check: mistakes are found with their place, and nothing is run."""

import json
from pathlib import Path

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
    assert lines[2] == f"{path}: 3 slots, 1 errors, 1 warnings"


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


def test_nothing_is_run(ferry: Ferry) -> None:
    done = ferry("check", input=b'string s "ran"\nwrite(1, s, 3)\n')
    assert done.returncode == 0
    assert b"ran" not in done.stdout


def test_warnings_alone_are_no_failure(ferry: Ferry) -> None:
    done = ferry("check", input=b"getpid() any -> end\ngetpid()\n")
    assert done.returncode == 0
    assert b"warning" in done.stdout
