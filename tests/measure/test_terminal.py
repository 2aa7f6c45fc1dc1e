# SPDX-License-Identifier: MIT
"""On a terminal: progress, colours, and Ctrl-C in the middle."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from conftest import Ferry

LONG = {
    "crossing": ["crossing", "--trials", "10000", "--calls", "2000"],
    "batch": ["batch", "--trials", "10000", "--sizes", "1,8", "--slots", "512"],
    "dispatch": ["dispatch", "--trials", "10000", "--calls", "100000"],
    "apps": ["apps", "--pairs", "20"],
    "pagefault": ["pagefault", "--trials", "10000", "--memory", "16", "--sizes", "16"],
    "threads": ["threads", "--pairs", "1000", "--calls", "100", "--app", "echo"],
}


class Session:
    """`ferry bench` with standard error, or both outputs, on a terminal."""

    def __init__(
        self, ferry: Path, words: list[str], environment: dict[str, str], both: bool = False
    ) -> None:
        self.terminal, slave = pty.openpty()
        self.process = subprocess.Popen(
            [ferry, "bench", *words],
            stdin=subprocess.DEVNULL,
            stdout=slave if both else subprocess.PIPE,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self.shown = ""

    def read(self) -> bool:
        try:
            text = os.read(self.terminal, 65536).decode()
        except OSError:  # the other side is closed
            text = ""
        self.shown += text
        return bool(text)

    def wait_until(self, pattern: str) -> None:
        deadline = time.monotonic() + 60
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline and self.read(), self.shown

    def finish(self) -> tuple[int, str]:
        try:
            out, _ = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise
        while self.read():
            pass
        os.close(self.terminal)
        return self.process.returncode, (out or b"").decode()


def wait_until_nobody_is_left(group: int) -> None:
    """Returns once no process of the group is there: those killed take a moment to go."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    raise AssertionError(f"processes of group {group} are left")


def wait_for_file(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.1)


@pytest.mark.parametrize("bench", LONG)
@pytest.mark.parametrize("to_group", [True, False], ids=["terminal", "process"])
def test_ctrl_c_keeps_what_was_finished(
    bench: str,
    to_group: bool,
    ferry_path: Path,
    environment: dict[str, str],
    tmp_path: Path,
    tree: Path,
) -> None:
    words = [*LONG[bench], "--json", str(tmp_path / "run.json")]
    if bench == "apps":
        words += ["--directory", str(tree)]
    session = Session(ferry_path, words, environment | {"TERM": "xterm"})
    session.wait_until(r"\b\d\d+ of \d+,")
    if to_group:
        os.killpg(session.process.pid, signal.SIGINT)
    else:
        session.process.send_signal(signal.SIGINT)
    status, printed = session.finish()
    assert status == 130
    wait_until_nobody_is_left(session.process.pid)
    assert "interrupted" in printed
    document = json.loads((tmp_path / "run.json").read_text())
    assert document["tables"][0]["title"] in " ".join(printed.split())
    assert document["complete"] is False
    keys = {"batch": "series", "pagefault": "touches"}
    keys |= {"apps": "comparisons", "threads": "comparisons"}
    key = keys.get(bench, "rows")
    assert document[key]
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


# Settings with which a trial takes longer than a Session waits for the end.
LONG_TRIALS = {
    "one thread": ["--calls", "100000000", "--threads", "1", "--work", "100000"],
    "many threads": ["--calls", "1", "--warmup", "1", "--threads", "256", "--work", "1000000"],
}


@pytest.mark.parametrize("settings", LONG_TRIALS.values(), ids=LONG_TRIALS)
def test_ctrl_c_ends_a_trial_of_flexsc(
    settings: list[str], ferry_path: Path, environment: dict[str, str]
) -> None:
    session = Session(ferry_path, ["flexsc", *settings], environment)
    session.wait_until("will take about")
    time.sleep(3)  # a trial shows no progress before its end
    session.process.send_signal(signal.SIGINT)
    status, printed = session.finish()
    assert status == 130
    assert "interrupted" in printed + session.shown
    wait_until_nobody_is_left(session.process.pid)


def test_ctrl_c_before_anything_is_finished_writes_nothing(
    ferry_path: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    # Blocks in its first batch, until the signal ends the call.
    program = tmp_path / "sleep.ferry"
    program.write_text("words time 3600, 0\nnanosleep(time, 0)\n")
    words = ["batch", "--engine", "loop", "--program", str(program), "--sizes", "1"]
    session = Session(ferry_path, [*words, "--json", str(tmp_path / "run.json")], environment)
    time.sleep(0.5)
    os.killpg(session.process.pid, signal.SIGINT)
    status, printed = session.finish()
    assert (status, printed) == (130, "")
    assert "interrupted before anything was finished" in session.shown
    assert [path.name for path in tmp_path.iterdir()] == ["sleep.ferry"]


def test_all_benches_write_a_directory_until_ctrl_c(
    ferry: Ferry, ferry_path: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    ferry("crossing", "--trials", "4", "--calls", "200", "--json", old / "crossing.json")
    words = ["--all", "--json", str(new), "--against", str(old)]
    session = Session(ferry_path, words, environment)
    wait_for_file(new / "crossing.json")
    os.killpg(session.process.pid, signal.SIGINT)
    status, printed = session.finish()
    assert status == 130
    assert printed.startswith("==== crossing\n")
    first = json.loads((new / "crossing.json").read_text())
    assert (first["complete"], first["against"]["file"]) == (True, str(old / "crossing.json"))
    assert {path.name for path in new.iterdir()} <= {"crossing.json", "batch.json"}


def test_ctrl_c_between_two_benches_is_seen(
    ferry_path: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    # Reading an earlier run of the second bench waits for a writer, which never comes.
    os.mkfifo(tmp_path / "batch.json")
    words = ["--all", "--json", str(tmp_path / "new"), "--against", str(tmp_path)]
    session = Session(ferry_path, words, environment)
    wait_for_file(tmp_path / "new" / "crossing.json")
    time.sleep(0.5)
    os.killpg(session.process.pid, signal.SIGINT)
    assert session.finish()[0] == 130
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["crossing.json"]


def test_a_second_ctrl_c_ends_it_at_once(
    ferry_path: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    program = tmp_path / "sleep.ferry"
    program.write_text("words time 3600, 0\nnanosleep(time, 0)\n")
    words = ["batch", "--engine", "loop", "--program", str(program), "--sizes", "64"]
    session = Session(ferry_path, [*words, "--json", str(tmp_path / "run.json")], environment)
    time.sleep(0.5)
    for _ in range(2):
        os.killpg(session.process.pid, signal.SIGINT)
        time.sleep(0.5)
    assert session.finish()[0] in (-signal.SIGINT, 130)
    wait_until_nobody_is_left(session.process.pid)
    assert [path.name for path in tmp_path.iterdir()] == ["sleep.ferry"]


def test_sigterm_ends_it_as_well(ferry_path: Path, environment: dict[str, str]) -> None:
    session = Session(ferry_path, LONG["crossing"], environment)
    session.wait_until(r"\b\d\d+ of")
    session.process.terminate()
    assert session.finish()[0] == 128 + signal.SIGTERM
    wait_until_nobody_is_left(session.process.pid)


def test_being_killed_leaves_no_process(
    ferry_path: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    words = [*LONG["crossing"], "--json", str(tmp_path / "run.json")]
    session = Session(ferry_path, words, environment)
    session.wait_until(r"\b\d\d+ of")
    session.process.kill()
    session.finish()
    wait_until_nobody_is_left(session.process.pid)
    assert list(tmp_path.iterdir()) == []


def test_a_row_stays_one_line_except_on_a_terminal(
    ferry_path: Path, environment: dict[str, str], ferry: Ferry
) -> None:
    words = ["crossing", "--trials", "1", "--calls", "1"]
    row = re.compile(r"^open and close /etc/passwd .*\d", re.M)
    assert row.search(ferry(*words).stdout)
    assert not row.search(ferry(*words, env=environment | {"COLUMNS": "60"}).stdout)
    session = Session(ferry_path, words, environment | {"TERM": "dumb"}, both=True)
    fcntl.ioctl(session.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    assert session.finish()[0] == 0
    assert not row.search(session.shown.replace("\r", ""))


def test_progress_is_shown_on_a_terminal_and_taken_away(
    ferry_path: Path, environment: dict[str, str]
) -> None:
    words = ["crossing", "--trials", "3", "--calls", "100"]
    session = Session(ferry_path, words, environment)
    status, printed = session.finish()
    assert status == 0
    assert re.search(r"trial and row  \[[#.]{24}\]  0 of 48", session.shown)
    assert session.shown.endswith("\r\033[K")
    assert "of 48" not in printed


def test_a_dumb_terminal_has_no_progress(ferry_path: Path, environment: dict[str, str]) -> None:
    words = ["crossing", "--trials", "3", "--calls", "100"]
    session = Session(ferry_path, words, environment | {"TERM": "dumb"})
    status, _ = session.finish()
    assert status == 0
    assert "of 48" not in session.shown


def test_colours_are_for_terminals_that_want_them(
    ferry_path: Path, environment: dict[str, str], ferry: Ferry
) -> None:
    words = ["crossing", "--trials", "1", "--calls", "1"]
    assert "\033" not in ferry(*words).stdout + ferry(*words).stderr
    for extra, wanted in (
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ):
        session = Session(ferry_path, words, environment | extra, both=True)
        assert session.finish()[0] == 0
        assert ("\033[1m" in session.shown) == wanted
