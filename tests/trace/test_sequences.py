# SPDX-License-Identifier: MIT
"""ferry trace finds what a program does again and again, and what of it could be a batch."""

import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from conftest import Trace

TURNS = 300


def names(sequence: dict[str, Any]) -> list[str]:
    return [step["call"] for step in sequence["steps"]]


def sources(step: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [(argument["source"], argument["step"]) for argument in step["arguments"]]


def saving(report: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in report["savings"] if each["name"] == name)
    return found


def test_a_loop_is_found_as_one_turn_with_its_flow(trace: Trace, deeds: Path) -> None:
    report = trace(deeds, "read_file")
    sequence = report["sequences"][0]
    assert names(sequence) == ["openat", "read", "newfstatat", "close"]
    # A window of 256 calls ends between two turns.
    assert sequence["turns"] == pytest.approx(TURNS, abs=6)
    assert sequence["verdict"] == "entirely"
    assert sequence["calls"] == 4
    for step in sequence["steps"][1:]:
        assert sources(step)[0] == ("result", 0)
    assert {"sequence": 0, "times": sequence["followers"][0]["times"]} == sequence["followers"][0]
    batch = saving(report, "batch")
    # What that saves was measured, so on a busy machine it may be less than its error.
    assert batch["missing"] in (None, "no faster here than the calls themselves")
    # The path is the same in all turns, so a batch can go on over their ends.
    assert sequence["batches"] < 0.05
    assert batch["calls"] == pytest.approx(4 * TURNS, rel=0.03)
    most = batch["calls"] * report["crossing_ns"]["value"]
    assert batch["missing"] or batch["saved_ns"]["value"] <= most


def test_what_lies_in_a_buffer_is_computed_by_the_program(trace: Trace, deeds: Path) -> None:
    sequence = trace(deeds, "look_at_entry")["sequences"][0]
    assert sorted(names(sequence)) == ["close", "getdents64", "newfstatat", "openat"]
    assert sequence["verdict"] == "in parts"
    assert sequence["batches"] == 2
    stat = next(step for step in sequence["steps"] if step["call"] == "newfstatat")
    assert stat["begins_batch"]
    assert sources(stat)[1] == ("user", names(sequence).index("getdents64"))
    assert "getdents64" in sequence["why"]


def test_turns_fit_together_where_none_needs_what_another_read(trace: Trace, deeds: Path) -> None:
    sequence = trace(deeds, "copy_and_wake")["sequences"][0]
    assert sorted(names(sequence)) == ["futex", "read", "write"]
    assert sequence["verdict"] == "entirely"
    assert sequence["batches"] < 0.05


def test_turns_stay_apart_where_the_next_one_takes_a_path_after_a_read(trace: Trace) -> None:
    turn = "file = os.open(f'/dev/shm/{n}', 64, 0o600); os.read(file, 1); os.close(file)"
    program = f"import os\nfor n in range({TURNS}):\n    {turn}; os.unlink(f'/dev/shm/{{n}}')"
    sequence = trace(sys.executable, "-c", program)["sequences"][0]
    assert sorted(names(sequence)) == ["close", "openat", "read", "unlink"]
    assert sequence["batches"] >= 1


def test_memory_is_used_before_it_is_unmapped(trace: Trace, deeds: Path) -> None:
    sequence = trace(deeds, "map_file")["sequences"][0]
    assert names(sequence) == ["openat", "mmap", "close", "munmap"]
    assert sequence["verdict"] == "in parts"
    assert sequence["batches"] == 2
    assert "munmap" in sequence["why"]


def test_a_call_that_may_block_begins_a_batch(trace: Trace, deeds: Path) -> None:
    sequence = trace(deeds, "pipe")["sequences"][0]
    assert names(sequence) == ["write", "getppid", "read"]
    assert sequence["verdict"] == "in parts"
    assert sequence["why"] == "read may block"
    assert sequence["batches"] == 2


@pytest.mark.parametrize(
    ("call", "sends"),
    [
        ("write", "os.write(end, b'x')"),
        ("writev", "os.writev(end, [b'x'])"),
        ("sendto", "sender.send(b'x')"),
        ("sendmsg", "sender.sendmsg([b'x'])"),
    ],
)
def test_a_write_to_a_pipe_or_socket_begins_a_batch(trace: Trace, call: str, sends: str) -> None:
    turn = f"file = os.open('/etc/passwd', os.O_RDONLY); {sends}; os.close(file)"
    ends = "import os, socket\nend = os.pipe()[1]\nsender, receiver = socket.socketpair()\n"
    report = trace(sys.executable, "-c", f"{ends}for _ in range(100): {turn}")
    sequence = next(each for each in report["sequences"] if call in names(each))
    assert sorted(names(sequence)) == sorted(["openat", call, "close"])
    assert sequence["verdict"] == "in parts"
    assert sequence["why"] == f"{call} may block"
    assert sequence["batches"] == 2


def test_a_file_in_shared_memory_is_no_device(trace: Trace) -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        turn = f"file = os.open({file.name!r}, os.O_RDONLY); os.read(file, 1); os.close(file)"
        report = trace(sys.executable, "-c", f"import os\nfor _ in range({TURNS}): {turn}")
    sequence = report["sequences"][0]
    assert names(sequence) == ["openat", "read", "close"]
    assert sequence["verdict"] == "entirely"


def test_blocked_calls_are_in_no_batch(trace: Trace, deeds: Path) -> None:
    report = trace(deeds, "fork_once")
    sequence = next(each for each in report["sequences"] if "wait4" in names(each))
    clone = next(step for step in sequence["steps"] if step["call"] in ("clone", "clone3", "fork"))
    assert clone["alone"]
    assert "duplicates the caller" in clone["why"]


def test_the_same_calls_give_the_same_sequences(trace: Trace, deeds: Path) -> None:
    first, second = (trace(deeds, "look_at_entry")["sequences"] for _ in range(2))
    assert first == second


def test_more_calls_than_are_kept_are_sampled(trace: Trace, deeds: Path) -> None:
    report = trace(deeds, "read_file", "17000")
    assert report["total"] > 65536
    assert report["sequences"][0]["turns"] == pytest.approx(17000, rel=0.05)


def test_traps_for_the_time_could_be_left_to_the_vdso(trace: Trace, deeds: Path) -> None:
    assert saving(trace(deeds, "time"), "vdso")["calls"] == TURNS
    assert saving(trace(deeds, "calls"), "vdso")["missing"]


def test_a_clock_that_the_vdso_does_not_read_saves_nothing(trace: Trace, deeds: Path) -> None:
    assert saving(trace(deeds, "own_time"), "vdso")["missing"]


def test_a_descriptor_is_no_path_to_look_up(trace: Trace, deeds: Path) -> None:
    found = saving(trace(deeds, "about_descriptor"), "files")
    assert found["missing"] or found["calls"] < 100


def test_tiny_writes_could_be_few_large_ones(trace: Trace, deeds: Path, tmp_path: Path) -> None:
    found = saving(trace(deeds, "write_little", tmp_path / "file"), "buffers")
    assert found["calls"] == pytest.approx(999, abs=10)
    # What they save was measured, so on a busy machine it may be less than its error.
    assert found["missing"] in (None, "no faster here than the calls themselves")
    assert found["missing"] or found["saved_ns"]["value"] > found["saved_ns"]["error"] > 0


def test_tiny_writes_elsewhere_in_the_file_are_needed(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "file"
    write = f"""
import os
file = os.open({str(path)!r}, os.O_CREAT | os.O_WRONLY)
for i in range(500):
    os.pwrite(file, b"x" * 16, 8192 * i)
"""
    calls = saving(trace(sys.executable, "-c", write), "buffers")["calls"]
    assert calls < 100


def test_a_program_that_does_little_has_no_sequence(trace: Trace) -> None:
    report = trace("sh", "-c", ":")
    assert all(each["turns"] < 10 for each in report["sequences"])
