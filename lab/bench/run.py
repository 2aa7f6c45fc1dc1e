# SPDX-License-Identifier: MIT
"""Runs `ferry bench` in guests, as lab/benches.toml says."""

import json
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any

from lab import LabError
from lab.guests.machine import Options
from lab.guests.run import run_in_guest
from lab.kernels.build import Kernel
from lab.kernels.modules import FERRY, Module, build_module, lacking
from lab.programs import programs_for
from lab.tests.manifest import Bench

Document = dict[str, Any]  # ferry-bench(5)

TEST_MODULE = Module(
    "ferry_bench.ko", "measure/guest-module", ("measure/guest-module", "uapi/linux")
)
# Parameters of the test module: symbols, whose addresses it takes.
NAMES = ("sys_call_table", "nr_processes", "nr_running", "nr_context_switches", "nr_blockdev_pages")


def addresses() -> str:
    """The test module's parameters, for sh in the guest: only its kernel knows them."""
    return " ".join(f"{symbol}=0x$(sed -n 's/ . {symbol}$//p' /proc/kallsyms)" for symbol in NAMES)


def script(bench: Bench, kernel: Kernel, result: Path) -> str:
    """What the guest runs under sh: it prints the tables and writes RESULT."""
    lines = ["set -e"]
    if bench.module:
        lines.append(f"insmod {build_module(kernel, TEST_MODULE)} {addresses()}")
    if bench.device:
        lines.append(f"insmod {build_module(kernel, FERRY)}")
    if bench.prepare:
        lines.append(bench.prepare)
    program = bench.program or "cli/ferry bench"
    lines.append(f'"$FERRY_BUILD"/{program} {bench.command} --json {shlex.quote(str(result))}')
    return "\n".join(lines)


def missing(bench: Bench, kernel: Kernel) -> str:
    """Why BENCH cannot run in somebody's KERNEL; "" if it can."""
    return lacking(kernel, bench.needs, takes_module=bench.module or bench.device)


def has_series(kernel: Kernel) -> bool:
    """Whether the goals are for this kernel; a kernel of the lab may be the base of one."""
    return not lacking(kernel, "CONFIG_SUBCALL_BATCH")


def run_bench(bench: Bench, kernel: Kernel, build_directory: Path, kvm: bool = False) -> Document:
    """What BENCH measured: instructions of one CPU; nanoseconds with KVM or user-mode Linux."""
    with tempfile.TemporaryDirectory(prefix="ferry-lab-") as directory:
        result = Path(directory) / f"{bench.name}.json"
        outcome = run_in_guest(
            kernel,
            ["sh", "-c", script(bench, kernel, result)],
            Options(
                cpus=bench.cpus,
                memory=bench.memory,
                timeout=bench.timeout,
                icount=kernel.target.arch != "um" and not kvm,
                kvm=kvm,
                writable=(Path(directory),),
                environment={
                    "FERRY_BUILD": str(programs_for(kernel.target, build_directory)),
                    "COLUMNS": str(shutil.get_terminal_size((80, 24)).columns),
                },
                quick=True,
            ),
        )
        if outcome.failure:
            raise LabError(outcome.failure)
        if outcome.status:
            raise LabError(f"the benchmark {bench.name} exited with {outcome.status}")
        document: Document = json.loads(result.read_text())
    return document
