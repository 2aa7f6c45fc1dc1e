# SPDX-License-Identifier: MIT
"""Compares the CPU time of traced programs, less the cost of tracing, with that of untraced ones.

    python3 tests/trace/accuracy.py [BUILD [RUNS]]

Each program runs untraced and traced with BPF, in turn, RUNS times each, 7 unless given.  The ratio
of the medians is to be within 5 % of 1 for the programs of Debian; loops of one call are harder.
The untraced ones start after a pause, as the traced ones do, which wait until BPF is ready: a
program that starts with cold caches takes some 0.3 ms of CPU time more.
As root, for BPF.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIVEN = 0.05  # of the untraced CPU time
PAUSE = 0.05  # s: about as long as BPF needs to be ready


def programs(build: Path, work: Path) -> dict[str, list[str]]:
    waste = str(build / "tests" / "trace" / "waste")
    repository = work / "repository"
    small = repository / "small"
    small.mkdir(parents=True)
    for n in range(1500):
        (small / f"file{n}").write_text(f"{n}\n" * 100)
    git = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "files"]):
        subprocess.run([*git, *arguments], check=True)
    return {
        "dd, 512 bytes": ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=60000"],
        "tar of 1,500 files": ["tar", "-cf", str(work / "o.tar"), str(small)],
        "ls -lR": ["ls", "-lR", "/usr/share/doc"],
        "du": ["du", "-s", "/usr/share/doc"],
        "git status": [*git, "status"],
        "getpid and fcntl": [waste, "value", str(work)],
        "stat": [waste, "question", str(work), "60000"],
        "clock_gettime": [waste, "clock", str(work)],
        "write of a byte": [waste, "tiny", str(work)],
    }


def untraced(command: list[str]) -> float:
    time.sleep(PAUSE)
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return usage.ru_utime + usage.ru_stime


def traced(ferry: Path, command: list[str]) -> float:
    done = subprocess.run(
        [ferry, "trace", "--json", "--method", "bpf", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    cpu_ns: float = json.loads(done.stdout)["time"]["cpu_ns"]
    return cpu_ns / 1e9


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    print("| program | untraced, ms | traced, ms | ratio | half of the ratios | |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory(dir=".") as directory:
        for name, command in programs(build, Path(directory).resolve()).items():
            untraced(command)
            both = [
                (untraced(command), traced(build / "cli" / "ferry", command)) for _ in range(runs)
            ]
            plain, less = (statistics.median(side) for side in zip(*both, strict=True))
            low, _, high = statistics.quantiles([b / a for a, b in both], n=4)
            good = abs(less / plain - 1) <= GIVEN
            print(
                f"| {name} | {1e3 * plain:.1f} | {1e3 * less:.1f} | {less / plain:.2f} "
                f"| {low:.2f} to {high:.2f} | {'holds' if good else 'is off'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
