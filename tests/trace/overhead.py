# SPDX-License-Identifier: MIT
"""Measures what counting with BPF adds to the CPU time of a program that makes many calls.

    python3 tests/trace/overhead.py [BUILD [SECONDS]]

dd copies zeroes, with a size of blocks that gives some 500,000 calls a second.  It runs untraced
and traced in turn, each time for about SECONDS, 1 unless given: the sample, whose calls cost more,
takes a third of the calls of the first second, and ever less of those that follow.  The tracer
follows the children of this process.  Each of these runs is made of short ones, and the median of
them is taken, since what disturbs a machine comes in bursts.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAIRS = 21
RUNS = 20  # a second, on each side of a pair
BLOCKS = 10_000  # in a run; each is a read and a write
RATE = 500_000  # calls a second


def run(size: int) -> float:
    child = subprocess.Popen(
        ["dd", "if=/dev/zero", "of=/dev/null", f"bs={size}", f"count={BLOCKS}", "status=none"]
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_utime + usage.ru_stime


def cpu_seconds(size: int, seconds: int = 1) -> float:
    """Of one run: the median of several."""
    return statistics.median(run(size) for _ in range(RUNS * seconds))


def size_for_rate() -> int:
    """The size of blocks with which dd makes about RATE calls a second of CPU time."""
    size = 4096
    while 2 * BLOCKS / cpu_seconds(size) > RATE:
        size += 4096
    return size


def traced(ferry: Path, size: int, seconds: int) -> tuple[float, float]:
    """The same of traced runs, and what the tracer says that it cost them."""
    with tempfile.TemporaryFile() as report:
        tracer = subprocess.Popen(
            [ferry, "trace", "--json", "--method", "bpf", "--pid", str(os.getpid())], stdout=report
        )
        time.sleep(2)  # it loads its programs
        used = cpu_seconds(size, seconds)
        tracer.send_signal(signal.SIGINT)
        assert tracer.wait() == 0
        report.seek(0)
        found = json.load(report)
    return used, found["tracing_ns"]["value"] / found["total"] * 2 * BLOCKS / 1e9


def main() -> None:
    ferry = Path(sys.argv[1] if len(sys.argv) > 1 else "build") / "cli" / "ferry"
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    size = size_for_rate()
    pairs = [
        (cpu_seconds(size, seconds), *traced(ferry, size, seconds))
        for _ in range(max(PAIRS // seconds, 5))
    ]
    to_ns = 1e9 / (2 * BLOCKS)  # for each call
    added = [(with_it - without) * to_ns for without, with_it, _ in pairs]
    said = statistics.median(cost for _, _, cost in pairs) * to_ns
    low, median, high = statistics.quantiles(added, n=4)
    print(f"BPF adds {median:.0f} ns to a call, in {len(pairs)} pairs; ferry trace says {said:.0f}")
    print(f"half of the pairs are from {low:.0f} to {high:.0f} ns")
    print(f"that is {median * RATE / 1e9:.1%} of CPU time at {RATE:,} calls a second")


if __name__ == "__main__":
    main()
