# SPDX-License-Identifier: MIT
"""What the series is to achieve, and whether the records of the benchmarks show it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ferry_lab.bench_figures import Figure, Record, column, figure, number

SLOT = 70.0  # instructions, of an unimplemented call and beyond the handler of others
ORDINARY_PATH = 1.0  # instructions that an ordinary call may take longer
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
    path_goals,
    application_goals,
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
