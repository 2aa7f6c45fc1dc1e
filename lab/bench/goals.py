# SPDX-License-Identifier: MIT
"""What the series is to achieve, and whether the documents of `ferry bench` show it."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.bench.run import Document

SLOT = 65.0  # instructions, of an unimplemented call
FREQUENT = 45.0  # and beyond the handler of these
FREQUENT_CALLS = ("read", "write", "openat", "close", "fstat", "lstat", "statx")
BEYOND_HANDLER = 60.0  # and of others
CROSSING = 450.0  # without the library
DEVICE_SLOT = 10.0  # instructions more than the system call takes, per slot
DEVICE_CROSSING = 150.0  # and per batch
ORDINARY_PATH = 1.0  # instructions that an ordinary call may take longer
FAULT_PATH = 3.0  # and a fault with the feature off
KSTATS = 1.2  # beside reading the same counters in the kernel
# Order and pages per fault, and the part of a fault's cost that a page may take.
FAULTS = {("sequential", 16): 0.5, ("sequential", 64): 0.4, ("random", 16): 0.6}
UML_FAULTS = {("sequential", 16): 0.25, ("sequential", 64): 0.18}
UNIMPLEMENTED = {
    "within": "unimplemented, within the table",
    "unimplemented": "unimplemented, beyond the table",
}
SAVED = 125.0  # instructions of a call, on other machines
DIRECTORY = 0.75  # getdents_statx() beside getdents64() and statx() by batches
UML_SLOT = 0.8  # of a naive batch's
UML_RATIO = 200.0  # loop to batch
STATX_NAME = 60.0  # instructions that ferry_statx_many() takes for a name, beyond the handler
UML_STATX_MANY = 20.0  # loop to ferry_statx_many()
UML_POSTED = 20.0  # throughput of posted calls to that of plain ones

ALSO = ("x86-7.3",)  # targets of benchmarks NAME-TARGET

Documents = Mapping[str, Document]  # by the name of the benchmark
Record = dict[str, Any]


CONDITIONS: dict[str, Callable[[float, float], bool]] = {
    "at most": operator.le,
    "less than": operator.lt,
    "at least": operator.ge,
}


@dataclass(frozen=True)
class Goal:
    """One figure and its bound."""

    what: str
    measured: float
    bound: float
    wanted: str = "at most"

    @property
    def met(self) -> bool:
        return CONDITIONS[self.wanted](self.measured, self.bound)

    @property
    def condition(self) -> str:
        return f"{self.wanted} {number(self.bound)}"

    def as_json(self) -> Record:
        condition = {"condition": self.condition, "met": self.met}
        return {"goal": self.what, "measured": self.measured} | condition


def number(value: float) -> str:
    """As few digits as say it: hundredths at most."""
    return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) < 1e5 else f"{value:,.0f}"


def find(documents: Documents, bench: str, key: str, **wanted: object) -> Iterator[Record]:
    """The records of an array of a document that were measured and have these fields."""
    for record in documents.get(bench, {}).get(key, ()):
        if record.get("available", True) and all(record.get(k) == v for k, v in wanted.items()):
            yield record


def unimplemented(documents: Documents, bench: str, engine: str) -> Iterator[tuple[str, Record]]:
    """The lines through batches of calls that no kernel has, each with its name."""
    for call, name in UNIMPLEMENTED.items():
        for series in find(documents, bench, "series", engine=engine, call=call):
            yield name, series


def slot_goals(documents: Documents) -> Iterator[Goal]:
    for name, series in unimplemented(documents, "slope", "syscall"):
        yield Goal(f"{name}, per slot", series["fit"]["b_ns"], SLOT)
    for name, series in unimplemented(documents, "slope", "bare-syscall"):
        yield Goal(f"{name}, per crossing", series["fit"]["a_ns"], CROSSING)
    for series in find(documents, "overhead", "series", engine="syscall"):
        if series["overhead"] is not None:
            what = f"{series['call']} in a batch, beyond its handler"
            bound = FREQUENT if series["call"] in FREQUENT_CALLS else BEYOND_HANDLER
            yield Goal(what, series["overhead"], bound)


def device_goals(documents: Documents) -> Iterator[Goal]:
    """The module's device beside the system call, both without the library."""
    own = dict(unimplemented(documents, "slope", "bare-syscall"))
    for key, what, bound in (
        ("b_ns", "per slot", DEVICE_SLOT),
        ("a_ns", "per crossing", DEVICE_CROSSING),
    ):
        for name, device in unimplemented(documents, "slope", "bare-device"):
            if name in own:
                more = device["fit"][key] - own[name]["fit"][key]
                yield Goal(f"{name}, device beyond syscall, {what}", more, bound)


def path_goals(documents: Documents) -> Iterator[Goal]:
    for call in find(documents, "call", "rows", name="getppid"):
        for base in find(documents, "call-base", "rows", name="getppid"):
            longer = call["median"] - base["median"]
            yield Goal("getppid alone, beyond the kernel without", longer, ORDINARY_PATH)


def chain_goals(documents: Documents) -> Iterator[Goal]:
    for own in find(documents, "total", "chains", engine="syscall"):
        for other in ("loop", "uring"):
            for others in find(documents, "total", "chains", engine=other, chain=own["chain"]):
                what = f"total, by {own['chain']}: batch beside {other}"
                yield Goal(what, own["median"], others["median"], "less than")


def walk_goals(documents: Documents) -> Iterator[Goal]:
    """The example mdu on system calls, beside itself on other engines and by io_uring."""
    for row in find(documents, "mdu", "comparisons", app="mdu"):
        if row["against"] == "syscall":
            other, (others, own) = row["side"], row["median_ns"]
        elif row["side"] == "syscall":
            other, (own, others) = "uring", row["median_ns"]
        else:
            continue
        yield Goal(f"mdu, files: 20000: batch beside {other}", own, others, "less than")


def files_goals(documents: Documents) -> Iterator[Goal]:
    """ferry_statx_many() on a directory of 1,000 names, beside a loop of statx."""
    for row in find(documents, "files-x86-6.12", "comparisons", app="stat"):
        for crossing in find(documents, "call", "rows", name="null"):
            many, plain = (median / 1000 for median in row["median_ns"])
            beyond = many - (plain - crossing["median"])
            yield Goal("statx_many, per name beyond the handler", beyond, STATX_NAME)
    for row in find(documents, "files-uml-7.3", "comparisons", app="stat"):
        ratio = row["ratio"]["median"]
        yield Goal("UML, statx_many, loop to batch", ratio, UML_STATX_MANY, "at least")


def fault_goals(
    documents: Documents, bench: str, key: str, bounds: Mapping[tuple[str, int], float], name: str
) -> Iterator[Goal]:
    """What a page costs, by KEY, where a fault maps several, beside one page a fault."""
    for (order, pages), bound in bounds.items():
        wanted = {"access": "write", "order": order}
        for single in find(documents, bench, "touches", way="base", **wanted):
            for ahead in find(documents, bench, "touches", way="ahead", per_fault=pages, **wanted):
                what = f"{name}, {order}, {pages} pages a fault beside one"
                yield Goal(what, ahead[key] / single[key], bound)


def fault_cost(touch: Record) -> float:
    """What a touch takes, without its share of mmap()."""
    return float(touch["median"] - touch["mapping_ns"])


def pagefault_goals(documents: Documents) -> Iterator[Goal]:
    yield from fault_goals(documents, "pagefault", "beyond_clearing_ns", FAULTS, "pagefault")
    for touch in find(documents, "pagefault", "touches", way="base"):
        wanted = {key: touch[key] for key in ("access", "order", "way")}
        for before in find(documents, "pagefault-base", "touches", **wanted):
            what = f"pagefault, {touch['access']} {touch['order']}, beyond the kernel without"
            # A pass has a tick and page tables beside its faults: it is good for a tenth.
            longer = round(fault_cost(touch) - fault_cost(before), 1)
            yield Goal(what, longer, FAULT_PATH)
    yield from fault_goals(documents, "pagefault-uml", "median", UML_FAULTS, "UML, pagefault")


def kstats_goals(documents: Documents) -> Iterator[Goal]:
    cost = {row["name"]: row["median"] for row in find(documents, "call", "rows")}
    if {"null", "kstats", "kstats_counters"} <= cost.keys():
        ratio = (cost["kstats"] - cost["null"]) / cost["kstats_counters"]
        yield Goal("kstats beside its counters, read in the kernel", ratio, KSTATS)


def uml_goals(documents: Documents) -> Iterator[Goal]:
    naive = dict(unimplemented(documents, "uml", "naive"))
    for name, own in unimplemented(documents, "uml", "syscall"):
        # The naive one does nothing at all for a number beyond the table.
        if own["call"] == "within" and name in naive:
            ratio = own["fit"]["b_ns"] / naive[name]["fit"]["b_ns"]
            yield Goal(f"UML, {name}, slot beside naive", ratio, UML_SLOT)
        wanted = {"engine": "syscall", "against": "loop", "call": own["call"]}
        for pair in find(documents, "uml", "ratios", **wanted):
            yield Goal(f"UML, {name}, loop to batch", pair["ratio"], UML_RATIO, "at least")


def machine_goals(documents: Documents) -> Iterator[Goal]:
    """Calls in a batch beside a loop of them, on machines without ferry's command."""
    for machine in ("arm64", "riscv64"):
        for row in find(documents, machine, "calls"):
            what = f"{machine}, {row['call']}, saved per call"
            yield Goal(what, row["loop"] - row["batch"], SAVED, "at least")


def directory_goals(documents: Documents) -> Iterator[Goal]:
    for row in find(documents, "directory", "directories"):
        what = f"{Path(row['directory']).name}, names with attributes to batches of statx"
        yield Goal(what, row["getdents_statx"] / row["batch"], DIRECTORY)


def flexsc_goals(documents: Documents) -> Iterator[Goal]:
    if not documents.get("flexsc-uml", {}).get("in_kernel"):
        return
    for cell in find(documents, "flexsc-uml", "cells", way="flexsc"):
        what = f"UML, {cell['call']}, plain to posted"
        yield Goal(what, cell["ratio"], UML_POSTED, "at least")


GOALS: tuple[Callable[[Documents], Iterator[Goal]], ...] = (
    slot_goals,
    device_goals,
    path_goals,
    chain_goals,
    walk_goals,
    files_goals,
    pagefault_goals,
    kstats_goals,
    uml_goals,
    machine_goals,
    directory_goals,
    flexsc_goals,
)


def goals_of(documents: Documents) -> list[Goal]:
    """The goals that the benchmarks which ran can judge."""
    found = [goal for goals in GOALS for goal in goals(documents)]
    for target in ALSO:
        own = {
            name.removesuffix(f"-{target}"): document
            for name, document in documents.items()
            if name.endswith(f"-{target}")
        }
        found += [
            replace(goal, what=f"{target}: {goal.what}") for goals in GOALS for goal in goals(own)
        ]
    return found


def goal_table(goals: Sequence[Goal]) -> str:
    rows = [("GOAL", "MEASURED", "WANTED", "MET")]
    rows += [(g.what, number(g.measured), g.condition, "yes" if g.met else "NO") for g in goals]
    what, measured, wanted, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join(f"{a:{what}}  {b:>{measured}}  {c:{wanted}}  {d}" for a, b, c, d in rows)
