# SPDX-License-Identifier: MIT
"""The machine and the settings of runs, and the reasons to distrust them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from .document import Run
from .files import Measured
from .section import grouped
from .words import counted, joined, percent, significant, time

Facts = tuple[tuple[str, str], ...]
FEW = 2  # names of files that a heading can hold
YES_NO = {True: "yes", False: "no", None: "not known"}


@dataclass(frozen=True)
class Place:
    """A machine with its kernel and mitigations, and the files of the runs made there."""

    facts: Facts
    mitigations: Facts
    files: list[str]

    @property
    def title(self) -> str:
        """Its files where they are few, else their directory."""
        directories = sorted({os.path.dirname(file) for file in self.files} - {""})
        if len(self.files) <= FEW:
            return joined(self.files)
        runs = counted(len(self.files), "run")
        return f"{joined(directories)}: {runs}" if directories else runs


def machine_facts(run: Run) -> Facts:
    machine, clock = run.machine, run.clock
    return (
        ("CPU", f"{machine.cpu}, {machine.architecture}, {counted(machine.cpus, 'CPU')} online"),
        ("Virtual machine", YES_NO[machine.virtual_machine]),
        ("CPUs share cores (SMT)", YES_NO[machine.smt]),
        ("Frequency governor", machine.governor or "not known"),
        ("Kernel", f"{run.kernel.release} ({run.kernel.version})"),
        ("Clock", f"{clock.name}, source {clock.source or 'not known'}"),
        (
            "Time stamp counter",
            f"{significant(clock.tsc_hz / 1e9, 4)} GHz" if clock.tsc_hz else "not usable",
        ),
    )


def mitigations(run: Run) -> Facts:
    return tuple(sorted(run.mitigations.items())) or (("none", "the kernel names none"),)


def places(measured: Sequence[Measured]) -> list[Place]:
    """Two kernels or settings of one machine count as two."""
    found = grouped(measured, lambda each: (machine_facts(each.run), mitigations(each.run)))
    return [Place(*facts, [each.file for each in same]) for facts, same in found.items()]


def setting(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(setting(each) for each in value)
    if value is None:
        return "any"
    if isinstance(value, float):
        return f"{value:,g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def run_facts(run: Run) -> Facts:
    machine, clock = run.machine, run.clock
    where = "not pinned" if machine.cpu_pinned is None else f"pinned to CPU {machine.cpu_pinned}"
    load = "not known" if machine.load is None else significant(machine.load)
    where += f"; load before {load}"
    if machine.others is not None:
        where += f"; others took {percent(machine.others)} of that CPU"
    return (
        ("Started", run.started),
        ("Took", f"{significant(run.seconds)} s"),
        ("Where", where),
        ("Clock", f"step {time(clock.resolution_ns)}, one reading {time(clock.overhead_ns)}"),
        *((f"Setting: {name}", setting(value)) for name, value in run.settings.items()),
        ("ferry", run.ferry),
    )


@dataclass(frozen=True)
class Caution:
    """The warnings of one kind: how many runs have it, and each text with its files."""

    summary: str
    texts: dict[str, list[str]]


WARNINGS = {  # by the id of a warning: what the runs did
    "busy": "shared their CPU with other programs",
    "call": "measured a call that fails",
    "coarse-clock": "timed too little for the clock",
    "drift": "drifted",
    "filter": "ran under a seccomp filter",
    "frequency-scaling": "ran at a frequency that changes",
    "interrupted": "were interrupted",
    "little-memory": "touched less memory than usual",
    "not-pinned": "moved between CPUs",
    "outliers": "were disturbed",
    "outputs-differ": "compared programs whose outputs differ",
    "slow-clock": "had a slow clock",
    "smt": "shared their core with another CPU",
    "unsettled": "were disturbed in all trials of a row",
    "user-mode-linux": "ran in user-mode Linux",
    "virtual-machine": "ran in a virtual machine",
    "watched": "were watched",
}


def cautions(measured: Sequence[Measured]) -> list[Caution]:
    """The warnings of the runs, by their kinds; the kind that most of them have comes first."""
    found: dict[str, dict[str, list[str]]] = {}
    for each in measured:
        for warning in each.run.warnings:
            found.setdefault(warning.id, {}).setdefault(warning.text, []).append(each.file)
    merged = []
    for name, texts in found.items():
        files = {file for named in texts.values() for file in named}
        kind = WARNINGS.get(name, f"warn of “{name}”")
        merged.append((len(files), Caution(f"{len(files)} of {len(measured)} runs {kind}", texts)))
    merged.sort(key=lambda pair: -pair[0])
    several = "The runs are from several machines, kernels or settings of them"
    first = [Caution(several, {})] if len(places(measured)) > 1 else []
    return first + [caution for _, caution in merged]
