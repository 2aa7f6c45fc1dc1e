# SPDX-License-Identifier: MIT
"""The JSON of ferry bench, as ferry-bench(5) describes it: the fields that the page shows."""

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Literal

from .reader import Record, Rule

SCHEMA = "ferry-bench"
VERSION = 2

# Quotients of such numbers are finite.
Positive = Annotated[
    float, Rule("a number from 1e-30 to 1e30", lambda value: 1e-30 <= value <= 1e30)
]
NotNegative = Annotated[float, Rule("a number from 0 to 1e30", lambda value: 0 <= value <= 1e30)]
Share = Annotated[float, Rule("a number from 0 to 1", lambda value: 0 <= value <= 1)]
Count = Annotated[int, Rule("an integer above 0", lambda value: value > 0)]
NotEmpty = Rule("a list that is not empty", bool)
Trials = Annotated[list[Positive], NotEmpty]


class Header(Record):
    """What decides whether the rest is read."""

    version: int


class BenchHeader(Header):
    """What decides how the rest is read."""

    bench: str


class Machine(Record):
    cpu: str
    architecture: str
    cpus: int
    cpu_pinned: int | None
    smt: bool | None
    virtual_machine: bool
    governor: str | None
    load: float | None
    others: Share | None


class Kernel(Record):
    release: str
    version: str


class Clock(Record):
    name: str
    source: str | None
    resolution_ns: float
    overhead_ns: float
    tsc_hz: float | None


class RunWarning(Record):
    id: str
    text: str


class Finding(Record):
    """A sentence, and the name of the row, call, program or order that it is about."""

    about: str | None
    text: str


class FigureOf(Record):
    """A figure by which runs are compared."""

    what: str
    unit: str
    value: float
    se: float | None


class Column(Record):
    heading: str
    text: bool  # its cells are no numbers


class Table(Record):
    title: str
    columns: list[Column]
    rows: list[list[str]]  # the first cell names its row
    missing: list[str] = field(default_factory=list)  # sentences: what could not be measured
    note: str | None = None  # what the columns are

    def __post_init__(self) -> None:
        if not all(row and len(row) == len(self.columns) for row in self.rows):
            raise ValueError("has a row without one cell for each column")


class Run(Record):
    """What every bench states.  Its lists of trials are absent where only the figures were kept."""

    bench: str
    command: list[str]
    ferry: str
    started: str
    seconds: float
    complete: bool
    machine: Machine
    kernel: Kernel
    mitigations: dict[str, str]
    clock: Clock
    settings: dict[str, object]
    warnings: list[RunWarning]
    findings: list[Finding]
    unit: Literal["ns", "instructions"] = "ns"  # of the times, also where a name ends in _ns
    figures: list[FigureOf] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)  # none from early versions
    withheld: str | None = None  # why the run gives no verdict

    def value(self, what: str) -> float | None:
        """Of the figure with this name, in the unit of the run."""
        found = (one.value for one in self.figures if (one.what, one.unit) == (what, self.unit))
        return next(found, None)

    def measurements(self) -> Sequence["Measurement"]:
        return []

    def least(self, what: str) -> float | None:
        """The least trial, or the figure where no trials were kept."""
        found = (min(one.trials_ns) for one in self.measurements() if one.name == what)
        return next(found, None) or self.value(what)


class Measurement(Record):
    """The times of all trials, ns, and the bench's statistics of them."""

    available: Literal[True]
    name: str
    trials_ns: Trials
    median: Positive


class Row(Measurement):
    label: str
    kernel_share: float | None = None
    settled: bool = True  # the least times of both halves of the trials agree


class Rows(Run):
    """Of crossing and dispatch."""

    rows: list[Row] = field(default_factory=list)

    def measurements(self) -> Sequence[Measurement]:
        return self.rows


class ChainRow(Measurement):
    chain: str
    engine: str


class Chain(Run):
    chains: list[ChainRow] = field(default_factory=list)


class Fit(Record):
    """A line, and its 95 % band at each size."""

    line_ns: list[float]
    low_ns: list[float]
    high_ns: list[float]


class Series(Record):
    engine: str
    call: str
    label: str
    sizes: Annotated[list[Count], NotEmpty]
    body: int
    trials_ns: list[list[Positive]]
    least_ns: list[float]
    fit: Fit | None

    def __post_init__(self) -> None:
        if any(len(trial) != len(self.sizes) for trial in self.trials_ns):
            raise ValueError("has a trial without one time for each size")


class Ratio(Record):
    call: str
    engine: str
    against: str
    ratio: Positive
    se: float | None
    low: float | None
    high: float | None
    significant: bool | None  # None: withheld


class Batch(Run):
    series: list[Series] = field(default_factory=list)
    ratios: list[Ratio] = field(default_factory=list)


class PairRatio(Record):
    median: Positive
    low: Positive | None
    high: Positive | None


class Comparison(Record):
    available: Literal[True]
    app: str
    side: str
    against: str
    what: str
    commands: list[list[str]]
    ratios: Annotated[list[Positive], NotEmpty]
    ratio: PairRatio
    significant: bool | None  # None: withheld


class Apps(Run):
    comparisons: list[Comparison] = field(default_factory=list)


class Cell(Measurement):
    call: str
    way: str
    threads: Count | None
    runners: Count | None
    work_ns: NotNegative
    ratios: list[Positive]
    ratio: Positive
    significant: bool | None  # None: withheld
    caller_cpu_ns: NotNegative
    other_cpu_ns: NotNegative

    def __post_init__(self) -> None:
        if self.way == "flexsc" and None in (self.threads, self.runners):
            raise ValueError("is a cell of flexsc without threads or runners")


class Flexsc(Run):
    cells: list[Cell] = field(default_factory=list)

    def measurements(self) -> Sequence[Measurement]:
        return self.cells


class Touch(Measurement):
    label: str
    access: Literal["write", "read"]
    order: Literal["sequential", "random", "one_in_64"]
    way: str
    per_fault: Count | None
    touched: Positive
    ratio: Positive
    significant: bool | None  # None: withheld
    resident_bytes: float | None


class Pagefault(Run):
    touches: list[Touch] = field(default_factory=list)


KINDS: dict[str, type[Run]] = {
    "crossing": Rows,
    "batch": Batch,
    "dispatch": Rows,
    "chain": Chain,
    "apps": Apps,
    "files": Apps,
    "flexsc": Flexsc,
    "pagefault": Pagefault,
    "threads": Apps,
}
