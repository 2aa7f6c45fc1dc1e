# SPDX-License-Identifier: MIT
"""ferry-lab show: what it prints of a guest's documents."""

import json
import os
from pathlib import Path

import pytest

from lab import LabError, show
from lab.kernels.build import Kernel

BATCH = {
    "kernel": {"release": "7.3.4-ferry-tiny"},
    "series": [
        {"engine": "loop", "least_ns": [2500.0, 160_000.0]},
        {"engine": "syscall", "least_ns": [2600.0, 6400.0]},
    ],
    "at_sizes": [
        {"size": 1, "ratio": 0.9, "significant": False},
        {"size": 64, "ratio": 24.5, "significant": True},
    ],
}
APPS = {
    "comparisons": [
        {
            "app": app,
            "side": side,
            "against": against,
            "median_ns": [10e6, 20e6],
            "ratio": {"median": 2.0},
            "significant": app == "total",
        }
        for app in ("total", "mdu")
        for side, against in (("syscall", "loop"), ("syscall", "cat"))
    ]
}
FLEXSC = {
    "cells": [
        {"way": "plain", "available": True, "median": 2500.0, "threads": None},
        {"way": "sqpoll", "available": False},
        {
            "way": "flexsc",
            "available": True,
            "median": 500.0,
            "threads": 64,
            "ratio": 5.0,
            "significant": True,
        },
    ]
}
TABLE = """
                                         CALL BY CALL    FERRY  TIMES AS FAST
write(), 64 slots in a batch, per call         2.5 us   100 ns           24.5
total: sum 2000 small files                     20 ms    10 ms              2
mdu: disk usage of 10000 files                  20 ms    10 ms          noise
write(), posted by 64 threads, per call        2.5 us   500 ns              5
Other programs or chance had a part in this: repeat while nothing else runs on two CPUs.

Each call in the batch saves a crossing: 2.4 us here, where it is a switch between two"""
DOCUMENTS = {"batch": BATCH, "apps": APPS, "flexsc": FLEXSC}
# In place of the guest's ferry: writes the document of its bench.
FERRY = """#!/bin/sh
echo "table of $2 on $(nproc)"
while [ "$1" != --json ]; do bench=$2; shift; [ -n "$name" ] || name=$bench; done
cp "${0%/*}/$name.json" "$2"
"""


@pytest.fixture
def programs(tmp_path: Path, fake_guest: Kernel, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build directory; its ferry runs in a guest that is a shell script."""
    folder = tmp_path / "build" / "cli"
    folder.mkdir(parents=True)
    (folder / "ferry").write_text(FERRY)
    (folder / "ferry").chmod(0o755)
    for name, document in DOCUMENTS.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    (fake_guest.directory / "behaviour").write_text("run_command\n")
    monkeypatch.setattr(show, "PREPARE", {})
    monkeypatch.setattr(show, "build", lambda _: fake_guest)
    return folder.parent


def test_each_job_is_a_line(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show.show(programs)
    printed = capsys.readouterr().out
    assert TABLE in printed
    assert printed.startswith("Linux 7.3.4-ferry-tiny with ferry's patches")
    both = min(2, len(os.sched_getaffinity(0)))
    assert (programs / "kernel-results" / "guest.log").read_text() == (
        f"table of batch on 1\ntable of apps on 1\ntable of flexsc on {both}\n"
    )


def test_what_was_not_measured_in_time_is_named(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flexsc = {"cells": [{"way": "flexsc", "available": True}]}
    (programs / "cli" / "flexsc.json").write_text(json.dumps(flexsc))
    late = FERRY.replace("cp ", '[ "$name" = apps ] && exit 124\ncp ')
    (programs / "cli" / "ferry").write_text(late)
    show.show(programs)
    printed = capsys.readouterr().out
    assert "24.5\nThe others could not be measured in 60 s.\nOther programs" in printed
    (programs / "cli" / "ferry").write_text("#!/bin/sh\nexit 124\n")
    with pytest.raises(LabError, match="nothing was measured in 60 s; repeat on a quiet machine"):
        show.show(programs)


def test_a_failed_bench_is_named(programs: Path) -> None:
    (programs / "cli" / "ferry").write_text("#!/bin/sh\necho 'ferry bench: out of luck'\nexit 1\n")
    with pytest.raises(LabError, match="a bench in the guest failed: ferry bench: out of luck; .*"):
        show.show(programs)


def test_without_a_build_it_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="cli/ferry is not there; 'make build' makes it"):
        show.show(tmp_path)


@pytest.mark.parametrize(
    ("time", "words"), [(59.04, "59 ns"), (2840.0, "2.84 us"), (1.25e7, "12.5 ms"), (3e9, "3 s")]
)
def test_times_are_short(time: float, words: str) -> None:
    assert show.amount(time) == words
