# SPDX-License-Identifier: MIT
"""The page: runs become sections, sections become HTML."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from . import apps, batch, flexsc, pagefault, regions, rows, trace
from .circumstances import Facts, cautions, places, run_facts
from .conclusion import HEADINGS, of_folder
from .document import (
    KINDS,
    Apps,
    Batch,
    Chain,
    FigureOf,
    Flexsc,
    Pagefault,
    Rows,
    Run,
    Table,
)
from .drawing import CSS
from .files import BadInput, Folder, Measured, Traced
from .first import first_figure
from .history import histories, reasons
from .section import Figure, Section, grouped, table
from .trace import headline, time_figure
from .words import joined, measured_in, with_error

SECTIONS: dict[type[Run], Callable[[str, Any], Section]] = {
    Rows: rows.section,
    Batch: batch.section,
    Chain: rows.chain_section,
    Apps: apps.section,
    Flexsc: flexsc.section,
    Pagefault: pagefault.section,
}
EMULATED = "user-mode-linux"  # the warning that ratios from there carry


@dataclass(frozen=True)
class Shown:
    """A run or a trace as the page shows it."""

    name: str  # unique on the page
    file: str
    section: Section
    headline: str  # what was concluded first
    command: str
    figures: list[tuple[Figure, list[str]]]  # with the findings about each
    which: str = ""  # distinguishes runs of one bench
    run: Run | None = None
    findings: list[str] = field(default_factory=list)  # the others
    cautions: list[str] = field(default_factory=list)
    facts: Facts = ()


def assign(run: Run, figures: Sequence[Figure]) -> tuple[list[list[str]], list[str]]:
    """The findings about each figure, and the findings that belong to none."""
    found: list[list[str]] = [[] for _ in figures]
    others: list[str] = []
    for finding in run.findings:
        places = [i for i, figure in enumerate(figures) if finding.about in figure.about]
        (found[places[0]] if places else others).append(finding.text)
    return found, others


def notes(run: Run) -> list[str]:
    """What could not be measured, each once."""
    if not run.tables:
        return ["This file has figures and no trials."]
    return list(dict.fromkeys(text for table in run.tables for text in table.missing))


def show(name: str, measured: Measured, several: bool) -> Shown:
    run = measured.run
    with measured_in(run.unit):
        section = SECTIONS[type(run)](name, run)
    about, others = assign(run, section.figures)
    return Shown(
        name=name,
        file=measured.file,
        section=replace(
            section,
            tables=[*tables(run), *section.tables],
            notes=[*notes(run), *section.notes],
        ),
        headline=run.findings[0].text if run.findings else "nothing was concluded.",
        command=shlex.join(run.command),
        figures=list(zip(section.figures, about, strict=True)),
        which=f" ({measured.file})" if several else "",
        run=run,
        findings=others,
        cautions=[warning.text for warning in run.warnings if warning.id == EMULATED],
        facts=run_facts(run),
    )


def show_trace(name: str, traced: Traced) -> Shown:
    section = trace.section(name, traced.trace)
    return Shown(
        name=name,
        file=traced.file,
        section=section,
        headline=headline(traced.trace),
        command=f"ferry trace --json {traced.trace.program} ...",
        figures=[(figure, []) for figure in section.figures],
    )


def tables(run: Run) -> list[Table]:
    if run.tables:
        return [found for found in run.tables if found.rows]
    columns: dict[str, Callable[[FigureOf], str]] = {
        "figure": lambda one: one.what,
        "value ± one standard error": lambda one: with_error(one.value, one.se),
        "unit": lambda one: one.unit,
    }
    return [table("The figures", run.figures, columns)] if run.figures else []


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Numbers that no rule of the reader excludes can be too odd to draw; WHAT has them."""
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(f"{what}: no page can show this: {error!r}") from None


def show_all(folder: Folder, measured: Sequence[Measured], compare: bool) -> list[Shown]:
    benches = [each.run.bench for each in measured]
    shown = []
    for i, each in enumerate([] if compare else measured):
        with naming(each.file):
            shown.append(show(f"{each.run.bench}-{i}", each, benches.count(each.run.bench) > 1))
    for i, traced in enumerate(folder.traced):
        with naming(traced.file):
            shown.append(show_trace(f"trace-{i}", traced))
    for i, explained in enumerate(folder.explained):
        with naming(explained.file):
            shown.append(
                Shown(
                    name=f"cc-{i}",
                    file=explained.file,
                    section=regions.section(explained.regions),
                    headline=regions.headline(explained.regions),
                    command=f"ferry cc --explain=json:{explained.file}",
                    figures=[],
                )
            )
    return shown


def first(folder: Folder, compare: bool) -> tuple[Figure | None, list[tuple[str, list[str]]]]:
    """The first screen: a figure, and the sentences of a conclusion under their headings."""
    if compare:
        return None, []
    if not folder.measured:
        traces = [each.trace for each in folder.traced]
        lines = [(trace.program, [headline(trace)]) for trace in traces]
        return time_figure("first", *traces) if traces else None, lines
    by_kind = grouped(of_folder(folder), lambda line: line.kind)
    lines = [(HEADINGS[kind], [line.text for line in same]) for kind, same in by_kind.items()]
    return first_figure(folder.measured), lines


def in_order(folder: Folder) -> list[Measured]:
    """Bench after bench; the newest run of each first."""
    return sorted(folder.measured[::-1], key=lambda each: list(KINDS).index(each.run.bench))


def heading(measured: Sequence[Measured], traced: Sequence[Traced]) -> str:
    if not measured and not traced:
        return "Runs of calls that batches could make"
    if not measured:
        return f"What wastes the time of {joined(sorted({t.trace.program for t in traced}))}"
    machines = sorted({each.run.machine.cpu for each in measured})
    return f"What crossings cost on {joined(machines)}"


def where(folder: Folder) -> str:
    measured = folder.measured
    if not measured:
        return f"{folder.counts()}."
    kernels = sorted({each.run.kernel.release for each in measured})
    days = sorted({each.run.started[:10] for each in measured})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"Linux {joined(kernels)}, {span}. {folder.counts()}."


def render_all(folder: Folder, made_by: str, compare: bool) -> str:
    measured = folder.measured if compare else in_order(folder)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(
        heading=heading(measured, folder.traced),
        where=where(folder),
        first=first(folder, compare),
        style=Markup(CSS),
        shown=show_all(folder, measured, compare),
        cautions=cautions(measured),
        places=places(measured),
        histories=histories(measured),
        compare=compare,
        reasons=reasons(measured) if compare else [],
        left_out=folder.left_out,
        made_by=made_by,
    )


def render(folder: Folder, made_by: str, compare: bool = False) -> str:
    """The whole page, as HTML; to COMPARE is to show the figures that runs share, and no run."""
    files = [
        each.file for found in (folder.measured, folder.traced, folder.explained) for each in found
    ]
    with naming(joined(files)):
        return render_all(folder, made_by, compare)
