#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Carries out the cures that ferry trace names, and compares what they save with its predictions.

    python3 tests/trace/cures.py BUILD [NAME...]

Each row is a program, and the same work without the waste.  The predicted saving is that of the
finding of its kind, or the sum of the findings where the cure is for several; the measured one is
the difference of the medians of runs that alternate: CPU time, or time on the wall where the
program waits.  It holds if it lies within 25 % or within 1.96 times its error, or between the
saving and what the finding says that may go with it.  As root, for BPF.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

RUNS = 7
PLANTED = (
    "question",
    "search",
    "reopened",
    "value",
    "clock",
    "tiny",
    "split",
    "growth",
    "faults",
    "sync",
    "lock",
    "one-by-one",
    "switches",
    "processes",
)


@dataclass
class Pair:
    """A program with its input, and the same after the cure."""

    name: str
    kinds: tuple[str, ...]
    waste: list[str]
    cured: list[str]
    waits: bool = False
    cure: str = ""  # words of the finding's, where several are named
    environment: dict[str, str] = field(default_factory=dict)
    cured_environment: dict[str, str] = field(default_factory=dict)
    before: Callable[[], None] = lambda: None  # each run


# ---- the programs ----


def planted(build: Path, work: Path) -> Iterator[Pair]:
    program = str(build / "tests" / "trace" / "waste")
    waits = ("split", "sync", "lock", "one-by-one")
    for kind in PLANTED:
        waste = [program, kind, str(work)]
        cure = "MAP_POPULATE" if kind == "faults" else ""
        yield Pair(f"planted {kind}", (kind,), waste, [*waste, "cured"], kind in waits, cure)


def sqlite(work: Path) -> Pair:
    rows = "".join(f"insert into t values({n});\n" for n in range(200))
    single, together = work / "single.sql", work / "together.sql"
    single.write_text(f"create table t(a);\n{rows}")
    together.write_text(f"begin;\ncreate table t(a);\n{rows}commit;\n")
    base = work / "rows.db"

    def command(script: Path) -> list[str]:
        return ["sqlite3", str(base), f".read {script}"]

    return Pair(
        "sqlite3, 200 rows",
        ("sync",),
        command(single),
        command(together),
        waits=True,
        before=lambda: base.unlink(missing_ok=True),
    )


def python(work: Path) -> Pair:
    directories = [work / f"path{n}" for n in range(100)]
    for directory in directories:
        directory.mkdir()
    modules = "json, asyncio, email.mime.text, http.server, unittest, xml.dom.minidom"
    command = ["/usr/bin/python3", "-c", f"import {modules}"]
    return Pair(
        "python3, 100 directories in PYTHONPATH",
        ("question", "search"),
        command,
        command,
        environment={"PYTHONPATH": ":".join(map(str, directories))},
    )


def gcc(work: Path) -> Pair:
    directories = [work / f"include{n}" for n in range(60)]
    for directory in directories:
        directory.mkdir()
    source = work / "program.c"
    names = [f"header{n}.h" for n in range(200)]
    for name in names:
        (directories[-1] / name).write_text("extern int declared;\n")
    source.write_text("".join(f"#include <{name}>\n" for name in names))
    cc1 = subprocess.run(
        ["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True
    ).stdout.strip()
    paths = [option for one in directories for option in ("-I", str(one))]
    return Pair(
        "gcc -E, 60 directories for 200 headers",
        ("search", "question"),
        [cc1, "-E", "-quiet", *paths, str(source), "-o", "/dev/null"],
        [cc1, "-E", "-quiet", *paths[-2:], str(source), "-o", "/dev/null"],
    )


def shell(work: Path) -> Pair:
    waste = 'for n in $(seq 200); do x=$(echo "$n" | sed s/1/2/); done'
    cured = "for n in $(seq 200); do x=${n/1/2}; done"
    return Pair("bash, 200 subshells", ("processes",), ["bash", "-c", waste], ["bash", "-c", cured])


def dd(work: Path) -> Pair:
    data = work / "data"
    data.write_bytes(os.urandom(1 << 20))

    def copy(size: int) -> list[str]:
        return ["dd", f"if={data}", f"of={work / 'copy'}", f"bs={size}", "status=none"]

    return Pair("dd of 1 MiB, 64 bytes at a time", ("tiny",), copy(64), copy(65536))


def shell_read(work: Path) -> Pair:
    data = work / "lines"
    data.write_text("a line of text\n" * 5000)
    waste = f"cat {data} | while read -r line; do :; done"
    cured = f'mapfile -t lines < {data}; for line in "${{lines[@]}}"; do :; done'
    return Pair("bash, read from a pipe", ("tiny",), ["bash", "-c", waste], ["bash", "-c", cured])


REAL = (sqlite, python, gcc, shell, dd, shell_read)


# ---- measuring ----


def spent(command: list[str], pair: Pair, environment: dict[str, str]) -> float:
    """Milliseconds."""
    pair.before()
    start = time.monotonic()
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=os.environ | environment,
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    elapsed = time.monotonic() - start
    return 1e3 * (elapsed if pair.waits else usage.ru_utime + usage.ru_stime)


def predicted(ferry: Path, pair: Pair) -> tuple[float, float, float, str]:
    """Milliseconds, their error, what may go with them, and the place of the first finding."""
    # The first run finds paths and files in no cache.
    spent(pair.waste, pair, pair.environment)
    pair.before()
    done = subprocess.run(
        [ferry, "trace", "--json", "--method", "bpf", *pair.waste],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | pair.environment,
        check=True,
    )
    findings = json.loads(done.stdout)["findings"]
    of_kinds, seen, between = [], set(), 0.0
    for each in findings:
        if each["kind"] in pair.kinds and pair.cure in each["cure"] and each["kind"] not in seen:
            seen.add(each["kind"])
            of_kinds.append(each["saved_ns"])
            between += each["between_ns"] / 1e6
            if each["indirect_ns"]["value"] > each["indirect_ns"]["error"]:
                of_kinds.append(each["indirect_ns"])
    place = next((n for n, each in enumerate(findings, 1) if each["kind"] in pair.kinds), 0)
    value = sum(each["value"] for each in of_kinds) / 1e6
    error = sum(each["error"] for each in of_kinds) / 1e6
    return value, error, between, str(place or "-")


@contextmanager
def server(build: Path, work: Path) -> Iterator[None]:
    program = build / "tests" / "trace" / "waste"
    process = subprocess.Popen([program, "serve", work], stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    try:
        yield
    finally:
        process.kill()
        process.wait()


def compare(ferry: Path, pair: Pair) -> None:
    value, error, between, place = predicted(ferry, pair)
    both = [
        (
            spent(pair.waste, pair, pair.environment),
            spent(pair.cured, pair, pair.cured_environment),
        )
        for _ in range(RUNS)
    ]
    saved = statistics.median(waste for waste, _ in both) - statistics.median(
        cured for _, cured in both
    )
    spread = statistics.quantiles([waste - cured for waste, cured in both], n=4)
    # The code between the calls may be saved or not, where the finding says so.
    between = between if between > 0.25 * value else 0.0
    off = max(value - saved, saved - value - between)
    good = off <= max(0.25 * saved, 1.96 * error)
    more = f", up to {between:.1f} more" if between else ""
    print(
        f"| {pair.name} | {place} | {value:.1f} ± {error:.1f}{more} | {saved:.1f} "
        f"({spread[0]:.1f} to {spread[2]:.1f}) | {'holds' if good else 'is off'} |",
        flush=True,
    )


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    names = sys.argv[2:]
    with tempfile.TemporaryDirectory(dir=".") as directory:
        work = Path(directory).resolve()
        pairs = list(planted(build, work)) + [make(work) for make in REAL]
        with server(build, work):
            print("| program | named | predicted, ms | measured (half of the runs) | |")
            print("| --- | ---: | ---: | ---: | --- |")
            for pair in pairs:
                if not names or any(name in pair.name for name in names):
                    compare(build / "cli" / "ferry", pair)


if __name__ == "__main__":
    main()
