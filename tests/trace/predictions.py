# SPDX-License-Identifier: MIT
"""Compares what ferry trace predicts with what the change saves.

    python3 tests/trace/predictions.py [BUILD]
    taskset --cpu-list 1 lab/ferry-lab boot --cpus 1 uml-7.3 -- \\
        python3 tests/trace/predictions.py build

Each row is a program in two forms.  The first is traced, both are timed in turn, and the time that
the second saves is compared with the prediction.  Run it on a quiet machine.  A user-mode kernel
needs to stay on one CPU: a crossing that wakes another takes up to ten times as long.

Where the kernel has the batch series, the forms are a loop and batches, and the time is what
passes: a user-mode kernel counts CPU time in ticks.  Elsewhere they do without batches, and the
time is that of the CPU.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TRIALS = 11
WITHIN = 0.2  # of the measured saving
NOTHING = 0.05  # of the time, if there is nothing to gain
ERRORS = 1.96  # 95 of 100 times


@dataclass
class Pair:
    name: str
    saving: str  # in the report of ferry trace
    now: list[str]
    instead: list[str]
    engine: str = "loop"  # of the second form


def copy(rw: Path, work: Path, options: str) -> list[str]:
    data = work / "data"
    data.write_bytes(b"x" * (1 << 20))
    return ["sh", "-c", f"exec {rw} {options} <{data} >{work / 'copy'}"]


def script(work: Path) -> str:
    """A program for ferry run, which reads 20,000 times."""
    path = work / "pread64.ferry"
    mode = "O_RDWR | O_CREAT"
    lines = [f'string path "{work / "file"}"', "buffer data 64"]
    lines += [f"file: openat(AT_FDCWD, path, {mode}, 420)  fail -> end"]
    # A result can be forwarded over 255 slots: the descriptor of a new process is 3.
    lines += ["pread64(3, data, 64, 0)"] * 20000
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def tree_of_files(top: Path) -> list[Path]:
    """Directories with 500 small files each."""
    directories = [top / f"{number:02}" for number in range(16)]
    for directory in directories:
        directory.mkdir(parents=True)
        for number in range(500):
            (directory / f"{number:03}").write_bytes(b"ferry")
    return directories


def pairs_of_batches(build: Path, work: Path) -> list[Pair]:
    examples, bulk = build / "examples", str(build / "tests/trace/bulk")
    ferry = str(build / "cli" / "ferry")
    tree = work / "tree"
    directories = tree_of_files(tree)
    files = [str(path) for path in directories[0].iterdir()]
    nowhere = ":".join(f"/{number}" for number in range(10000))

    def pair(name: str, *command: str, saving: str = "batch") -> Pair:
        return Pair(name, saving, list(command), list(command), "syscall")

    return [
        pair("mdu", str(examples / "mdu"), str(tree)),
        pair("ftw", str(examples / "ftw"), str(tree)),
        pair("total", str(examples / "total"), *files * 6),
        pair("pathsearch", "sh", "-c", f"! {examples / 'pathsearch'} no-such-file {nowhere}"),
        pair("rw, 16 bytes, 64 pairs", *copy(examples / "rw", work, "-b 16 -p 64")),
        pair("rw, 256 bytes, 64 pairs", *copy(examples / "rw", work, "-b 256 -p 64")),
        pair("ferry run, pread64", ferry, "run", script(work)),
        pair("ferry du", ferry, "du", str(tree), saving="files"),
        pair("ferry_statx_many()", bulk, "stat", str(directories[0]), "30", saving="files"),
        pair("ferry_read_files()", bulk, "read", str(directories[0]), "20"),
    ]


def pairs_without_batches(build: Path, work: Path) -> list[Pair]:
    deeds, rw = str(build / "tests/trace/deeds"), build / "examples/rw"

    def rw_of(size: int) -> list[str]:
        return copy(rw, work, f"-b {size}")

    def dd(size: str) -> list[str]:
        return ["dd", f"if={work / 'data'}", "of=/dev/null", f"bs={size}", "status=none"]

    return [
        Pair("rw, 16 bytes and 64 KiB", "buffers", rw_of(16), rw_of(65536)),
        Pair("rw, 64 bytes and 64 KiB", "buffers", rw_of(64), rw_of(65536)),
        Pair("rw, 512 bytes and 64 KiB", "buffers", rw_of(512), rw_of(65536)),
        Pair("dd, 16 bytes and 64 KiB", "buffers", dd("16"), dd("64K")),
        Pair("dd, 256 bytes and 64 KiB", "buffers", dd("256"), dd("64K")),
        Pair(
            "time, trap and vDSO",
            "vdso",
            [deeds, "time", "200000"],
            [deeds, "time_by_vdso", "200000"],
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


def environment(engine: str) -> dict[str, str]:
    return {**os.environ, "FERRY_ENGINE": engine}


def spent_ns(command: list[str], engine: str, elapsed: bool) -> float:
    start = time.monotonic_ns()
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment(engine)
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    if elapsed:
        return time.monotonic_ns() - start
    return (usage.ru_utime + usage.ru_stime) * 1e9


def predicted(ferry: Path, pair: Pair) -> tuple[float, float]:
    """The saving and its error in ns; 0 and 0 where there is nothing to gain."""
    options = ["--twice"] if pair.saving == "faults" else []
    # For the program alone: ferry trace measures what the other engines save.
    program = ["env", "FERRY_ENGINE=loop", *pair.now]
    done = subprocess.run(
        [ferry, "trace", "--json", *options, *program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    saving = next(s for s in json.loads(done.stdout)["savings"] if s["name"] == pair.saving)
    if saving["missing"]:
        return 0, 0
    return saving["saved_ns"]["value"], saving["saved_ns"]["error"]


def measured(pair: Pair, elapsed: bool) -> tuple[float, float]:
    """The time in ns that is saved, and that of the program as it is."""
    trials = [
        (spent_ns(pair.now, "loop", elapsed), spent_ns(pair.instead, pair.engine, elapsed))
        for _ in range(TRIALS)
    ]
    saved = statistics.median(now - instead for now, instead in trials)
    return saved, statistics.median(now for now, _ in trials)


def holds(value: float, error: float, saved: float, all_of_it: float) -> bool:
    if not value:
        return saved < NOTHING * all_of_it
    return abs(value - saved) <= max(WITHIN * abs(saved), ERRORS * error)


def has_series(ferry: Path) -> bool:
    """Whether batches run in one crossing here."""
    done = subprocess.run(
        [ferry, "run", "--engine", "syscall", "-"], input=b"getppid()\n", capture_output=True
    )
    return done.returncode == 0


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").absolute()
    ferry = build / "cli" / "ferry"
    series = has_series(ferry)
    good = 0
    with tempfile.TemporaryDirectory() as work:
        make_pairs = pairs_of_batches if series else pairs_without_batches
        all_pairs = make_pairs(build, Path(work))
        print(f"{'PROGRAM':28} {'PREDICTED ms':>12} {'ERROR':>8} {'MEASURED':>8}")
        for pair in all_pairs:
            value, error = predicted(ferry, pair)
            saved, all_of_it = measured(pair, elapsed=series)
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
