# SPDX-License-Identifier: MIT
"""Runs the benchmarks of lab/benches.toml in guests."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from lab import LabError
from lab.bench_figures import Record, table, with_overhead
from lab.guests.machine import Options
from lab.guests.run import run_in_guest
from lab.kernels.build import Kernel, build
from lab.kernels.modules import FERRY, Module, build_module
from lab.targets import find_target
from lab.tests.manifest import Bench

TEST_MODULE = Module(
    "ferry_bench.ko", "measure/guest-module", ("measure/guest-module", "uapi/linux")
)
# Parameters of the test module, and the symbols whose addresses they are.
ADDRESSES = {
    "table": "sys_call_table",
    "nr_processes": "nr_processes",
    "nr_running": "nr_running",
    "nr_context_switches": "nr_context_switches",
    "nr_blockdev_pages": "nr_blockdev_pages",
}


class Collector:
    """Takes the JSON objects out of a benchmark's output; other lines go to standard error."""

    def __init__(self) -> None:
        self._rest = b""
        self.records: list[Record] = []

    def feed(self, data: bytes) -> None:
        lines, newline, self._rest = (self._rest + data).rpartition(b"\n")
        for line in (lines + newline).splitlines():
            self._take(line.decode(errors="replace"))

    def _take(self, line: str) -> None:
        if not line.startswith("{"):
            print(line, file=sys.stderr)
            return
        try:
            self.records.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise LabError(f"a benchmark printed '{line}', which is not JSON: {error}") from None


def addresses() -> str:
    """The test module's parameters, for sh in the guest: only its kernel knows them."""
    return " ".join(
        f"{parameter}=0x$(sed -n 's/ . {symbol}$//p' /proc/kallsyms)"
        for parameter, symbol in ADDRESSES.items()
    )


def loading(bench: Bench, kernel: Kernel) -> str:
    """What loads the modules of BENCH, for sh in the guest."""
    lines = ""
    if bench.module:
        lines += f"insmod {build_module(kernel, TEST_MODULE)} {addresses()} || exit\n"
    if bench.device:
        lines += f"insmod {build_module(kernel, FERRY)} || exit\n"
    return lines


def run_bench(bench: Bench, build_directory: Path) -> list[Record]:
    """What BENCH prints: instructions of one CPU, or nanoseconds in user-mode Linux."""
    collector = Collector()
    kernel = build(find_target(bench.target))
    outcome = run_in_guest(
        kernel,
        ["sh", "-c", loading(bench, kernel) + bench.command],
        Options(
            cpus=bench.cpus,
            memory=bench.memory,
            timeout=bench.timeout,
            icount=kernel.target.arch == "x86",
            environment={"FERRY_BUILD": str(build_directory)},
            quick=True,
        ),
        out=collector.feed,
    )
    if outcome.failure:
        raise LabError(outcome.failure)
    if outcome.status:
        raise LabError(f"the benchmark {bench.name} exited with {outcome.status}")
    if not collector.records:
        raise LabError(f"the benchmark {bench.name} printed no figures")
    return [with_overhead(record) for record in collector.records]


def report(bench: Bench, records: Sequence[Record]) -> str:
    """The records as a table under the benchmark's name."""
    units = ", ".join(dict.fromkeys(str(record.get("unit", "")) for record in records))
    return f"{bench.name} ({bench.target}, {units})\n{table(records)}\n"
