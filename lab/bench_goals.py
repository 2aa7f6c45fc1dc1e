# SPDX-License-Identifier: MIT
"""What the series is to achieve, and whether the records of the benchmarks show it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.bench_figures import Figure, Record, column, figure, number

SLOT = 70.0  # instructions, of an unimplemented call and beyond the handler of others
DEVICE_SLOT = 10.0  # instructions more than the system call takes, per slot
DEVICE_CROSSING = 150.0  # and per batch
ORDINARY_PATH = 1.0  # instructions that an ordinary call may take longer
FAULT_PATH = 3.0  # and a fault with the feature off
KSTATS = 1.2  # beside reading the same counters in the kernel
# Order and pages per fault, and the part of a fault's cost that a page may take.
FAULTS = {("sequential", 16): 0.5, ("sequential", 64): 0.4, ("random", 16): 0.6}
UML_FAULTS = {("sequential", 16): 0.25, ("sequential", 64): 0.18}
UML_SLOT = 72.0  # ns, of the naive prototype on a 2 GHz core
UML_RATIO = 200.0  # loop to batch
UML_POSTED = 20.0  # throughput of posted calls to that of plain ones

Records = Mapping[str, Sequence[Record]]  # by the name of the benchmark


@dataclass(frozen=True)
class Goal:
    """One figure and its bound."""

    what: str
    measured: float
    bound: float
    at_least: bool = False
    strictly: bool = False

    @property
    def met(self) -> bool:
        if self.at_least:
            return self.measured >= self.bound
        return self.measured < self.bound if self.strictly else self.measured <= self.bound

    @property
    def condition(self) -> str:
        words = "at least" if self.at_least else "less than" if self.strictly else "at most"
        return f"{words} {number(self.bound)}"

    def as_json(self) -> Record:
        return {
            "goal": self.what,
            "measured": self.measured,
            "condition": self.condition,
            "met": self.met,
        }


def unimplemented(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.get("call", "").startswith("unimplemented")]


def find(records: Sequence[Record], key: str, **wanted: object) -> Iterator[tuple[Record, Figure]]:
    """The records with these fields, and the figure of KEY in each."""
    for record in records:
        found = figure(record, key)
        if found and all(record.get(field) == value for field, value in wanted.items()):
            yield record, found


def slot_goals(records: Records) -> Iterator[Goal]:
    for record, slot in find(unimplemented(records.get("slope", ())), "slot", engine="syscall"):
        yield Goal(f"{record['call']}, per slot", slot.median, SLOT)
    for record, overhead in find(records.get("overhead", ()), "overhead", engine="syscall"):
        yield Goal(f"{record['call']} in a batch, beyond its handler", overhead.median, SLOT)


def device_goals(records: Records) -> Iterator[Goal]:
    """The module's device beside the system call."""
    slopes = unimplemented(records.get("slope", ()))
    for key, what, bound in (
        ("slot", "per slot", DEVICE_SLOT),
        ("crossing", "per crossing", DEVICE_CROSSING),
    ):
        for record, device in find(slopes, key, engine="device"):
            for _, own in find(slopes, key, engine="syscall", call=record["call"]):
                more = device.median - own.median
                yield Goal(f"{record['call']}, device beyond syscall, {what}", more, bound)


def path_goals(records: Records) -> Iterator[Goal]:
    base = {r["call"]: cost for r, cost in find(records.get("call-base", ()), "cost", here=True)}
    for record, cost in find(records.get("call", ()), "cost", here=True):
        if before := base.get(record["call"]):
            longer = cost.median - before.median
            yield Goal(f"{record['call']} alone, beyond the kernel without", longer, ORDINARY_PATH)


def fewest(records: Sequence[Record], what: str, key: str) -> Iterator[Goal]:
    """The syscall engine against each of the others that did the same, by KEY."""
    for record, cost in find(records, "cost", engine="syscall"):
        for other in ("loop", "uring"):
            for _, others in find(records, "cost", engine=other, **{key: record[key]}):
                yield Goal(
                    f"{what} {record[key]}: batch beside {other}",
                    cost.median,
                    others.median,
                    strictly=True,
                )


def application_goals(records: Records) -> Iterator[Goal]:
    yield from fewest(records.get("total", ()), "total, by", "calls")
    yield from fewest(records.get("mdu", ()), "mdu, files:", "files")


def fault_goals(
    records: Sequence[Record], key: str, bounds: Mapping[tuple[str, int], float], name: str
) -> Iterator[Goal]:
    """What a page costs, by KEY, where a fault maps several, beside one page a fault."""
    writes = [record for record in records if record.get("access") == "write"]
    for (order, pages), bound in bounds.items():
        for _, single in find(writes, key, order=order, per_fault=1):
            for _, ahead in find(writes, key, order=order, per_fault=pages):
                what = f"{name}, {order}, {pages} pages a fault beside one"
                yield Goal(what, ahead.median / single.median, bound)


def pagefault_goals(records: Records) -> Iterator[Goal]:
    series, base = records.get("pagefault", ()), records.get("pagefault-base", ())
    yield from fault_goals(series, "beyond_clearing", FAULTS, "pagefault")
    for record, cost in find(series, "touch", per_fault=1):
        access, order = record["access"], record["order"]
        for _, before in find(base, "touch", per_fault=1, access=access, order=order):
            what = f"pagefault, {access} {order}, beyond the kernel without"
            yield Goal(what, cost.median - before.median, FAULT_PATH)
    uml = records.get("pagefault-uml", ())
    yield from fault_goals(uml, "touch", UML_FAULTS, "UML, pagefault")


def kstats_goals(records: Records) -> Iterator[Goal]:
    cost = {r["call"]: f.median for r, f in find(records.get("kstats", ()), "cost", here=True)}
    if {"null", "kstats", "counters, read in the kernel"} <= cost.keys():
        beyond_null = cost["kstats"] - cost["null"]
        ratio = beyond_null / cost["counters, read in the kernel"]
        yield Goal("kstats beside its counters, read in the kernel", ratio, KSTATS)


def uml_goals(records: Records) -> Iterator[Goal]:
    slopes = unimplemented(records.get("uml", ()))
    for record, slot in find(slopes, "slot", engine="syscall"):
        call = record["call"]
        yield Goal(f"UML, {call}, ns per slot", slot.median, UML_SLOT)
        # The naive one does nothing at all for a number beyond.
        naives = find(slopes, "slot", engine="naive", call=call) if "within" in call else ()
        for _, naive in naives:
            yield Goal(f"UML, {call}, ns beside naive", slot.median, naive.median)
        for other, _ in find(slopes, "slot", engine="loop", call=call):
            ratio = Figure.of([a / b for a, b in zip(other["slot"], record["slot"], strict=True)])
            yield Goal(f"UML, {call}, loop to batch", ratio.median, UML_RATIO, at_least=True)


def flexsc_goals(records: Records) -> Iterator[Goal]:
    for record, _ in find(records.get("flexsc-uml", ()), "posted", in_kernel=True):
        ratio = Figure.of([a / b for a, b in zip(record["plain"], record["posted"], strict=True)])
        what = f"UML, {record['call']}, plain to posted"
        yield Goal(what, ratio.median, UML_POSTED, at_least=True)


GOALS: tuple[Callable[[Records], Iterator[Goal]], ...] = (
    slot_goals,
    device_goals,
    path_goals,
    application_goals,
    pagefault_goals,
    kstats_goals,
    uml_goals,
    flexsc_goals,
)


def goals_of(records: Records) -> list[Goal]:
    """The goals that the benchmarks which ran can tell about."""
    return [goal for goals in GOALS for goal in goals(records)]


def goal_table(goals: Sequence[Goal]) -> str:
    columns = [
        column("GOAL", [goal.what for goal in goals], right=False),
        column("MEASURED", [number(goal.measured) for goal in goals], right=True),
        column("WANTED", [goal.condition for goal in goals], right=False),
        column("MET", ["yes" if goal.met else "NO" for goal in goals], right=False),
    ]
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))
