# SPDX-License-Identifier: MIT
"""ferry run: its output and its exit status."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import Ferry

ENGINES = ("auto", "loop")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_program_runs_and_every_slot_is_shown(ferry: Ferry, program: Path, engine: str) -> None:
    done = ferry("run", "--engine", engine, program)
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines[0] == "forty-two bytes"
    assert [line.split() for line in lines[1:6]] == [
        ["SLOT", "LABEL", "CALL", "RESULT"],
        ["0", "fd", "openat", "3"],
        ["1", "len", "read", "16"],
        ["2", "write", "16"],
        ["3", "shut", "close", "0"],
    ]
    assert lines[6] == "last slot to run: 3"


def test_json_in_a_file_is_apart_from_what_the_program_prints(
    ferry: Ferry, program: Path, tmp_path: Path
) -> None:
    done = ferry("run", "--json", "--output", tmp_path / "json", program)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"forty-two bytes\n", b"")
    assert json.loads((tmp_path / "json").read_text())["returned"] == 3
    done = ferry("run", "-o", tmp_path / "table", program)
    assert done.stdout == b"forty-two bytes\n"
    assert "last slot to run: 3" in (tmp_path / "table").read_text()


def test_an_output_that_cannot_be_written_runs_nothing(ferry: Ferry, program: Path) -> None:
    done = ferry("run", "--output", "/nowhere/file", program)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"/nowhere/file" in done.stderr


def test_failures_have_names_and_skipped_slots_say_so(ferry: Ferry, program: Path) -> None:
    (program.parent / "content").unlink()
    done = ferry("run", program)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert lines[1].split(maxsplit=3)[3] == "-2 ENOENT: No such file or directory"
    assert all(line.endswith("not run") for line in lines[2:5])
    assert lines[5] == "last slot to run: 0"


def test_json_has_every_slot(ferry: Ferry, program: Path) -> None:
    (program.parent / "content").write_bytes(b"")
    done = ferry("run", "--json", "--data", "--engine", "loop", program)
    report = json.loads(done.stdout)
    assert report["version"] == 2
    assert report["engine"] == "loop"
    assert report["returned"] == 3
    assert [slot["ran"] for slot in report["slots"]] == [True, True, False, True]
    assert [slot["result"] for slot in report["slots"]] == [3, 0, None, 0]
    assert [slot["labels"] for slot in report["slots"]] == [["fd"], ["len"], [], ["shut"]]
    assert report["data"]["data"] == [0] * 4096


def test_data_is_printed_as_c_would_write_it(ferry: Ferry) -> None:
    text = b'bytes a "q\\"\\\\\\n\\x01"\nbuffer b 5\nwords c 1, -2\ncopy(b, c)\n'
    done = ferry("run", "--data", input=text)
    assert done.returncode == 0
    assert b'\na: "q\\"\\\\\\n\\x01"\nb: "\\x01" and 4 zero bytes\nc: 1, -2\n' in done.stdout


def test_an_empty_program_is_a_batch_too(ferry: Ferry) -> None:
    done = ferry("run", input=b"# nothing\n")
    assert done.returncode == 0
    assert b"the program is empty\n" in done.stdout


def test_a_goto_is_shown_as_a_jump(ferry: Ferry) -> None:
    text = b"goto there\nsync()\nthere: goto +1\nsync()\ngetpid()\ngoto end\n"
    lines = ferry("run", input=text).stdout.decode().splitlines()
    assert lines[1].endswith("jumped to there")
    assert lines[3].endswith("jumped to slot 4")
    assert lines[6].endswith("jumped to the end")
    assert "ENOSYS" not in "".join(lines)
    slots = json.loads(ferry("run", "--json", input=text).stdout)["slots"]
    assert [slot["errno"] for slot in slots] == [None] * 6
    assert [slot["result"] is None for slot in slots] == [True] * 4 + [False, True]


def test_arguments_that_cannot_be_meant_are_warned_about(ferry: Ferry) -> None:
    text = b"buffer b 8\nread(0, b, 9)\nclose()\n"
    done = ferry("run", input=text)
    assert done.returncode == 0
    assert done.stderr.decode().splitlines() == [
        "ferry: standard input:2: warning: the length is 9, but b has only 8 bytes",
        "ferry: standard input:3: warning: close takes 1 argument, not 0; those left out are 0",
    ]


def test_every_label_of_a_slot_is_shown(ferry: Ferry) -> None:
    text = b"a: b: c: getuid()\n"
    assert b"   0  a, b, c  getuid" in ferry("run", input=text).stdout
    report = json.loads(ferry("run", "--json", input=text).stdout)
    assert report["slots"][0]["labels"] == ["a", "b", "c"]


def test_one_zero_byte_is_not_plural(ferry: Ferry) -> None:
    shown = ferry("run", "--data", input=b'string s "x"\nbuffer b 2\n').stdout
    assert b's: "x" and 1 zero byte\n' in shown
    assert b'b: "" and 2 zero bytes\n' in shown


def test_the_environment_chooses_the_engine(ferry: Ferry, program: Path) -> None:
    assert b"engine: loop\n" in ferry("run", program, env={"FERRY_ENGINE": "loop"}).stdout
    assert b"engine: loop\n" in ferry("run", program, env={"BATCH_EMUL": "1"}).stdout
    both = {"FERRY_ENGINE": "auto", "BATCH_EMUL": "1"}
    assert b"engine: loop\n" in ferry("run", "--engine", "loop", program, env=both).stdout


def test_a_bad_engine_in_the_environment_is_refused(ferry: Ferry, program: Path) -> None:
    done = ferry("run", program, env={"FERRY_ENGINE": "warp"})
    assert done.returncode == 2
    assert b"FERRY_ENGINE" in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("engine", "words"),
    [("warp", b"no engine 'warp'"), ("device", b"device"), ("syscall", b"syscall")],
)
def test_an_engine_that_is_not_here_is_refused_with_the_reason(
    ferry: Ferry, program: Path, engine: str, words: bytes
) -> None:
    here = {
        item["name"]
        for item in json.loads(ferry("probe", "--json").stdout)["engines"]
        if item["here"]
    }
    if engine in here:
        assert ferry("run", "--engine", engine, program).returncode == 0
        return
    done = ferry("run", "--engine", engine, program)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == b""


def test_ctrl_c_ends_a_blocking_program(ferry_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "block.ferry"
    path.write_text("buffer b 1\nwrite(1, b, 1)\nread(0, b, 1)\n")
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [ferry_path, "run", path], stdin=read_end, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"\0"  # it runs: slot 0 has written
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == -signal.SIGINT
    os.close(read_end)
    os.close(write_end)


def test_a_full_disk_is_reported(ferry: Ferry, program: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = ferry("run", "--json", "/dev/null", stdout=full)
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
