# SPDX-License-Identifier: MIT
"""ferry trace reports while tracing goes on, and traces the processes of a cgroup."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import refused

WRITES = "import os, time\nwhile True:\n    for _ in range(200): os.getppid()\n    time.sleep(0.01)"


def documents(text: str) -> list[dict[str, Any]]:
    decoder, found = json.JSONDecoder(), []
    while text := text.strip():
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:]
    return found


def calls(report: dict[str, Any], name: str) -> int:
    return sum(row["calls"] for row in report["calls"] if row["call"] == name)


@contextmanager
def running(*command: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_reports_at_intervals(ferry_path: Path, method: str) -> None:
    with running(sys.executable, "-c", WRITES) as program:
        options = ["--json", "--method", method, "--interval", "1", "--duration", "3"]
        done = subprocess.run(
            [ferry_path, "trace", *options, "--pid", str(program.pid)],
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=True,
        )
        assert program.poll() is None
    reports = documents(done.stdout)
    assert len(reports) >= 3
    assert [each["report"] for each in reports] == list(range(1, len(reports) + 1))
    assert all(each["goes_on"] for each in reports)
    assert sum(each["traced_ns"] for each in reports) == pytest.approx(3e9, rel=0.2)
    for each in reports[:-1]:
        assert calls(each, "getppid") > 200
        assert each["total"] == sum(row["calls"] for row in each["calls"])
        assert each["threads"] == 1


def test_no_call_is_lost_between_two_reports(ferry_path: Path, method: str) -> None:
    program = "import os, time\nfor _ in range(300): os.getppid(); time.sleep(0.01)"
    done = subprocess.run(
        [ferry_path, "trace", "--json", "-m", method, "-i", "1", sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    reports = documents(done.stdout)
    assert len(reports) >= 3
    assert sum(calls(each, "getppid") for each in reports) == 300
    assert [each["status"] for each in reports] == [None] * (len(reports) - 1) + [0]


def test_a_signal_asks_for_a_report(ferry_path: Path, method: str, tmp_path: Path) -> None:
    output = tmp_path / "report"
    options: list[str | Path] = ["--interval", "0", "--output", output, "--method", method]
    with running(sys.executable, "-c", WRITES) as program:
        tracer = subprocess.Popen([ferry_path, "trace", *options, "--pid", str(program.pid)])
        time.sleep(1)
        for _ in range(100):
            time.sleep(0.2)
            tracer.send_signal(signal.SIGUSR1)
            if output.exists():
                break
        assert "; tracing goes on." in output.read_text()
        tracer.send_signal(signal.SIGINT)
        assert tracer.wait(timeout=30) == 0
    assert "is the last" in output.read_text()


# ---- a cgroup ----


@pytest.fixture
def cgroup() -> Iterator[Path]:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    root = next((Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"), None)
    if not root or not os.access(root, os.W_OK):
        pytest.skip("no cgroup of version 2 can be made here")
    path = root / f"ferry-test-{os.getpid()}"
    path.mkdir()
    yield path
    for _ in range(100):
        try:
            (path / "below").rmdir() if (path / "below").exists() else None
            path.rmdir()
            break
        except OSError:
            time.sleep(0.1)


def within(cgroup: Path, *command: str) -> list[str]:
    return ["sh", "-c", f'echo $$ > {cgroup}/cgroup.procs && exec "$@"', "sh", *command]


@pytest.mark.usefixtures("bpf")
def test_a_cgroup_and_who_enters_it_later(ferry_path: Path, cgroup: Path) -> None:
    (cgroup / "below").mkdir()
    loop = "import os, time\nwhile True:\n    os.CALL()\n    time.sleep(0.01)"
    with running(*within(cgroup, sys.executable, "-c", loop.replace("CALL", "getppid"))):
        time.sleep(0.5)
        tracer = subprocess.Popen(
            [ferry_path, "trace", "--json", "--cgroup", cgroup, "--duration", "4"],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(1.5)
        new = within(cgroup / "below", sys.executable, "-c", loop.replace("CALL", "getpgrp"))
        outside = [sys.executable, "-c", loop.replace("CALL", "getuid")]
        with running(*new), running(*outside):
            text = tracer.communicate(timeout=60)[0]
    (report,) = documents(text)
    assert calls(report, "getppid") > 50
    assert calls(report, "getpgrp") + calls(report, "getpgid") > 30
    assert calls(report, "getuid") < 30  # a start of Python makes some
    assert report["time"]["cpu_ns"] > 0


@pytest.mark.usefixtures("bpf")
def test_an_empty_cgroup_is_waited_for(ferry_path: Path, cgroup: Path) -> None:
    done = subprocess.run(
        [ferry_path, "trace", "--json", "--cgroup", cgroup, "--duration", "1"],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    (report,) = documents(done.stdout)
    assert report["traced_ns"] > 0.9e9
    assert report["total"] == 0


def test_bad_targets_are_named(ferry_path: Path) -> None:
    for arguments, reason in (
        (["--cgroup", "/usr"], "'/usr' is not a cgroup of version 2"),
        (["--interval", "x", "true"], "'x' is not a number of seconds"),
        (["--interval", "1", "-n", "1", "true"], "--interval and --program exclude each other"),
    ):
        refused(ferry_path, arguments, reason)
