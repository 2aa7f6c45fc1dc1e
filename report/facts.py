# SPDX-License-Identifier: MIT
"""What a run was made on and how: the tables of circumstances."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from .folder import Measured
from .schema import AnyRun
from .words import counted, percent, significant, time

Facts = list[tuple[str, str]]
YES_NO = {True: "yes", False: "no", None: "not known"}


@dataclass(frozen=True)
class Place:
    """A machine with its kernel, and the files of the runs made there."""

    facts: Facts
    files: list[str]


def machine_facts(run: AnyRun) -> Facts:
    machine = run.machine
    frequency = (
        f"{significant(run.clock.tsc_hz / 1e9, 4)} GHz" if run.clock.tsc_hz else "not usable"
    )
    return [
        ("CPU", f"{machine.cpu}, {machine.architecture}, {counted(machine.cpus, 'CPU')} online"),
        ("Virtual machine", YES_NO[machine.virtual_machine]),
        ("CPUs share cores (SMT)", YES_NO[machine.smt]),
        ("Frequency governor", machine.governor or "not known"),
        ("Kernel", f"{run.kernel.release} ({run.kernel.version})"),
        ("Clock", f"{run.clock.name}, source {run.clock.source or 'not known'}"),
        ("Time stamp counter", frequency),
    ]


def mitigation_facts(run: AnyRun) -> Facts:
    return sorted(run.mitigations.items()) or [("none", "this kernel states none")]


def same_place(run: AnyRun) -> tuple[object, ...]:
    machine = run.machine
    return (
        machine.cpu,
        machine.cpus,
        machine.virtual_machine,
        machine.smt,
        machine.governor,
        run.kernel,
        tuple(sorted(run.mitigations.items())),
        run.clock.name,
        run.clock.source,
    )


def places(measured: Sequence[Measured]) -> list[tuple[Place, Facts]]:
    """Each machine with its mitigations; two kernels or settings of one count as two."""
    found: dict[tuple[object, ...], list[Measured]] = {}
    for each in measured:
        found.setdefault(same_place(each.run), []).append(each)
    return [
        (
            Place(machine_facts(group[0].run), [each.file for each in group]),
            mitigation_facts(group[0].run),
        )
        for group in found.values()
    ]


def setting(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(setting(each) for each in value)
    if value is None:
        return "any"
    if isinstance(value, float):
        return f"{value:,g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def run_facts(run: AnyRun) -> Facts:
    machine = run.machine
    pinned = "not pinned" if machine.cpu_pinned is None else f"pinned to CPU {machine.cpu_pinned}"
    load = "not known" if machine.load is None else significant(machine.load)
    others = (
        "" if machine.others is None else f"; others took {percent(machine.others)} of that CPU"
    )
    return [
        ("Started", run.started),
        ("Took", f"{significant(run.seconds)} s"),
        ("Where", f"{pinned}; load before {load}{others}"),
        (
            "Clock",
            f"step {time(run.clock.resolution_ns)}, one reading {time(run.clock.overhead_ns)}",
        ),
        *((f"Setting: {name}", setting(value)) for name, value in run.settings.items()),
        ("ferry", run.ferry),
    ]


def command(run: AnyRun) -> str:
    return shlex.join(run.command)
