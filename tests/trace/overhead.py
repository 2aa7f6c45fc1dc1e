# SPDX-License-Identifier: MIT
"""Measures what counting with BPF adds to the CPU time of a program that makes many calls.

    python3 tests/trace/overhead.py [BUILD]

dd copies zeroes, with a size of blocks that gives some 500,000 calls a second.  It runs untraced
and traced in turn, each time for about a second; the tracer follows the children of this process.
Each of these runs is made of short ones, and the median of them is taken, since what disturbs a
machine comes in bursts.
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
RUNS = 20  # on each side of a pair
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


def cpu_seconds(size: int) -> float:
    """Of one run: the median of several."""
    return statistics.median(run(size) for _ in range(RUNS))


def size_for_rate() -> int:
    """The size of blocks with which dd makes about RATE calls a second of CPU time."""
    size = 4096
    while 2 * BLOCKS / cpu_seconds(size) > RATE:
        size += 4096
    return size


def traced(ferry: Path, size: int) -> tuple[float, float]:
    """The same of traced runs, and what the tracer says that it cost them."""
    with tempfile.TemporaryFile() as report:
        tracer = subprocess.Popen(
            [ferry, "trace", "--json", "--method", "bpf", "--pid", str(os.getpid())], stdout=report
        )
        time.sleep(2)  # it loads its programs
        seconds = cpu_seconds(size)
        tracer.send_signal(signal.SIGINT)
        assert tracer.wait() == 0
        report.seek(0)
        found = json.load(report)
    return seconds, found["tracing_ns"]["value"] / found["total"] * 2 * BLOCKS / 1e9


def main() -> None:
    ferry = Path(sys.argv[1] if len(sys.argv) > 1 else "build") / "cli" / "ferry"
    size = size_for_rate()
    pairs = [(cpu_seconds(size), *traced(ferry, size)) for _ in range(PAIRS)]
    added = [with_it / without - 1 for without, with_it, _ in pairs]
    said = statistics.median(cost / without for without, _, cost in pairs)
    low, median, high = statistics.quantiles(added, n=4)
    rate = 2 * BLOCKS / statistics.median(without for without, _, _ in pairs)
    print(f"{rate:,.0f} calls a second of CPU time, {len(pairs)} pairs")
    print(f"BPF adds {median:.1%} of CPU time; half of the pairs are from {low:.1%} to {high:.1%}")
    print(f"ferry trace says {said:.1%}")


if __name__ == "__main__":
    main()
