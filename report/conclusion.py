# SPDX-License-Identifier: MIT
"""What the runs of a directory mean for whoever made them: at most 15 lines.

The terminal, the page and conclusion.json, which ferry-report(1) describes, have their lines from
here.  A gain is named only where the bench itself calls it significant.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from .document import Apps, Batch, Flexsc, Pagefault, Rows, Run
from .files import BadInput, Folder, Measured, json_files, parse, read_file
from .words import counted, joined, significant

SCHEMA = "ferry-conclusion"
VERSION = 1

Kind = Literal["crossing", "gain", "none", "undecided", "bound", "caution", "unmeasured", "next"]
HEADINGS: Mapping[Kind, str] = {  # in the order of the lines
    "crossing": "What a crossing costs here",
    "gain": "What you gain here now",
    "none": "What gains nothing here",
    "undecided": "This run cannot tell",
    "bound": "What a kernel with batch() would save at most",
    "caution": "Before you trust this",
    "unmeasured": "Not measured",
    "next": "Next",
}
NOISE = "noise could explain the difference; repeat on a quiet machine."


@dataclass(frozen=True)
class Line:
    """A sentence and its subject."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Contest:
    """One way to do a job against the usual one."""

    side: str
    against: str
    ratio: float  # how many times as fast SIDE is
    significant: bool | None  # None: the bench withholds a verdict

    def words(self) -> str:
        return f"{self.side}, {significant(self.ratio)} times as fast as {self.against}"


@dataclass(frozen=True)
class Job:
    """What can be done in several ways.  WHY is said where none of them gains."""

    name: str
    why: str
    contests: list[Contest]


def has_trials(run: Run) -> bool:
    """Of a document of which only the figures were kept, no verdict is left."""
    return any(getattr(run, name, None) for name in ("comparisons", "touches", "series", "cells"))


# ---- the jobs that each bench measures ----

FILES = ("stat", "read", "walk", "du")


def file_contests(run: Apps, app: str) -> Iterable[Contest]:
    """Against what each job names first: the usual way in C."""
    pairs = [pair for pair in run.comparisons if pair.app == app]
    for pair in pairs:
        if pair.against == pairs[0].against:
            yield Contest(pair.side, pair.against, pair.ratio.median, pair.significant)


def memory_contests(run: Pagefault) -> Iterable[Contest]:
    for touch in run.touches:
        in_order = (touch.access, touch.order) == ("write", "sequential")
        if in_order and touch.way not in ("base", "clear"):
            yield Contest(touch.label, "a fault for each page", touch.ratio, touch.significant)


def batch_contests(run: Batch) -> Iterable[Contest]:
    """By engines: what --beside adds, such as io_uring by hand, cannot run a program's batches."""
    beside = run.settings.get("beside")
    others = beside if isinstance(beside, list) else []
    for each in run.ratios:
        if each.engine not in others:
            side = f"{each.call} on {each.engine}"
            yield Contest(side, each.against, each.ratio, each.significant)


def posted_contests(run: Flexsc) -> Iterable[Contest]:
    for cell in run.cells:
        if cell.way == "flexsc":
            side = f"{cell.call} with {cell.work_ns:.0f} ns of work between calls"
            yield Contest(side, "plain calls", cell.ratio, cell.significant)


def thread_contests(run: Apps) -> Iterable[Contest]:
    for pair in run.comparisons:
        if pair.app in ("echo", "java") and pair.side == "carried, 64 of 64":
            side, against = f"{pair.app} under ferry threads", "plain, by CPU time per request"
            yield Contest(side, against, pair.ratio.median, pair.significant)


JOBS: Mapping[str, tuple[str, str, Callable[[Any], Iterable[Contest]]]] = {
    "pagefault": ("memory ahead", "no way to map it at once was faster", memory_contests),
    "batch": ("batches", "no engine here carries several calls in one crossing", batch_contests),
    "flexsc": (
        "posted calls (flexsc)",
        "the runner needs an idle CPU, and the program work between its calls",
        posted_contests,
    ),
    "threads": (
        "a server with a thread per connection, 64 busy",
        "its threads switch too seldom for carriers to gain",
        thread_contests,
    ),
}


def jobs_of(run: Run) -> Iterable[Job]:
    if run.bench in JOBS:
        name, why, contests = JOBS[run.bench]
        yield Job(name, why, list(contests(run)))
    if isinstance(run, Apps) and run.bench == "files":
        why = "these calls share their work among idle CPUs"
        found = ((app, list(file_contests(run, app))) for app in FILES)
        yield from (Job(f"many files, {app}", why, pairs) for app, pairs in found if pairs)


# ---- sentences ----


def job_line(job: Job, busy: bool) -> Line:
    """Where the run cannot tell, no more than the name of the job: on a BUSY machine it may lack
    only the idle CPUs."""
    gains = [each for each in job.contests if each.significant and each.ratio > 1]
    if gains:
        best = max(gains, key=lambda each: each.ratio)
        return Line("gain", f"{job.name}: {best.words()}.")
    if job.contests and (busy or not all(each.significant for each in job.contests)):
        return Line("undecided", job.name)
    if not job.contests:
        return Line("none", f"{job.name}: {job.why}.")
    best = max(job.contests, key=lambda each: each.ratio)
    return Line("none", f"{job.name}: {best.words()}; {job.why}.")


def crossing_lines(run: Rows) -> Iterable[Line]:
    bare, function = run.least("unimplemented"), run.least("function")
    if not bare or not function:
        return
    if not all(row.settled for row in run.rows if row.name == "unimplemented"):
        yield Line(
            "caution",
            "What a crossing costs is withheld: its least times differ from one half of the"
            " trials to the other. Repeat on a quiet machine.",
        )
        return
    cost = f"{significant(bare)} {run.unit}"
    calls = counted(round(bare / function), "call")
    yield Line(
        "crossing",
        f"A system call that does nothing takes {cost}, the least of its trials, as long as {calls}"
        " of a function.",
    )
    shares = [
        f"{100 * (1 - row.kernel_share):.0f} % of {row.label}"
        for row in run.rows
        if row.name in ("write", "stat") and row.kernel_share is not None
    ]
    parts = f": {' and '.join(shares)}" if shares else ""
    yield Line(
        "bound",
        f"Less than {cost} per call{parts}. A bound, because batch() saves"
        " the crossing only, and spends some of that on its own work.",
    )


def is_busy(run: Run) -> bool:
    return any(each.id == "busy" for each in run.warnings)


def run_lines(run: Run) -> Iterable[Line]:
    if run.withheld:  # withheld_lines() has it
        return
    if not run.complete:
        yield Line("unmeasured", f"ferry bench {run.bench}: it was interrupted.")
    elif isinstance(run, Rows) and run.bench == "crossing":
        yield from crossing_lines(run)
    elif has_trials(run):
        yield from (job_line(job, is_busy(run)) for job in jobs_of(run))


def withheld_lines(runs: Sequence[Run]) -> Iterable[Line]:
    """One for each reason."""
    for why in dict.fromkeys(run.withheld for run in runs if run.withheld):
        benches = joined([run.bench for run in runs if run.withheld == why])
        yield Line(
            "caution",
            f"ferry bench {benches} gives no verdict: {why.rstrip('.')}."
            " Repeat when that has ended.",
        )


def busy_lines(runs: Sequence[Run]) -> Iterable[Line]:
    busy = [run.bench for run in runs if is_busy(run)]
    if busy:
        yield Line(
            "caution",
            f"Other programs took CPU time from {', '.join(busy)}: repeat on a quiet machine.",
        )


def conclude(runs: Sequence[Run], others: Sequence[Line]) -> list[Line]:
    """The lines, in order, from RUNS, one of each bench; OTHERS say what is not in these."""
    lines = [line for run in runs for line in run_lines(run)]
    unsure = [line.text for line in lines if line.kind == "undecided"]
    lines = [line for line in lines if line.kind != "undecided"]
    lines += [Line("undecided", f"{'; '.join(unsure)}: {NOISE}")] if unsure else []
    lines += [*withheld_lines(runs), *busy_lines(runs), *others]
    return sorted(lines, key=lambda line: list(HEADINGS).index(line.kind))


def newest(measured: Iterable[Measured]) -> list[Run]:
    """The last run of each bench."""
    in_order = sorted(measured, key=lambda each: each.run.started)
    return list({each.run.bench: each.run for each in in_order}.values())


def next_line(ferry: str) -> Line:
    return Line("next", f"{ferry} trace YOUR-PROGRAM shows what it would gain.")


def read_conclusion(directory: Path, unmeasured: Mapping[str, str] | None = None) -> list[Line]:
    """The lines for the bench documents in DIRECTORY, which may be none; BadInput as files.py."""
    found = [read_file(path) for path in json_files(directory)]
    others = [
        Line("unmeasured", f"ferry bench {bench}: {why}")
        for bench, why in (unmeasured or {}).items()
    ]
    others.append(next_line("build/cli/ferry"))
    return conclude(newest(each for each in found if isinstance(each, Measured)), others)


def as_json(lines: Sequence[Line]) -> str:
    """The document that ferry-report(1) describes."""
    whole = {"schema": SCHEMA, "version": VERSION, "lines": [asdict(line) for line in lines]}
    return json.dumps(whole, indent=2) + "\n"


def written(path: Path) -> list[Line]:
    """The lines of a conclusion.json; BadInput where it is none."""
    (content, *_) = parse(path)
    try:
        if not isinstance(content, dict) or content["schema"] != SCHEMA:
            raise KeyError
        return [Line(line["kind"], line["text"]) for line in content["lines"]]
    except (KeyError, TypeError):
        raise BadInput(f"{path}: not a conclusion, as ferry-report(1) describes it") from None


def of_folder(folder: Folder) -> list[Line]:
    """The lines for the page, which has what conclusion.json adds to the runs."""
    runs = newest(folder.measured)
    benches = tuple(f"ferry bench {run.bench}:" for run in runs)
    kept = [line for path in folder.conclusions for line in written(path)]
    others = [
        line
        for line in kept
        if line.kind == "next" or (line.kind == "unmeasured" and not line.text.startswith(benches))
    ]
    return conclude(runs, others or [next_line("ferry")])


def as_text(lines: Sequence[Line]) -> list[str]:
    """A terminal's lines."""
    return [f"{HEADINGS[line.kind]}: {line.text}" for line in lines]
