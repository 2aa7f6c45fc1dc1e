# SPDX-License-Identifier: MIT
"""Bad input: one clear sentence that names it, exit status 2, and nothing left behind."""

import json
import resource
from pathlib import Path
from typing import Any

import pytest
from conftest import Ferry, Result

BENCHES = "crossing, batch, dispatch, chain, apps, files, flexsc, pagefault and threads"


def refused(done: Result, *words: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (
            [],
            ["name one of", BENCHES],
        ),
        (
            ["speed"],
            ["'speed'", BENCHES],
        ),
        (["batch", "--engine", "warp"], ["'warp'", "loop"]),
        (["batch", "--engine", "loop,warp"], ["'warp'"]),
        (["batch", "--engine", "loop,loop"], ["'loop' twice"]),
        (["batch", "--engine", ""], ["--engine", "empty name"]),
        (["batch", "--call", "fly"], ["'fly'", "getppid", "--program"]),
        (["batch", "--call", "write,"], ["--call", "empty name"]),
        (["crossing", "--all"], ["--all", "without crossing"]),
        (["--all", "--sizes", "1"], ["--all", "without --sizes"]),
        (["--all", "--csv", "x"], ["--all", "without --csv"]),
        (["--all", "--json", "/dev/null/x"], ["cannot make /dev/null/x", "Not a directory"]),
        (["crossing", "--call", "getpid"], ["'getpid'", "a number, or buffer"]),
        (["crossing", "--call", "1,2x"], ["'2x'", "a number"]),
        (["crossing", "--call", "32768"], ["'32768'", "the number of a call"]),
        (["crossing", "--call", "0,1,2,3,4,5,6,7"], ["more than 6 arguments"]),
        (["crossing", "--call", "57"], ["call 57", "duplicates the caller"]),
        (["batch", "--sizes", "0,1"], ["--sizes", "'0'", "from 1 to"]),
        (["batch", "--sizes", "1,two"], ["--sizes", "'two'"]),
        (["batch", "--sizes", "1048577"], ["1048576"]),
        (["batch", "--slots", "0"], ["--slots", "'0'"]),
        (["flexsc", "--call", "read"], ["write and getpid", "'read'"]),
        (["flexsc", "--threads", "0,1"], ["--threads", "'0'", "from 1 to"]),
        (["flexsc", "--work", "-1"], ["--work", "'-1'"]),
        (["flexsc", "--runners", "65"], ["--runners", "from 1 to 64"]),
        (["pagefault", "--memory", "3"], ["--memory", "'3'", "from 4 to"]),
        (["pagefault", "--memory", "2G"], ["--memory", "'2G'"]),
        (["pagefault", "--memory", "16777216"], ["leaves", "16777216 MiB"]),
        (["pagefault", "--sizes", "4,513"], ["--sizes", "513", "512"]),
        (["pagefault", "--calls", "1"], ["pagefault takes no --calls"]),
        (["threads", "--app", "perl"], ["--app", "'perl'"]),
        (["threads", "--threads", "3"], ["--threads", "1, 4, 16, 64 and 256"]),
        (["crossing", "--memory", "64"], ["crossing takes no --memory"]),
        (["batch", "--work", "1"], ["batch", "--work"]),
        (["crossing", "--trials", "0"], ["--trials", "'0'", "from 1 to"]),
        (["crossing", "--trials", "-3"], ["--trials", "'-3'"]),
        (["crossing", "--trials", "ten"], ["--trials", "'ten'"]),
        (["crossing", "--trials", "99999999999999999999"], ["--trials"]),
        (["crossing", "--calls", "0"], ["--calls", "'0'"]),
        (["crossing", "--calls", "10x"], ["--calls", "'10x'"]),
        (["crossing", "--warmup", "-1"], ["--warmup", "'-1'"]),
        (["crossing", "--cpu", "-1"], ["--cpu", "'-1'"]),
        (["crossing", "--cpu", "1023"], ["CPU 1023", "online here are"]),
        (["crossing", "--seed", "x"], ["--seed", "'x'"]),
        (["crossing", "--pairs", "3"], ["crossing takes no --pairs"]),
        (["apps", "--trials", "3"], ["apps takes no --trials"]),
        (["apps", "--pairs", "0"], ["--pairs", "'0'"]),
        (["apps", "--directory", "/no/such/place"], ["/no/such/place"]),
        (["chain", "--directory", "/dev/null"], ["/dev/null: not a directory"]),
        (["files", "--directory", "/no/such/place"], ["/no/such/place"]),
        (["files", "--app", "tail"], ["'tail'", "stat, read", "cold and python"]),
        (["apps", "--examples", "/no/such/place"], ["/no/such/place"]),
        (["crossing", "--json", "-", "--csv", "-"], ["--json and --csv"]),
        (["crossing", "--json", "same", "--csv", "same"], ["same file"]),
        (["crossing", "--json", "/no/such/place/x.json"], ["/no/such/place/x.json"]),
        (["crossing", "--csv", "/"], ["/: cannot write"]),
        (["batch", "--program", "/no/such/file"], ["/no/such/file"]),
        (["batch", "--program", "/proc/sys/kernel/ostype"], ["/proc/sys/kernel/ostype:1:"]),
        (["batch", "--program", "/dev/null"], ["/dev/null", "empty program"]),
        (["batch", "--program", "-"], ["--program takes a file"]),
        (["batch", "--call", "getppid", "--program", "/no/such/file"], ["/no/such/file"]),
    ],
    ids=" ".join,
)
def test_bad_input_is_refused(
    ferry: Ferry, words: list[str], named: list[str], tmp_path: Path
) -> None:
    refused(ferry(*words, cwd=tmp_path), *named)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "named"), [(resource.RLIMIT_AS, "ulimit -v"), (resource.RLIMIT_DATA, "ulimit -d")]
)
def test_memory_that_a_limit_forbids_is_refused(
    ferry: Ferry, sanitized: bool, limit: int, named: str
) -> None:
    if sanitized:
        pytest.skip("the sanitizers take more address space than that")

    def lower() -> None:
        resource.setrlimit(limit, (64 << 20, 64 << 20))

    done = ferry("pagefault", "--memory", "100", preexec_fn=lower)
    refused(done, named, "100 MiB")


def test_an_engine_that_is_not_here_is_refused_with_the_reason(
    ferry: Ferry, documents: dict[str, Any]
) -> None:
    for engine in {"device", "syscall"} - set(documents["batch"]["settings"]["engines"]):
        refused(ferry("batch", "--engine", engine), engine, "not available: ")


def test_more_copies_than_a_program_may_have_slots_are_refused(
    ferry: Ferry, tmp_path: Path
) -> None:
    program = tmp_path / "two.ferry"
    program.write_text("getppid()\n" * 2)
    refused(ferry("batch", "--program", program, "--sizes", "1,1048576"), "two.ferry", "--sizes")


def test_no_room_for_the_output_is_reported(ferry: Ferry) -> None:
    words = ["crossing", "--trials", "1", "--calls", "1"]
    for option in ("--json", "--csv"):
        done = ferry(*words, option, "/dev/full")
        assert done.returncode == 2
        assert "/dev/full: cannot write: No space left on device" in done.stderr
        with Path("/dev/full").open("w") as full:
            assert ferry(*words, option, "-", stdout=full).returncode == 2
    with Path("/dev/full").open("w") as full:
        assert ferry(*words, stdout=full).returncode == 2


def test_an_earlier_file_stays_when_the_new_one_cannot_be_made(
    ferry: Ferry, tmp_path: Path
) -> None:
    earlier = tmp_path / "run.json"
    earlier.write_text("kept")
    assert ferry("crossing", "--trials", "0", "--json", earlier).returncode == 2
    assert earlier.read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_an_output_that_is_a_link_stays_one(ferry: Ferry, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "run.json").write_text("old")
    link = tmp_path / "latest.json"
    link.symlink_to("elsewhere/run.json")
    assert ferry("dispatch", "--calls", "10", "--trials", "2", "--json", link).returncode == 0
    assert link.is_symlink()
    assert json.loads(link.read_text())["bench"] == "dispatch"
    assert sorted(path.name for path in tmp_path.rglob("*.json*")) == ["latest.json", "run.json"]


class TestAgainst:
    """--against with files that are none of ours, or no longer."""

    @pytest.fixture
    def earlier(self, documents: dict[str, Any], tmp_path: Path) -> Path:
        path = tmp_path / "earlier.json"
        path.write_text(json.dumps(documents["crossing"], indent=1))
        return path

    def change(self, path: Path, **fields: object) -> None:
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    def test_missing(self, ferry: Ferry, tmp_path: Path) -> None:
        refused(ferry("crossing", "--against", tmp_path / "none"), str(tmp_path / "none"))

    def test_cut_short(self, ferry: Ferry, earlier: Path) -> None:
        whole = earlier.read_text()
        for length in (0, 1, len(whole) // 2, len(whole) - 2):
            earlier.write_text(whole[:length])
            refused(ferry("crossing", "--against", earlier), str(earlier), "cut short")
        with earlier.open() as stream:
            refused(ferry("--against", "-", stdin=stream), "standard input:", "cut short")

    def test_something_else(self, ferry: Ferry, earlier: Path) -> None:
        for text in ("[]", "{}", "[1]", '{"schema": 3}'):
            earlier.write_text(text)
            refused(ferry("crossing", "--against", earlier), "not a document of 'ferry bench")

    def test_another_version(self, ferry: Ferry, earlier: Path) -> None:
        self.change(earlier, version=1)
        refused(ferry("crossing", "--against", earlier), "version 1", "version 2")

    def test_another_bench(self, ferry: Ferry, earlier: Path) -> None:
        refused(ferry("batch", "--against", earlier), "crossing", "batch")

    def test_a_bench_of_a_later_ferry(self, ferry: Ferry, earlier: Path) -> None:
        self.change(earlier, bench="weather")
        refused(ferry("--against", earlier), "'weather'")

    def test_fields_of_other_types_are_passed_over(self, ferry: Ferry, earlier: Path) -> None:
        short = ["--trials", "2", "--calls", "5"]
        for rows in (None, 3, "x", [1, None], [{"what": 7}], [{"what": "stat", "value": "x"}]):
            self.change(earlier, figures=rows, machine=rows, started=rows)
            done = ferry("--against", earlier, *short, "--json", "-")
            assert (done.returncode, done.stderr) == (0, "")
            assert json.loads(done.stdout)["against"]["rows"] == []
