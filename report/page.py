# SPDX-License-Identifier: MIT
"""The page: runs become sections, sections become HTML."""

import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import jinja2
from markupsafe import Markup

from . import apps, batch, crossing, dispatch, flexsc, pagefault
from .checks import Check, checks
from .facts import Facts, command, places, run_facts
from .folder import Folder, Measured
from .history import against_table, runs_table
from .schema import BENCHES, Apps, Batch, Crossing, Dispatch, Flexsc, Pagefault
from .section import Section, Table
from .words import counted, joined

HERE = Path(__file__).parent
LIBRARIES = ("numpy", "scipy", "matplotlib")


def section(name: str, measured: Measured) -> Section:
    run = measured.run
    match run:
        case Crossing():
            return crossing.section(name, measured.file, run)
        case Batch():
            return batch.section(name, measured.file, run)
        case Dispatch():
            return dispatch.section(name, measured.file, run)
        case Apps():
            return apps.section(name, measured.file, run)
        case Flexsc():
            return flexsc.section(name, measured.file, run)
        case Pagefault():
            return pagefault.section(name, measured.file, run)


def in_order(folder: Folder) -> list[Measured]:
    """Bench after bench; the newest run of each first."""
    newest_first = reversed(folder.measured)
    return sorted(newest_first, key=lambda each: list(BENCHES).index(each.run.bench))


def own_cautions(measured: Sequence[Measured], complaints: Sequence[str]) -> list[tuple[str, str]]:
    """What the runs themselves cannot know."""
    found = []
    if complaints:
        what = counted(len(complaints), "figure")
        found.append((f"SciPy does not agree on {what}; see the end of the page.", ""))
    if len(places(measured)) > 1:
        found.append(("The runs are of several machines, kernels or settings of them.", ""))
    return found


def cautions(measured: Sequence[Measured]) -> list[tuple[str, str]]:
    """Every warning of the runs once, with the files that have it."""
    files: dict[str, list[str]] = {}
    for each in measured:
        for caution in each.run.warnings:
            files.setdefault(caution.text, []).append(each.file)
    return [
        (text, "all runs" if len(names) == len(measured) > 1 else joined(names))
        for text, names in files.items()
    ]


def heading(measured: Sequence[Measured]) -> str:
    machines = sorted({each.run.machine.cpu for each in measured})
    return f"What crossings cost on {joined(machines)}"


def where(measured: Sequence[Measured]) -> str:
    kernels = sorted({each.run.kernel.release for each in measured})
    days = sorted({each.run.started[:10] for each in measured})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"Linux {joined(kernels)}, {span}. {counted(len(measured), 'run')}."


def checked(found: Sequence[Check], complaints: Sequence[str]) -> str:
    result = (
        "All of them agree."
        if not complaints
        else f"{counted(len(complaints), 'figure')} did not agree."
    )
    return (
        f"{counted(len(found), 'figure')} of these runs were computed again from the trials, "
        "with SciPy and NumPy: the summaries, fitted lines, ratios and intervals to a millionth "
        "of their value, and the errors of lines and slopes against a bootstrap of its own. "
        f"{result}"
    )


def histories(measured: Sequence[Measured]) -> list[Table]:
    tables = []
    for bench in BENCHES:
        runs = [each for each in measured if each.run.bench == bench]
        table = runs_table(runs)
        tables += [table] if table else []
    return tables + [against_table(each.run.against) for each in measured if each.run.against]


def as_shown(found: Section, several: bool) -> dict[str, object]:
    """FOUND for the template; SEVERAL runs are of its bench, so it is named by its file."""
    figures = [
        vars(figure) | {"wide": Markup(figure.wide), "narrow": Markup(figure.narrow)}
        for figure in found.figures
    ]
    return vars(found) | {
        "command": command(found.run),
        "figures": figures,
        "which": f" ({found.file})" if several else "",
    }


def shown_sections(measured: Sequence[Measured]) -> list[tuple[dict[str, object], Facts]]:
    benches = [each.run.bench for each in measured]
    return [
        (
            as_shown(section(f"{each.run.bench}-{i}", each), benches.count(each.run.bench) > 1),
            run_facts(each.run),
        )
        for i, each in enumerate(measured)
    ]


def template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("page.html.jinja")


def render(folder: Folder, made_by: str) -> str:
    """The whole page, as HTML."""
    measured = in_order(folder)
    found = [(each.file, check) for each in measured for check in checks(each.run)]
    complaints = [f"{file}: {check.complaint()}" for file, check in found if not check.holds()]
    libraries = [f"{name} {version(name)}" for name in LIBRARIES]
    return template().render(
        heading=heading(measured),
        where=where(measured),
        style=Markup((HERE / "page.css").read_text()),
        sections=shown_sections(measured),
        cautions=own_cautions(measured, complaints) + cautions(measured),
        places=places(measured),
        histories=histories(measured),
        checked=checked([check for _, check in found], complaints),
        complaints=complaints,
        left_out=folder.left_out,
        made_by=made_by,
        made_with=joined([f"Python {platform.python_version()}", *libraries]),
    )
