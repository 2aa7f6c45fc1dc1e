# SPDX-License-Identifier: MIT
"""The JSON of ferry bench, as ferry-bench(5) has it: the fields that the report uses."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

SCHEMA = "ferry-bench"
VERSION = 2

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(gt=0)]
Trials = Annotated[list[Positive], Field(min_length=1)]


MEASURED, ABSENT = "(measured)", "(absent)"


def is_measured(value: Any) -> str | None:  # noqa: ANN401
    """Which of two kinds of row an object is: one with figures, or one that tells why not."""
    available = value.get("available") if isinstance(value, dict) else None
    return {True: MEASURED, False: ABSENT}.get(available) if available in (True, False) else None


class Record(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class Header(Record):
    """What decides how the rest is read."""

    version: int
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


class Caution(Record):
    id: str
    text: str


class Finding(Record):
    """A sentence, and the name of the row, call, program or order that it is about."""

    about: str | None
    text: str


class Earlier(Record):
    """One figure of this run beside that of an earlier run."""

    what: str
    unit: Literal["ns", "ratio"]
    before: float
    before_se: float | None
    now: float
    now_se: float | None
    different: bool


class Against(Record):
    file: str
    started: str
    rows: list[Earlier]


class Run(Record):
    """What every bench states."""

    version: int
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
    warnings: list[Caution]
    findings: list[Finding]
    against: Against | None = None


class Absent(Record):
    """A row for a call that the measured kernel does not have."""

    available: Literal[False]
    name: str
    label: str
    reason: str | None


class Measurement(Record):
    """The times of all trials, ns, and what the bench made of them."""

    available: Literal[True]
    name: str
    trials_ns: Trials
    mean: float
    min: float
    max: float
    sd: float | None
    median: float
    se: float | None


class Row(Measurement):
    label: str
    calls: int
    cycles: float | None
    ratio: float | None
    kernel_share: Annotated[float, Field(le=1)] | None = None


AnyRow = Annotated[
    Annotated[Row, Tag(MEASURED)] | Annotated[Absent, Tag(ABSENT)], Discriminator(is_measured)
]


class Crossing(Run):
    bench: Literal["crossing"]
    loop_ns: float | None
    rows: list[AnyRow]


class Dispatch(Run):
    bench: Literal["dispatch"]
    rows: list[AnyRow]


class Fit(Record):
    a_ns: float
    b_ns: float
    a_se: float
    b_se: float
    correlation: Annotated[float, Field(ge=-1, le=1)]
    misfit: float


class Series(Record):
    engine: str
    call: str
    label: str
    sizes: Annotated[list[Count], Field(min_length=1)]
    body: int
    trials_ns: list[list[Positive]]
    fit: Fit | None

    @model_validator(mode="after")
    def every_trial_has_every_size(self) -> "Series":
        if any(len(trial) != len(self.sizes) for trial in self.trials_ns):
            raise ValueError("a trial has not one time for each size")
        return self


class Ratio(Record):
    call: str
    engine: str
    against: str
    ratio: float
    se: float
    significant: bool
    break_even: float | None
    break_even_se: float | None
    first_faster: int | None
    at_largest: float | None = None


class Batch(Run):
    bench: Literal["batch"]
    series: list[Series]
    ratios: list[Ratio]


class Missing(Record):
    """A comparison of which one side was not there."""

    available: Literal[False]
    app: str
    side: str
    against: str
    what: str
    reason: str | None


class PairRatio(Record):
    median: Positive
    low: Positive | None
    high: Positive | None
    confidence: Share | None
    quartile_low: Positive
    quartile_high: Positive


class Comparison(Record):
    available: Literal[True]
    app: str
    side: str
    against: str
    what: str
    commands: list[list[str]]
    pairs_ns: Annotated[list[tuple[Positive, Positive]], Field(min_length=1)]
    median_ns: tuple[float, float]
    ratio: PairRatio
    significant: bool
    equal: bool | None


AnyComparison = Annotated[
    Annotated[Comparison, Tag(MEASURED)] | Annotated[Missing, Tag(ABSENT)],
    Discriminator(is_measured),
]


class Apps(Run):
    bench: Literal["apps"]
    comparisons: list[AnyComparison]


class AbsentCell(Record):
    """A way to make a call that the measured kernel does not have, or not for this call."""

    available: Literal[False]
    name: str
    call: Literal["write", "getpid"]
    way: str
    reason: str | None


class Latency(Record):
    p50: NotNegative
    p90: NotNegative
    p99: NotNegative
    max: NotNegative


class Phases(Record):
    """Means.  One can be negative: the caller and the runner read the clocks of two CPUs."""

    claim: float
    find: float
    run: float
    see: float


class Cell(Measurement):
    call: Literal["write", "getpid"]
    way: Literal["plain", "batch", "uring", "sqpoll", "flexsc"]
    threads: Count | None
    runners: Count | None
    work_ns: NotNegative
    calls: Count
    ratio: Positive
    ratio_se: float | None
    significant: bool
    caller_cpu_ns: NotNegative
    other_cpu_ns: NotNegative
    latency_ns: Latency
    phases_ns: Phases | None

    @model_validator(mode="after")
    def flexsc_has_threads_and_runners(self) -> "Cell":
        if self.way == "flexsc" and None in (self.threads, self.runners, self.phases_ns):
            raise ValueError("a cell of flexsc lacks its threads, runners or phases")
        return self


AnyCell = Annotated[
    Annotated[Cell, Tag(MEASURED)] | Annotated[AbsentCell, Tag(ABSENT)],
    Discriminator(is_measured),
]


class Flexsc(Run):
    bench: Literal["flexsc"]
    cells: list[AnyCell]


class AbsentTouch(Record):
    """A way to have pages that the measured kernel does not have."""

    available: Literal[False]
    name: str
    label: str
    way: str
    reason: str | None


class Touch(Measurement):
    label: str
    access: Literal["write", "read"]
    order: Literal["sequential", "random", "one_in_64"]
    way: str
    per_fault: Count | None
    large_page: Count | None
    touched: Positive
    ratio: float
    ratio_se: float | None
    significant: bool
    later_ns: float
    faults: float
    exceptions: float | None
    mapped_pages: float
    resident_bytes: float | None
    wasted_bytes: float | None


AnyTouch = Annotated[
    Annotated[Touch, Tag(MEASURED)] | Annotated[AbsentTouch, Tag(ABSENT)],
    Discriminator(is_measured),
]


class Pagefault(Run):
    bench: Literal["pagefault"]
    memory_bytes: Count
    page_bytes: Count
    touches: list[AnyTouch]


AnyRun = Crossing | Batch | Dispatch | Apps | Flexsc | Pagefault
BENCHES: dict[str, type[AnyRun]] = {
    "crossing": Crossing,
    "batch": Batch,
    "dispatch": Dispatch,
    "apps": Apps,
    "flexsc": Flexsc,
    "pagefault": Pagefault,
}
