# SPDX-License-Identifier: MIT
"""ferry trace names what a program wastes, and nothing where a program wastes nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Trace

FEW = 0.03  # of the time of a program: less is not worth a change


@pytest.fixture(scope="session")
def waste(build: Path) -> Path:
    return build / "tests" / "trace" / "waste"


def kinds(report: dict[str, Any]) -> list[str]:
    return [finding["kind"] for finding in report["findings"]]


def found(report: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(finding for finding in report["findings"] if finding["kind"] == kind)


PLANTED = {
    "question": 2000,
    "search": 2000,
    "reopened": 8000,
    "value": 200000,
    "clock": 100000,
    "tiny": 99999,
    "split": 100,
    "growth": 1000,
    "faults": 8000,
    "sync": 100,
    "lock": 250,
    "switches": 15000,
    "one-by-one": 100,
    "processes": 100,
}
BY_BPF_ALONE = ("faults", "switches")  # ptrace sees no faults, and delays every switch
MANY_CALLS = ("value", "clock", "tiny")  # ptrace takes long for each
FEWER = 5  # times
LOOSE = ("lock", "switches")  # how often threads sleep is a matter of chance


@pytest.fixture
def server(waste: Path, tmp_path: Path) -> Iterator[None]:
    """For the client that is traced."""
    process = subprocess.Popen([waste, "serve", tmp_path], stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    yield
    process.kill()
    process.wait()


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.usefixtures("server")
def test_planted_waste_is_named_first_or_second(
    trace: Trace, waste: Path, kind: str, method: str, tmp_path: Path
) -> None:
    if method == "ptrace" and kind in BY_BPF_ALONE:
        pytest.skip("ptrace cannot find it")
    fewer = method == "ptrace" and kind in MANY_CALLS
    turns = [str(2000 // FEWER)] if fewer else []
    report = trace(waste, kind, tmp_path, *turns)
    assert kind in kinds(report)[:2], report["findings"]
    planted = PLANTED[kind] / (FEWER if fewer else 1)
    finding = found(report, kind)
    assert 0 < finding["saved_ns"]["value"] <= finding["cost_ns"]["value"] * 1.001
    assert finding["calls"] == pytest.approx(planted, rel=0.6 if kind in LOOSE else 0.03)


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.usefixtures("server")
def test_what_is_cured_is_hardly_found(
    trace: Trace, waste: Path, kind: str, tmp_path: Path
) -> None:
    report = trace(waste, kind, tmp_path, "cured")
    left = [each for each in report["findings"] if each["kind"] == kind]
    assert all(each["calls"] < PLANTED[kind] / 20 for each in left), left


@pytest.fixture(scope="session")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "data"
    part = bytes(range(256)) * 4096
    with path.open("wb") as file:
        for _ in range(32):
            file.write(os.urandom(len(part) // 2) + part[: len(part) // 2])
    return path


@pytest.mark.parametrize("method", ["bpf"], indirect=True)
@pytest.mark.parametrize(
    "command", ["cat FILE", "sha256sum FILE", "gzip -c FILE", "grep -c zzz FILE", "cp FILE COPY"]
)
def test_lean_programs_have_little_to_change(
    trace: Trace, command: str, large_file: Path, tmp_path: Path
) -> None:
    places = {"FILE": str(large_file), "COPY": str(tmp_path / "copy")}
    words = [places.get(word, word) for word in command.split()]
    report = trace(*words)
    assert all(finding["share"] <= FEW for finding in report["findings"]), report["findings"]


def test_the_division_of_a_few_ticks_is_not_known(trace: Trace) -> None:
    time = trace("true")["time"]
    if time["missing"]:
        pytest.skip(time["missing"])
    nothing = {"value": None, "error": None}
    assert time["user_ns"] == time["kernel_ns"] == nothing
    assert time["crossings_ns"]["value"] > 0
    time = trace(sys.executable, "-c", "for i in range(10**7): pass")["time"]
    assert time["user_ns"]["value"] > 0.8 * time["cpu_ns"]


WITH_WORK = """
import os
for _ in range(20000):
    os.stat("/etc/passwd")
    sorted(range(40))
"""


def test_calls_between_work_have_an_indirect_cost(trace: Trace) -> None:
    report = trace(sys.executable, "-c", WITH_WORK)
    finding, whole = found(report, "question"), report["indirect_ns"]
    indirect = finding["indirect_ns"]
    assert 0 <= indirect["value"] <= whole["value"] * 1.001
    known = indirect["value"] > indirect["error"]
    assert known == ("that the calls cost indirectly" in finding["sentence"])


def test_one_name_in_several_directories_is_several_questions(trace: Trace) -> None:
    program = """
import os
for parent in ("/usr/share/doc", "/usr/lib"):
    for each in os.scandir(parent):
        if each.is_dir(follow_symlinks=False):
            os.chdir(each.path)
            os.path.exists("x")
"""
    report = trace(sys.executable, "-S", "-c", program)
    questions = [each for each in report["findings"] if each["kind"] == "question"]
    assert all("about x" not in each["what"] for each in questions)


def test_a_directory_that_is_not_read_is_not_said_to_be(trace: Trace) -> None:
    program = """
import os
for _ in range(500):
    os.close(os.open("/usr/share", os.O_RDONLY | os.O_DIRECTORY))
"""
    what = found(trace(sys.executable, "-S", "-c", program), "reopened")["what"]
    assert "opened, read" not in what


def test_one_name_by_a_relative_and_an_absolute_path_is_no_search(
    trace: Trace, tmp_path: Path
) -> None:
    program = f"""
import os
os.chdir({str(tmp_path)!r})
for _ in range(500):
    os.path.exists("absent")
    os.path.exists({str(tmp_path / "absent")!r})
"""
    report = trace(sys.executable, "-S", "-c", program)
    searches = [each["what"] for each in report["findings"] if each["kind"] == "search"]
    assert all("absent" not in what for what in searches)


def test_a_pipeline_of_programs_that_work_is_no_waste(trace: Trace) -> None:
    assert "processes" not in kinds(trace("sh", "-c", " | ".join(["cat"] * 14)))


def test_two_programs_that_take_turns_need_their_small_messages(trace: Trace, waste: Path) -> None:
    assert "tiny" not in kinds(trace(waste, "switches", "/nonexistent"))


def test_the_first_line_is_the_best_finding(
    ferry_path: Path, waste: Path, method: str, tmp_path: Path
) -> None:
    command: list[str | Path] = [ferry_path, "trace", "--method", method]
    for program, line in (
        ([waste, "question", tmp_path], "waste: 2000 calls ask 1 question"),
        (["true"], "true: nothing worth changing."),
    ):
        done = subprocess.run(
            [*command, *program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith(line)


def test_a_path_with_control_characters_reaches_no_terminal(
    ferry_path: Path, method: str, tmp_path: Path
) -> None:
    path = tmp_path / "\x1b[31mred"
    program = f"import os\nfor _ in range(2000): os.access({str(path)!r}, os.R_OK)"
    done = subprocess.run(
        [ferry_path, "trace", "--method", method, sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "?[31mred" in done.stdout
    assert "\x1b" not in done.stdout
