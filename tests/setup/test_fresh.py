# SPDX-License-Identifier: MIT
"""What make check-fresh reports, and that it leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from downloads import packages, python_packages
from fresh import INPUTS, STEPS, Step, has_passed, inputs_of, record_of, skipped_tests
from roots import environment, own_directory, owned, running, sources, sweep

import lab.debian.mirrors

APT = """\
Fetched 241 kB in 0s (1140 kB/s)
Need to get 61.7 MB of archives.
Fetched 61.7 MB in 1s (106 MB/s)
"""
PIP = """\
2026-01-01T00:00:00,000   Downloading numpy-2.2.6-cp311-cp311-manylinux.whl (16.8 MB)
2026-01-01T00:00:01,000   Downloading meson-1.7.2-py3-none-any.whl.metadata (1.8 kB)
2026-01-01T00:00:02,000   Downloading Jinja2-3.1.6-py3-none-any.whl (134 kB)
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")


def test_downloads_are_added_up() -> None:
    assert packages(APT) == pytest.approx(61.941)
    assert packages("Need to get 61.7 MB of archives.\n") == 0
    assert python_packages(PIP) == pytest.approx(16.9358)


def test_a_step_is_one_line() -> None:
    step = Step("12", "make run", 125.4, 0, {"of packages": 61.7, "from PyPI": 41.2})
    assert step.line() == (
        "debian-12: make run: passed in 2 min 05 s,"
        " downloaded 62 MB of packages and 41 MB from PyPI"
    )
    assert Step("13", "make check", 60, 2).line() == (
        "debian-13: make check: FAILED with status 2 in 1 min 00 s"
    )


def test_skipped_tests_are_named(tmp_path: Path) -> None:
    logs = tmp_path / "build-asan" / "meson-logs"
    logs.mkdir(parents=True)
    results = [{"name": "flexsc", "result": "OK"}, {"name": "tracer", "result": "SKIP"}]
    (logs / "testlog.json").write_text("".join(f"{json.dumps(result)}\n" for result in results))
    assert skipped_tests(tmp_path) == ["build-asan: tracer"]


def commit_all(clone: Path) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
    subprocess.run(["git", "-C", clone, "add", "."], check=True)
    subprocess.run(["git", "-C", clone, *who, "commit", "-q", "-m", "all"], check=True)


def test_a_step_is_repeated_when_an_input_changed_or_the_record_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRY_CACHE", str(tmp_path / "cache"))
    clone = tmp_path / "clone"
    monkeypatch.setattr("fresh.REPOSITORY", clone)
    for path in INPUTS["names"]:
        (clone / path).mkdir(parents=True)
        (clone / path / "file").write_text("old")
    subprocess.run(["git", "init", "-q", clone], check=True)
    commit_all(clone)
    assert not has_passed("12", "names")
    record_of("12", "names").write_text(inputs_of("names", clone))
    assert has_passed("12", "names")
    assert not has_passed("13", "names")
    (clone / "other").write_text("an input of other steps")
    commit_all(clone)
    assert has_passed("12", "names")
    os.utime(record_of("12", "names"), (0, 0))
    assert not has_passed("12", "names")
    os.utime(record_of("12", "names"))
    (clone / "setup" / "file").write_text("new")
    commit_all(clone)
    assert not has_passed("12", "names")


def test_inputs_exist() -> None:
    assert set(INPUTS) <= set(STEPS)
    for name in INPUTS:
        assert inputs_of(name, Path(__file__).parents[2])


def test_a_whole_check_is_always_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRY_CACHE", str(tmp_path))
    record_of("12", "check").write_text("")
    assert not has_passed("12", "check")


def test_sources_are_this_machines_mirrors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.list").write_text("deb http://mirror.invalid/debian bookworm main\n")
    monkeypatch.setattr(
        "roots.find_mirror", lambda suite: lab.debian.mirrors.find_mirror(suite, tmp_path)
    )
    assert sources("13") == (
        "deb http://mirror.invalid/debian trixie main\n"
        "deb http://mirror.invalid/debian trixie-updates main\n"
    )


def test_the_environment_is_a_new_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRY_CACHE", str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://proxy.invalid")
    monkeypatch.setenv("FERRY_ENGINE", "loop")
    names = [setting.partition("=")[0] for setting in environment()]
    assert "https_proxy" in names
    assert "FERRY_ENGINE" not in names


def test_only_roots_without_an_owner_are_swept(tmp_path: Path) -> None:
    for name in ("use-dead", "use-alive"):
        (tmp_path / name / "root").mkdir(parents=True)
    with owned(tmp_path / "use-alive"):
        sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["use-alive"]


def test_a_root_is_owned_until_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRY_CACHE", str(tmp_path / "cache"))
    removed = []

    def remove(path: Path) -> None:
        with pytest.raises(BlockingIOError), owned(path, wait=False):
            pass
        removed.append(path)

    monkeypatch.setattr("roots.shutil.rmtree", remove)
    with own_directory(tmp_path) as path:
        assert path.is_dir()
    assert removed == [path]


def processes_with(word: str) -> list[str]:
    found = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE, text=True, check=True)
    return [line for line in found.stdout.splitlines() if line == word]


def wait_until_gone(word: str) -> list[str]:
    for _ in range(100):
        if not processes_with(word):
            break
        time.sleep(0.05)
    return processes_with(word)


@needs_root
def test_a_command_that_ends_early_leaves_no_process(tmp_path: Path) -> None:
    with running(["sh", "-c", "setsid sleep 987651 & wait"], tmp_path / "log") as process:
        while not processes_with("sleep 987651"):
            assert process.poll() is None
            time.sleep(0.02)
    assert not wait_until_gone("sleep 987651")


@needs_root
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_owner_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    script = (
        "import sys; from pathlib import Path; from roots import running\n"
        "with running(['sleep', '987652'], Path(sys.argv[1])) as process: process.wait()\n"
    )
    folder = Path(__file__).parent
    owner = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log")],
        env=os.environ | {"PYTHONPATH": f"{folder}:{folder.parents[1]}"},
    )
    while not processes_with("sleep 987652"):
        assert owner.poll() is None
        time.sleep(0.02)
    owner.send_signal(number)
    owner.wait()
    assert not wait_until_gone("sleep 987652")
