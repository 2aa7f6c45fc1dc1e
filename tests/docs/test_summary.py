# SPDX-License-Identifier: MIT
"""The list that `make check` ends with: steps, slowest tests, verdicts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def summary(*sources: Path) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [sys.executable, TESTS / "summary.py", *sources]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def times(tmp_path: Path) -> Path:
    (tmp_path / "times").write_text("61\tlint\n5\ttests\n")
    return tmp_path / "times"


def meson_log(build: Path, **results: str) -> Path:
    (build / "meson-logs").mkdir(parents=True)
    rows = [
        {"name": f"ferry:fast / {name}", "duration": 3.0, "result": result}
        for name, result in results.items()
    ]
    (build / "meson-logs" / "testlog.json").write_text("\n".join(map(json.dumps, rows)))
    return build


def test_steps_and_tests_of_all_sources_are_listed(times: Path, tmp_path: Path) -> None:
    guests = tmp_path / "guests.json"
    row = {"target": "x86", "test": "slow", "verdict": "passed", "seconds": 70.2, "starved": "busy"}
    guests.write_text(json.dumps([row]))
    done = summary(times, meson_log(tmp_path / "build", one="OK", two="SKIP"), guests)
    assert done.stdout.splitlines() == [
        "",
        "What took how long:",
        "   1 min  1 s  lint",
        "   0 min  5 s  tests",
        "   1 min  6 s  together",
        "",
        "The slowest tests:",
        "   1 min 10 s  x86: slow (busy)",
        "   0 min  3 s  build: two",
        "   0 min  3 s  build: one",
        "",
        "2 passed, 0 failed, 1 skipped",
    ]
    assert done.returncode == 0


@pytest.mark.parametrize("results", [{"one": "OK", "two": "TIMEOUT"}, {"one": "SKIP"}])
def test_a_failure_or_nothing_passed_fails(
    times: Path, tmp_path: Path, results: dict[str, str]
) -> None:
    assert summary(times, meson_log(tmp_path / "build", **results)).returncode == 1


def test_a_failed_step_shows_what_failed_and_how_to_repeat_it(times: Path, tmp_path: Path) -> None:
    meson_log(tmp_path / "build", one="OK", two="FAIL")
    step: list[str | Path] = [TESTS / "step", times, "unit tests", "sh", "-c", "exit 3"]
    done = subprocess.run(step, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert "This step failed: unit tests\n" in done.stdout
    assert "  sh -c exit 3\n" in done.stdout
    assert "  1 min  1 s  lint\n" in done.stdout
    assert "\nFailed:\n  build: two\n" in done.stdout


def test_a_step_is_noted_when_it_succeeds(tmp_path: Path) -> None:
    times = tmp_path / "times"
    for command, status in ((["true"], 0), (["sh", "-c", "exit 3"], 3)):
        step: list[str | Path] = [TESTS / "step", times, " ".join(command), *command]
        assert subprocess.run(step, check=False).returncode == status
    assert times.read_text() in ("0\ttrue\n", "1\ttrue\n")
