# SPDX-License-Identifier: MIT
"""Compares what ferry trace predicts with what the change saves.

    python3 tests/trace/predictions.py [BUILD]

Each row is a program in two forms.  The first is traced, both are timed in turn, and the CPU time
that the second saves is compared with the prediction.  Run it on a quiet machine.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TRIALS = 11
WITHIN = 0.2  # of the measured saving
NOTHING = 0.05  # of the CPU time, if there is nothing to gain
ERRORS = 1.96  # 95 of 100 times


@dataclass
class Pair:
    name: str
    saving: str  # in the report of ferry trace
    now: list[str]
    instead: list[str]


def pairs(build: Path, work: Path) -> list[Pair]:
    deeds, rw = (str(build / path) for path in ("tests/trace/deeds", "examples/rw"))
    ferry = str(build / "cli" / "ferry")
    data = work / "data"
    data.write_bytes(b"x" * (1 << 20))

    def copy(size: int) -> list[str]:
        return ["sh", "-c", f"exec {rw} -b {size} <{data} >{work / 'copy'}"]

    def dd(size: str) -> list[str]:
        return ["dd", f"if={data}", "of=/dev/null", f"bs={size}", "status=none"]

    def batch(call: str, engine: str) -> list[str]:
        script = work / f"{call}.ferry"
        mode = "O_RDWR | O_CREAT"
        lines = [f'string path "{work / "file"}"', "buffer data 64"]
        lines += [f"file: openat(AT_FDCWD, path, {mode}, 420)  fail -> end"]
        # A result can be forwarded over 255 slots: the descriptor of a new process is 3.
        lines += [f"{call}(3, data, 64, 0)"] * 20000
        script.write_text("\n".join(lines) + "\n")
        return [ferry, "run", "--engine", engine, str(script)]

    return [
        Pair("rw, 16 bytes and 64 KiB", "buffers", copy(16), copy(65536)),
        Pair("rw, 64 bytes and 64 KiB", "buffers", copy(64), copy(65536)),
        Pair("rw, 512 bytes and 64 KiB", "buffers", copy(512), copy(65536)),
        Pair("dd, 16 bytes and 64 KiB", "buffers", dd("16"), dd("64K")),
        Pair("dd, 256 bytes and 64 KiB", "buffers", dd("256"), dd("64K")),
        Pair(
            "time, trap and vDSO",
            "vdso",
            [deeds, "time", "200000"],
            [deeds, "time_by_vdso", "200000"],
        ),
        Pair(
            "pread64, loop and io_uring",
            "uring",
            batch("pread64", "loop"),
            batch("pread64", "uring"),
        ),
        Pair(
            "pwrite64, loop and io_uring",
            "uring",
            batch("pwrite64", "loop"),
            batch("pwrite64", "uring"),
        ),
        Pair(
            "memory, touched and ahead",
            "faults",
            [deeds, "touch", "20000"],
            [deeds, "touch_ahead", "20000"],
        ),
        Pair(
            "memory, 4 times as much",
            "faults",
            [deeds, "touch", "80000"],
            [deeds, "touch_ahead", "80000"],
        ),
    ]


def cpu_ns(command: list[str]) -> float:
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=ENVIRONMENT
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return (usage.ru_utime + usage.ru_stime) * 1e9


ENVIRONMENT = {**os.environ, "FERRY_ENGINE": "loop"}


def predicted(ferry: Path, pair: Pair) -> tuple[float, float]:
    """The saving and its error in ns; 0 and 0 where there is nothing to gain."""
    options = [] if pair.saving == "faults" else ["--once"]
    done = subprocess.run(
        [ferry, "trace", "--json", *options, *pair.now],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=ENVIRONMENT,
        check=True,
    )
    saving = next(s for s in json.loads(done.stdout)["savings"] if s["name"] == pair.saving)
    if saving["missing"]:
        return 0, 0
    return saving["saved_ns"]["value"], saving["saved_ns"]["error"]


def measured(pair: Pair) -> tuple[float, float]:
    """The CPU time in ns that is saved, and that of the program as it is."""
    trials = [(cpu_ns(pair.now), cpu_ns(pair.instead)) for _ in range(TRIALS)]
    saved = statistics.median(now - instead for now, instead in trials)
    return saved, statistics.median(now for now, _ in trials)


def holds(value: float, error: float, saved: float, all_of_it: float) -> bool:
    if not value:
        return saved < NOTHING * all_of_it
    return abs(value - saved) <= max(WITHIN * abs(saved), ERRORS * error)


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").absolute()
    good = 0
    with tempfile.TemporaryDirectory() as work:
        all_pairs = pairs(build, Path(work))
        print(f"{'PROGRAM':28} {'PREDICTED ms':>12} {'ERROR':>8} {'MEASURED':>8}")
        for pair in all_pairs:
            value, error = predicted(build / "cli" / "ferry", pair)
            saved, all_of_it = measured(pair)
            right = holds(value, error, saved, all_of_it)
            good += right
            print(
                f"{pair.name:28} {value / 1e6:12.3f} {error / 1e6:8.3f} {saved / 1e6:8.3f}"
                f"  {'holds' if right else 'is off'}",
                flush=True,
            )
    print(f"{good} of {len(all_pairs)} predictions hold.")


if __name__ == "__main__":
    main()
