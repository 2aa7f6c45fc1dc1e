# SPDX-License-Identifier: MIT
"""The command finds its Python and its package, says so when it cannot, and ends on Ctrl-C."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sample
from conftest import SOURCE, Report, Write
from page_reader import by_class, read_page, text

from report.conclusion import read_conclusion

REAL_RUNS = {
    "crossing": ["--calls", "200", "--trials", "5"],
    "batch": ["--sizes", "1,4,16", "--slots", "64", "--trials", "5", "--call", "getppid,write"],
    "dispatch": ["--calls", "500", "--trials", "5"],
    "chain": ["--trials", "5"],
    "apps": ["--pairs", "6", "--directory", "."],
    "files": ["--app", "stat", "--pairs", "6", "--directory", "."],
    "flexsc": ["--call", "write", "--calls", "200", "--trials", "5", "--threads", "16"],
    "pagefault": ["--memory", "16", "--trials", "5", "--sizes", "4,16"],
    "threads": ["--app", "queue", "--threads", "16", "--pairs", "6", "--calls", "200"],
}


def test_what_ferry_bench_writes_is_read(ferry_path: Path, command: Report, tmp_path: Path) -> None:
    for bench, options in REAL_RUNS.items():
        done = subprocess.run(
            [ferry_path, "bench", bench, *options, "--json", tmp_path / f"{bench}.json"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    done_report = command(tmp_path)
    assert (done_report.returncode, done_report.stderr) == (0, "")
    touches = json.loads((tmp_path / "pagefault.json").read_text())["touches"]
    ahead = any(touch["way"] == "ahead" and touch["available"] for touch in touches)
    page = read_page(tmp_path / "report.html")
    # The first figure has no runs that something watched.
    figures = [figure for figure in page.iter("figure") if figure.get("id") != "first"]
    assert len(figures) == (12 if ahead else 11)
    assert text(by_class(page, "made")[0]).startswith("Made by ferry bench crossing --calls 200")
    concluded = {line.kind for line in read_conclusion(tmp_path)}
    assert {"crossing", "bound"} < concluded or "caution" in concluded
    assert concluded & {"gain", "none", "undecided", "caution"}


def test_what_keep_leaves_serves_a_comparison(ferry_path: Path, tmp_path: Path) -> None:
    whole, kept = tmp_path / "whole", tmp_path / "kept"
    whole.mkdir()
    bench: list[str | Path] = [
        ferry_path,
        "bench",
        "dispatch",
        "--calls",
        "500",
        "--trials",
        "5",
        "--json",
    ]
    subprocess.run([*bench, whole / "dispatch.json"], capture_output=True, check=True)
    subprocess.run([sys.executable, SOURCE / "measure/keep.py", whole, kept], check=True)
    lines = (kept / "dispatch.json").read_text().splitlines()
    assert len(lines) < len((whole / "dispatch.json").read_text().splitlines()) / 4
    against = ["--against", str(kept / "dispatch.json")]
    done = subprocess.run([*bench, "-", *against], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (document,) = [json.loads(done.stdout)]
    assert len(document["against"]["rows"]) == len(document["figures"])


def test_the_same_runs_make_the_same_page_also_on_standard_output(
    command: Report, results: Write
) -> None:
    directory = results({"dispatch": sample.dispatch()})
    pages = [command("--output", "-", directory).stdout for _ in range(2)]
    assert pages[0] == pages[1]
    assert pages[0].startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("options", [[], ["--output", "-"]])
@pytest.mark.parametrize(
    ("redirection", "why"),
    [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")],
)
def test_a_standard_output_that_takes_nothing(
    ferry_path: Path,
    environment: dict[str, str],
    results: Write,
    options: list[str],
    redirection: str,
    why: str,
) -> None:
    directory = results({"dispatch": sample.dispatch()})
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {redirection}', ferry_path, "report", *options, directory],
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (2, f"ferry: report: standard output: {why}\n")


def test_an_output_that_is_a_link_stays_one(
    command: Report, results: Write, tmp_path: Path
) -> None:
    directory = results({"dispatch": sample.dispatch()})
    page, link = tmp_path / "page.html", tmp_path / "latest.html"
    page.write_text("old")
    link.symlink_to("page.html")
    assert command("--output", link, directory).returncode == 0
    assert link.is_symlink()
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_the_command_refuses_bad_input(command: Report, results: Write) -> None:
    directory = results({"new": sample.dispatch() | {"version": 3}})
    done = command(directory)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"ferry: report: {directory / 'new.json'}: version 3 ")


def test_the_current_directory_is_not_searched_for_modules(command: Report, results: Write) -> None:
    directory = results({"dispatch": sample.dispatch()})
    for module in ("json", "signal", "numpy"):
        (directory / f"{module}.py").write_text("raise SystemExit('the wrong module')\n")
    done = command(".", cwd=directory)
    assert (done.returncode, done.stderr) == (0, "")


def with_path(*places: Path) -> dict[str, str]:
    return os.environ | {"PATH": ":".join([*map(str, places), os.environ["PATH"]])}


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def tree(ferry_path: Path, tmp_path: Path) -> Path:
    """A copy of a build tree, with nothing around it."""
    (tmp_path / "around" / "build" / "cli").mkdir(parents=True)
    shutil.copy(ferry_path, tmp_path / "around" / "build" / "cli" / "ferry")
    shutil.copytree(SOURCE / "report", tmp_path / "around/build/report")
    return tmp_path / "around" / "build"


def run(program: Path, *args: str | Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, "report", *args], env=env, capture_output=True, text=True, check=False
    )


def test_the_tree_s_own_python_is_preferred(tree: Path) -> None:
    script(tree.parent / ".venv" / "bin" / "python3", 'echo "own: $4 $5"')
    done = run(tree / "cli" / "ferry", "results", env=dict(os.environ))
    assert done.stdout == "own: results/report.html results\n"


def test_the_installed_package_is_found(
    tree: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "usr" / "bin").mkdir(parents=True)
    (tmp_path / "usr" / "share" / "ferry").mkdir(parents=True)
    shutil.move(tree / "cli" / "ferry", tmp_path / "usr/bin/ferry")
    shutil.move(tree / "report", tmp_path / "usr/share/ferry/report")
    directory = tmp_path / "results"
    directory.mkdir()
    (directory / "run.json").write_text(json.dumps(sample.dispatch()))
    done = run(tmp_path / "usr/bin/ferry", directory, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert (directory / "report.html").exists()


def test_a_package_that_is_nowhere(tree: Path) -> None:
    shutil.rmtree(tree / "report")
    done = run(tree / "cli" / "ferry", "results", env=dict(os.environ))
    assert done.returncode == 1
    assert "report" in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_python(tree: Path) -> None:
    done = run(tree / "cli" / "ferry", "results", env=os.environ | {"PATH": "/nowhere"})
    assert done.returncode == 1
    assert "Python 3.11 or later is needed" in done.stderr


def test_a_python_without_the_packages(tree: Path, tmp_path: Path) -> None:
    script(tmp_path / "bin" / "python3", f'exec "{sys.executable}" -S "$@"')
    done = run(tree / "cli" / "ferry", "results", env=with_path(tmp_path / "bin"))
    assert done.returncode == 1
    assert "lacks the package '" in done.stderr
    assert "pip install matplotlib jinja2" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("moment", [0.0, 0.1, 0.4, 0.8])
def test_ctrl_c_leaves_nothing(
    ferry_path: Path, environment: dict[str, str], results: Write, moment: float
) -> None:
    directory = results(sample.all_benches())
    command = subprocess.Popen(
        [ferry_path, "report", directory],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(moment)
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate(timeout=60)
    assert command.returncode == -signal.SIGINT
    assert errors == ""
    assert {path.suffix for path in directory.iterdir()} == {".json"}
