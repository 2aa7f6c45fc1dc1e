# SPDX-License-Identifier: MIT
"""The tour that `make run-kernel` gives: the same work call by call and with ferry, in a kernel
that has the series.

Leaves the documents of `ferry bench` and its tables (guest.log) in kernel-results of the build
directory.
"""

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import LabError
from lab.cache import make_directory
from lab.guests.machine import Options
from lab.guests.run import run_in_guest
from lab.kernels.build import Kernel, build
from lab.targets import TINY_TARGET

Document = Mapping[str, Any]  # ferry-bench(5)

JOBS = 4  # that are compared
SIZE = 64  # slots in a batch
FILES = 10000  # of 1 KiB; total takes 2000 of them
# Settings that keep each bench at some seconds, with enough pairs for a verdict; by the CPUs that
# the bench takes.  A crossing switches between two processes of the host: across two idle CPUs,
# which have to be woken for it, the switch takes five times as long as on one.
RUNS = {
    1: {
        "batch": f"--call write --sizes 1,{SIZE} --engine loop,syscall --trials 20",
        "apps": "--app total,mdu --engine loop,syscall --pairs 9"
        " --examples $TMPDIR --directory $TMPDIR/files",
    },
    2: {
        "flexsc": "--call write --threads 64 --runners 1 --work 0 --calls 50 --warmup 20"
        " --trials 9",
    },
}
# Each takes some seconds on idle CPUs.  Interrupted, ferry bench writes what it has.
SECONDS = 60
# The guest's own memory: what it reads from its host takes as long as the host lets it wait.
PREPARE = {
    "apps": f"""cp "$FERRY_BUILD"/measure/mdu "$FERRY_BUILD"/measure/total $TMPDIR
mkdir $TMPDIR/files
head -c {FILES}K /dev/zero | split -a 3 -b 1K - $TMPDIR/files/"""
}

HEAD = f"{'':40} {'CALL BY CALL':>12} {'FERRY':>8} {'TIMES AS FAST':>14}"
NOISE = "Other programs or chance had a part in this: repeat while nothing else runs on two CPUs."
MEANS = """\
Each call in the batch saves a crossing: {crossing} here, where it is a switch between two
processes. On hardware a crossing takes 50 to 500 ns, and ferry gains less than these ratios.

Next: lab/ferry-lab shell uml-7.3-tiny is a root shell in this kernel."""


@dataclass(frozen=True)
class Row:
    """A job, done call by call and with ferry; times in ns."""

    job: str
    plain: float
    ferry: float
    ratio: float  # times as fast with ferry
    significant: bool

    def line(self) -> str:
        ratio = f"{self.ratio:.3g}" if self.significant else "noise"
        return f"{self.job:40} {amount(self.plain):>12} {amount(self.ferry):>8} {ratio:>14}"


def amount(time: float) -> str:
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time:.3g} ns"


def batch_rows(batch: Document) -> Iterator[Row]:
    times = {each["engine"]: each["least_ns"][-1] / SIZE for each in batch["series"]}
    [pair] = (each for each in batch["at_sizes"] if each["size"] == SIZE)
    yield Row(
        f"write(), {SIZE} slots in a batch, per call",
        times["loop"],
        times["syscall"],
        pair["ratio"],
        pair["significant"],
    )


def app_rows(apps: Document) -> Iterator[Row]:
    works = {"total": "total: sum 2000 small files", "mdu": f"mdu: disk usage of {FILES} files"}
    for pair in apps["comparisons"]:
        if (pair["side"], pair["against"]) == ("syscall", "loop"):
            ferry, plain = pair["median_ns"]
            ratio = pair["ratio"]["median"]
            yield Row(works[pair["app"]], plain, ferry, ratio, pair["significant"])


def posted_rows(flexsc: Document) -> Iterator[Row]:
    ways = {cell["way"]: cell for cell in flexsc["cells"] if cell["available"]}
    posted = ways["flexsc"]
    if posted.get("ratio") is None:
        return  # no trial was finished in time
    yield Row(
        f"write(), posted by {posted['threads']} threads, per call",
        ways["plain"]["median"],
        posted["median"],
        posted["ratio"],
        posted["significant"],
    )


ROWS = {"batch": batch_rows, "apps": app_rows, "flexsc": posted_rows}


def script(runs: Mapping[str, str], results: Path) -> str:
    """What the guest runs under sh."""
    lines = ["set -e"]
    for name, options in runs.items():
        document = shlex.quote(f"{results}/{name}.json")
        lines.append(PREPARE.get(name, ""))
        command = f'"$FERRY_BUILD"/cli/ferry bench {name} {options} --json {document}'
        # In the foreground: a second signal, as one to the whole group is, would end it at once.
        limit = f"timeout --foreground -s INT -k {SECONDS} {SECONDS}"
        lines.append(f"{limit} {command} || [ $? = 124 ]")
    return "\n".join(lines)


@contextmanager
def on_cpus(number: int) -> Iterator[None]:
    """This process and its new children run on at most NUMBER of its CPUs, the last ones."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_of_them)[-number:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


def run_benches(cpus: int, kernel: Kernel, programs: Path, results: Path, log: Path) -> None:
    options = Options(
        cpus=cpus,
        timeout=600,
        writable=(results,),
        environment={"FERRY_BUILD": str(programs)},
        quick=True,
    )
    command = ["sh", "-c", script(RUNS[cpus], results)]
    with log.open("ab") as tables, on_cpus(cpus):
        outcome = run_in_guest(kernel, command, options, out=tables.write, err=tables.write)
    if outcome.failure:
        raise LabError(outcome.failure)
    if outcome.status:
        raise LabError(f"a bench in the guest failed: {last_line(log)}; {log} has its output")


def measure(programs: Path, results: Path) -> Mapping[str, Document]:
    """The documents by bench.  A bench that finished nothing in time has none."""
    kernel = build(TINY_TARGET)
    log = results / "guest.log"
    for old in (log, *results.glob("*.json")):
        old.unlink(missing_ok=True)
    print(f"ferry-lab: measuring in {TINY_TARGET.name}", file=sys.stderr)
    for cpus in RUNS:
        run_benches(cpus, kernel, programs, results, log)
    files = {name: results / f"{name}.json" for name in ROWS}
    return {name: json.loads(path.read_text()) for name, path in files.items() if path.exists()}


def last_line(log: Path) -> str:
    return (log.read_text(errors="replace").strip().splitlines() or ["it printed nothing"])[-1]


def show(programs: Path) -> None:
    if not (programs / "cli" / "ferry").exists():
        raise LabError(f"{programs}/cli/ferry is not there; 'make build' makes it")
    results = make_directory(programs / "kernel-results")
    documents = measure(programs, results)
    if "batch" not in documents:
        raise LabError(f"nothing was measured in {SECONDS} s; repeat on a quiet machine")
    release = documents["batch"]["kernel"]["release"]
    print(f"Linux {release} with ferry's patches, in user mode; the tables: {results}/guest.log\n")
    lines = [row for name, document in documents.items() for row in ROWS[name](document)]
    print(HEAD, *(row.line() for row in lines), sep="\n")
    if len(lines) < JOBS:
        print(f"The others could not be measured in {SECONDS} s.")
    print("" if sum(row.significant for row in lines) == JOBS else f"{NOISE}\n")
    print(MEANS.format(crossing=amount(lines[0].plain - lines[0].ferry)))
