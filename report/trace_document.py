# SPDX-License-Identifier: MIT
"""The JSON of ferry trace, as ferry-trace(1) describes it: the fields that the page shows."""

from typing import Literal

from .document import Count, NotNegative
from .reader import Record

SCHEMA = "ferry-trace"
VERSION = 1


class Estimate(Record):
    value: float | None
    error: float | None


class Known(Record):
    """Where the time goes, if MISSING does not say why that is not known."""

    missing: str | None
    cpu_ns: float | None = None
    user_ns: Estimate | None = None
    crossings_ns: Estimate | None = None
    kernel_ns: Estimate | None = None
    waiting_ns: float | None = None


class Calls(Record):
    call: str
    calls: Count
    failed: int


class Argument(Record):
    source: Literal["constant", "before", "result", "buffer", "user"]
    step: int | None  # that it comes from


class Step(Record):
    call: str
    failed: bool
    calls: NotNegative
    begins_batch: bool
    alone: bool
    arguments: list[Argument]


class Follower(Record):
    sequence: int | None
    times: Count


class Sequence(Record):
    turns: NotNegative
    batches: NotNegative
    verdict: Literal["entirely", "in parts", "not"]
    why: str | None
    steps: list[Step]
    followers: list[Follower]


class Site(Record):
    """Where a program makes the calls of a finding."""

    share: float
    site: str


class Finding(Record):
    kind: str
    sentence: str
    cure: str
    saved_ns: Estimate
    waits: bool
    share: float | None
    sites: list[Site] | None = None  # with --stacks


class Wait(Record):
    call: str
    file: str
    times: Count
    ns: NotNegative
    mean_ns: NotNegative
    p99_ns: NotNegative


class Saving(Record):
    name: str
    what: str
    missing: str | None
    saved_ns: Estimate
    share: float | None


class Trace(Record):
    program: str
    method: Literal["bpf", "ptrace"]
    total: int
    threads: int
    tracing_ns: Estimate | None
    lost_calls: int
    time: Known
    calls: list[Calls]
    sequences: list[Sequence]
    savings: list[Saving]
    findings: list[Finding]
    waits: list[Wait]
