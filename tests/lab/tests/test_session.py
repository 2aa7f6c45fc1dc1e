# SPDX-License-Identifier: MIT
"""Tests that share a guest: each gets its own output, status and console lines."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import LabError
from lab.guests.load import Usage
from lab.kernels.build import Kernel
from lab.targets import find_target
from lab.tests import run_tests as guest_tests
from lab.tests.manifest import GuestTest, read_benches, read_tests
from lab.tests.session import AttributingWatcher, Result, Transcript, script


def named(**commands: str) -> list[GuestTest]:
    return [GuestTest(name=name, command=command) for name, command in commands.items()]


def transcribe(chosen: list[GuestTest], output: bytes, piece: int) -> Transcript:
    transcript = Transcript(chosen)
    for start in range(0, len(output), piece):
        transcript.feed(output[start : start + piece])
    return transcript


@pytest.mark.parametrize("piece", [1, 7, 100000])
def test_the_output_is_taken_apart(piece: int) -> None:
    chosen = named(good="echo fine", bad="echo wrong >&2; exit 3", skipped="exit 77", silent="true")
    text = script(chosen).replace("/dev/kmsg", "/dev/null")
    done = subprocess.run(["sh", "-c", text], stdout=subprocess.PIPE, check=True)
    results = transcribe(chosen, done.stdout, piece).results
    assert [(r.test.name, bytes(r.output), r.status, r.verdict) for r in results] == [
        ("good", b"fine\n", 0, "passed"),
        ("bad", b"wrong\n", 3, "failed"),
        ("skipped", b"", 77, "skipped"),
        ("silent", b"", 0, "passed"),
    ]


def test_a_test_that_takes_too_long_is_ended_and_is_the_last_in_its_guest() -> None:
    chosen = [GuestTest(name="slow", command="sleep 100", timeout=0.2), *named(other="true")]
    text = script(chosen).replace("/dev/kmsg", "/dev/null")
    done = subprocess.run(["sh", "-c", text], stdout=subprocess.PIPE, check=True)
    [result] = transcribe(chosen, done.stdout, 100).results
    assert result.verdict == "failed"
    assert result.reason == "it did not end within 0.2 s"


def test_console_lines_are_laid_to_the_test_that_ran() -> None:
    watcher = AttributingWatcher()
    watcher.feed(
        b"[ 1.0] BUG: at boot\n[ 2.0] ferry-lab: begin one\n[ 3.0] fine\n"
        b"[ 4.0] ferry-lab: begin two\n[ 5.0] WARNING: CPU: 0 in two\n"
    )
    assert watcher.by_test == {"": ["BUG: at boot"], "two": ["WARNING: CPU: 0 in two"]}


RUN_ALL = 'sed -i "s,/dev/kmsg,$run/kmsg," "$run/command"; run_command\n'
CONSOLE = 'while read -r line; do say "$line"; done < "$run/kmsg"\n'

Run = Callable[..., tuple[Counter[str], str]]


@pytest.fixture
def run(fake_guest: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_them(behaviour: str, *chosen: GuestTest) -> tuple[Counter[str], str]:
        (fake_guest.directory / "behaviour").write_text(behaviour)
        results = guest_tests.run_tests(fake_guest, chosen, tmp_path, tmp_path)
        return guest_tests.count(results), capsys.readouterr().out

    return run_them


def test_verdicts_are_printed_and_counted(run: Run) -> None:
    chosen = named(good="true", bad="echo because; exit 3", skipped="exit 4")
    counts, output = run(RUN_ALL, *chosen)
    assert guest_tests.summary(counts) == "1 passed, 1 failed, 1 skipped"
    assert "ok   uml-7.3/good\n" in output
    assert "FAIL uml-7.3/bad: it exited with 3; " in output
    assert "     because\n" in output
    assert "skip uml-7.3/skipped\n" in output


def test_figures_are_printed_of_a_test_that_passes(run: Run) -> None:
    figures = GuestTest(name="figures", command="echo 256 of 305", shown=True)
    _, output = run(RUN_ALL, figures, *named(quiet="echo nothing"))
    assert "ok   uml-7.3/figures\n256 of 305\n" in output
    assert "nothing" not in output


def test_a_bad_line_fails_the_test_it_came_from(run: Run) -> None:
    chosen = named(one="true", two="true", three="true")
    bug = 'sed -i "/begin three/i BUG: in two" "$run/kmsg"\n'
    append = 'sed -i "s,> /dev/kmsg,>> $run/kmsg," "$run/command"; run_command\n'
    counts, output = run(append + bug + CONSOLE, *chosen)
    assert counts == {"passed": 2, "failed": 1}
    assert "FAIL uml-7.3/two: the console says 'BUG: in two'" in output


CRASHING = """\
sed -i "s,/dev/kmsg,$run/kmsg," "$run/command"
: > "$run/started"
sh "$run/command" >&"$out" 2>&1 &
echo $$ $! > {pids}
wait
echo 0 > "$run/status"
"""


def test_after_a_crash_the_other_tests_run_in_another_guest(run: Run, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    chosen = named(one="true", two=f"kill -9 $(cat {pids}); sleep 5", three="true")
    counts, output = run(CRASHING.format(pids=pids), *chosen)
    assert counts == {"passed": 2, "failed": 1}
    assert "FAIL uml-7.3/two: uml-7.3 went down before the command ended" in output
    assert "ok   uml-7.3/three" in output


def test_a_test_whose_shell_is_gone_fails(run: Run, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    chosen = named(one="true", two=f"kill -9 $(cut -d' ' -f2 {pids}); sleep 5")
    counts, output = run(CRASHING.format(pids=pids), *chosen)
    assert counts == {"passed": 1, "failed": 1}
    assert "FAIL uml-7.3/two: the guest was done before it had ended" in output


def test_a_guest_that_does_not_boot_fails_all(run: Run) -> None:
    counts, output = run("say 'no root'; exit 1", *named(one="true", two="true"))
    assert counts["passed"] == 0
    assert counts["failed"] == 3
    assert "went down before the command started" in output
    assert guest_tests.exit_status(counts) == 1


def test_a_hung_test_is_given_up(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_tests, "GRACE", 0.3)
    hang = 'sed -i "s,timeout -k 5 0.1,," "$run/command"\n'
    chosen = [
        GuestTest(name="hang", command="sleep 100", timeout=0.1),
        GuestTest(name="next", command="true"),
    ]
    counts, output = run(hang + RUN_ALL, *chosen)
    assert counts == {"passed": 1, "failed": 1}
    assert "FAIL uml-7.3/hang: 'hang' hangs" in output


@pytest.fixture
def starved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every guest seems to get less of the CPU than it wants."""
    monkeypatch.setattr(Usage, "share", 0.5)


def test_a_test_without_cpu_time_runs_again_with_more_time(
    run: Run, starved: None, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    slow = f"test -e {first} && exec sleep 1.1; touch {first}; sleep 100"
    chosen = [
        GuestTest(name="slow", command=slow, timeout=1),
        GuestTest(name="next", command="true"),
    ]
    counts, output = run(RUN_ALL, *chosen)
    assert counts == {"passed": 2}
    assert "slow uml-7.3/slow: it did not end within 1 s; starved: host load " in output
    assert "the guest got 50% of the CPU it wanted; it runs again\n" in output
    assert "ok   uml-7.3/slow (starved: host load " in output
    assert "; repeated: ok)\n" in output
    assert "FAIL" not in output


def test_a_test_runs_again_once(run: Run, starved: None) -> None:
    counts, output = run(RUN_ALL, GuestTest(name="slow", command="sleep 100", timeout=0.1))
    assert counts == {"failed": 1}
    assert "; repeated: FAIL): it did not end within 0.2 s; host load " in output


def test_a_stall_of_user_mode_linux_is_not_excused(run: Run, starved: None) -> None:
    stall = 'sed -i "s,> /dev/kmsg,>> $run/kmsg," "$run/command"; run_command\n'
    say = "say 'rcu: INFO: rcu_sched self-detected stall on CPU'\n"
    counts, output = run(stall + CONSOLE + say, *named(one="true"))
    assert counts == {"failed": 1}
    assert "FAIL uml-7.3/one: the console says 'rcu: INFO" in output


STALL_LINES = [
    "rcu: INFO: rcu_sched self-detected stall on CPU",
    "watchdog: BUG: soft lockup - CPU#0 stuck for 122s! [batch:99]",
    "INFO: task batch:123 blocked for more than 300 seconds.",
]


@pytest.mark.parametrize(
    ("target", "share", "status", "findings", "starved"),
    [
        ("x86-6.12", 0.4, 0, STALL_LINES, True),
        ("debian-6.12", 0.4, 124, STALL_LINES[:1], True),
        ("x86-6.12", 0.4, 124, [], True),
        ("uml-7.3", 0.4, 124, [], True),
        ("x86-6.12", 0.95, 0, STALL_LINES, False),
        ("x86-6.12", 0.95, 124, [], False),
        ("uml-7.3", 0.4, 0, STALL_LINES[:1], False),
        ("x86-6.12-debug", 0.4, 0, STALL_LINES[:1], False),
        ("x86-6.12", 0.4, 1, [], False),
        ("x86-6.12", 0.4, 1, STALL_LINES[:1], False),
        ("x86-6.12", 0.4, 0, [*STALL_LINES, "BUG: Bad rss-counter state mm:1"], False),
        ("x86-6.12", 0.4, 0, [], False),
    ],
)
def test_only_stalls_and_time_outs_without_cpu_time_are_excused(
    target: str, share: float, status: int, findings: list[str], starved: bool
) -> None:
    test = GuestTest(name="a", command="true")
    result = Result(test, status=status, findings=findings, share=share)
    assert result.starved(find_target(target)) is starved


HARNESS_LATE = "# x: Test terminated by timeout\n#  FAIL  set.x\nnot ok 1 set.x\n"
HARNESS_WRONG = "# a.c:1:y:Expected 0 (0) == end (-1)\n#  FAIL  set.y\nnot ok 2 set.y\n"
GROUP_LATE = "ERROR: signal 14 (Alarm clock)\n[  ERROR   ] --- group.c\n[  FAILED  ] a: b: x\n"
GROUP_WRONG = (
    "y.c:1: 0 is not -1\nERROR: see above\n[  ERROR   ] --- group.c\n[  FAILED  ] a: b: y\n"
)


@pytest.mark.parametrize(
    ("output", "share", "starved"),
    [
        (HARNESS_LATE, 0.4, True),
        (HARNESS_LATE, 0.95, False),
        (HARNESS_WRONG, 0.4, False),
        (HARNESS_LATE + HARNESS_WRONG, 0.4, False),
        (GROUP_LATE, 0.4, True),
        (GROUP_LATE, 0.95, False),
        (GROUP_WRONG, 0.4, False),
        (GROUP_LATE + GROUP_WRONG, 0.4, False),
    ],
)
def test_a_time_limit_of_the_harness_is_one(output: str, share: float, starved: bool) -> None:
    result = Result(GuestTest(name="a", command="true"), bytearray(output.encode()), status=1)
    result.share = share
    assert result.starved(find_target("uml-7.3")) is starved


def test_a_failure_is_shown_without_what_passed(run: Run) -> None:
    passed = "# RUN  set.b\n#  OK  set.b\nok 3 set.b\n" * 20
    report = f"printf '%s' '{HARNESS_WRONG}{passed}# Totals: pass:20 fail:1\n'; exit 1"
    _, output = run(RUN_ALL, GuestTest(name="selftest", command=report))
    assert "     # a.c:1:y:Expected 0 (0) == end (-1)\n" in output
    assert "     not ok 2 set.y\n     # Totals: pass:20 fail:1" in output
    assert "set.b" not in output


def test_each_result_is_recorded_with_its_load(run: Run, tmp_path: Path) -> None:
    result = Result(GuestTest(name="a", command="true"), status=0, seconds=1.5, share=0.5)
    guest_tests.write_record(tmp_path / "record", {"uml-7.3": [result]})
    assert json.loads((tmp_path / "record").read_text()) == [
        {
            "target": "uml-7.3",
            "test": "a",
            "verdict": "passed",
            "seconds": 1.5,
            "share": 0.5,
            "starved": "",
        }
    ]


def test_tests_with_other_wishes_get_another_guest(run: Run, cache: Path) -> None:
    chosen = [
        GuestTest(name="one", command="true"),
        GuestTest(name="two", command="true", memory="256M"),
        GuestTest(name="three", command="true"),
    ]
    counts, _ = run(RUN_ALL, *chosen)
    assert counts == {"passed": 3}
    assert len(list((cache / "runs").iterdir())) == 2


def test_nothing_run_is_not_success() -> None:
    assert guest_tests.exit_status(Counter()) == 1
    assert guest_tests.exit_status(Counter(skipped=3)) == 1
    assert guest_tests.exit_status(Counter(passed=1, skipped=3)) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[a]\n", "command: Field required"),
        ("[a]\ncommand='x'\ntimeuot=3\n", "timeuot: Extra inputs"),
        ("['a b']\ncommand='x'\n", "name: String should match"),
        ("[a]\ncommand='x'\ntargets=['vax']\n", "no target 'vax'"),
        ("[a-b]\ncommand='x'\n['a-{b,c}']\ncommand='x'\n", "the name 'a-b' is there more than"),
        ("[a]\ncommand='x'\n" * 2, "tests.toml: .*twice"),
        ("[a\n", "tests.toml"),
    ],
)
def test_a_bad_list_is_told(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "tests.toml").write_text(text)
    with pytest.raises(LabError, match=says):
        read_tests(tmp_path / "tests.toml")


def test_one_row_can_be_several_tests(tmp_path: Path) -> None:
    (tmp_path / "tests.toml").write_text("['module-{b,c}']\ncommand='run {}'\n")
    tests = read_tests(tmp_path / "tests.toml")
    assert [(test.name, test.command) for test in tests] == [
        ("module-b", "run b"),
        ("module-c", "run c"),
    ]
    assert "debian-6.1" in tests[0].targets and "uml-7.3" not in tests[0].targets


def test_the_lists_of_this_repository_can_be_read() -> None:
    read_tests()
    read_benches()


def test_a_debug_kernel_runs_what_its_kernel_runs() -> None:
    test = GuestTest(name="a", command="x", targets=("x86-6.12",))
    assert test.runs_on("x86-6.12-debug")
    assert test.runs_on("x86-6.12-kcsan")
    assert not test.runs_on("x86-7.3-debug")
    assert not test.runs_on("x86-6.12-base")


def test_what_repeats_a_lot_does_not_run_on_debug_kernels() -> None:
    test = GuestTest(name="a", command="true", targets=("x86-6.12",), debug=False)
    assert test.runs_on("x86-6.12")
    assert not test.runs_on("x86-6.12-debug")
    assert not test.runs_on("x86-6.12-kcsan")
