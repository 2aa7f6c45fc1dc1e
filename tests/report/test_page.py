# SPDX-License-Identifier: MIT
"""The page says what the runs say, and nothing else."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sample
from conftest import Write, make_report
from html_page import Element, parse

from report.drawing import COLOURS
from report.words import fixed, significant, time, with_error

BENCHES = ["crossing", "batch", "dispatch", "apps", "flexsc", "pagefault"]


def page_of(directory: Path) -> Element:
    done = make_report(directory)
    assert done.returncode == 0, done.stderr
    return parse((directory / "report.html").read_text())


@pytest.fixture(scope="session")
def page(page_path: Path) -> Element:
    return parse(page_path.read_text())


def section(page: Element, bench: str) -> Element:
    return page.one("section", id=f"{bench}-{BENCHES.index(bench)}")


def table_rows(page: Element) -> dict[str, list[str]]:
    """Every row of every table, by its first cell."""
    return {
        row.all("th")[0].text(): [cell.text() for cell in row.all("td")]
        for table in page.all("table")
        for row in table.one("tbody").all("tr")
    }


def shown(text: str) -> str:
    """TEXT as Element.text() gives it."""
    return re.sub(r"\s", " ", text)


def dots(panel: Element) -> int:
    """How many trials are drawn."""
    paths = [path for group in panel.all("g", class_="dots") for path in group.all("path")]
    return sum(path.attributes["d"].count("M") for path in paths)


def panels(page: Element, figure: str) -> list[Element]:
    return page.one("figure", id=figure).all("div", class_="panel")


def see(page: Element, figure: str) -> list[str]:
    findings = page.one("figure", id=figure).all("ul", class_="see")
    return [item.text() for one in findings for item in one.all("li")]


def test_the_machine_and_the_circumstances_are_described(page: Element) -> None:
    run = sample.crossing()
    assert page.one("h1").text() == f"What crossings cost on {run['machine']['cpu']}"
    for fact in (
        *run["kernel"].values(),
        run["clock"]["name"],
        run["clock"]["source"],
        run["started"],
        *run["mitigations"].keys(),
        *run["mitigations"].values(),
        *(f"Setting: {name}" for name in run["settings"]),
    ):
        assert fact in page.text()


def test_sections_come_in_the_order_of_the_benches(page: Element) -> None:
    ids = [section.attributes["id"] for section in page.all("section")]
    assert ids == ["short", "machine", *(f"{name}-{i}" for i, name in enumerate(BENCHES))]


@pytest.mark.parametrize("bench", BENCHES)
def test_each_figure_says_what_made_it_and_what_it_shows(page: Element, bench: str) -> None:
    figures = section(page, bench).all("figure")
    assert figures
    for figure in figures:
        assert figure.one("p", class_="made").text() == f"Made by ferry bench {bench} --json"
        assert figure.one("h3").text()
        assert figure.all("div", class_="panel")
        assert len(figure.one("div", role="img").attributes["aria-label"]) > 40


@pytest.mark.parametrize("bench", BENCHES)
def test_findings_stand_beside_what_they_are_about(page: Element, bench: str) -> None:
    own = section(page, bench)
    assert f"A finding about {bench}." in page.one("ul", class_="short").text()
    assert own.all("ul", class_="see")[0].text() == f"A finding about {bench}."
    for finding in sample.all_benches()[bench]["findings"]:
        assert own.text().count(finding["text"]) == 1


def test_each_finding_is_at_the_figure_of_its_key(page: Element) -> None:
    assert see(page, "batch-1-call1") == ["A finding about write."]
    assert see(page, "flexsc-4-write-gain") == ["A finding about write."]
    assert see(page, "pagefault-5-ways") == ["A finding about sequential."]
    assert see(page, "pagefault-5-sizes") == ["A finding about one_in_64."]


def test_warnings_come_first_once(page: Element) -> None:
    warning = sample.crossing()["warnings"][0]["text"]
    assert f"{warning} all runs" in page.one("div", class_="caution").text()
    assert page.text().count(warning) == 1


def test_ratios_of_user_mode_linux_carry_its_warning(results: Write) -> None:
    run = sample.apps(pairs=6)
    run["warnings"].append({"id": "user-mode-linux", "text": "A crossing is a process switch."})
    page = page_of(results({"run": run}))
    assert "A crossing is a process switch." in page.one("section", id="short").text()
    assert "A crossing is a process switch." in page.one("section", id="apps-0").text()


@pytest.mark.parametrize("bench", ["crossing", "dispatch"])
def test_every_row_is_in_the_figure_and_in_the_table(page: Element, bench: str) -> None:
    medians, trials = panels(page, f"{bench}-{BENCHES.index(bench)}-rows")
    table = table_rows(section(page, bench))
    rows = [row for row in sample.all_benches()[bench]["rows"] if row["available"]]
    for row in rows:
        assert row["label"] in medians.text()
        assert row["label"] in trials.text()
        assert shown(time(row["median"])) in medians.text()
        cells = table[row["label"]]
        assert cells[0] == significant(row["median"], 4)
        assert cells[2:5] == [significant(row[name], 4) for name in ("mean", "min", "max")]
    assert dots(trials) == sum(len(row["trials_ns"]) for row in rows)
    assert "kstats (ferry): this kernel lacks the call." in section(page, bench).text()


def test_a_crossing_of_unknown_share_is_not_split(results: Write) -> None:
    run = sample.crossing()
    run["rows"] = [row for row in run["rows"] if row["name"] in ("function", "write")]
    run["rows"][1]["kernel_share"] = None
    key = page_of(results({"cut": run})).one("ul", class_="key").text()
    assert "in user space only" in key
    assert "is not known" in key
    assert "bare crossing" not in key


def test_every_call_has_a_figure_with_its_engines(page: Element) -> None:
    run = sample.batch()
    for i, call in enumerate(sample.LINES):
        figure = page.one("figure", id=f"batch-1-call{i}")
        assert figure.one("h3").text() == f"Cost against batch size: {call} of nothing much"
        for panel in panels(page, f"batch-1-call{i}"):
            assert {"loop", "uring"} <= {text.text() for text in panel.all("text")}
            assert dots(panel) == 2 * 12 * len(sample.SIZES)
    for series in run["series"]:
        fit = series["fit"]
        cells = table_rows(page)[f"{series['engine']}, {series['call']}"]
        assert cells[0] == shown(with_error(fit["a_ns"], fit["a_se"]))
        assert cells[1] == shown(with_error(fit["b_ns"], fit["b_se"]))


def test_ratios_have_their_errors_and_break_even(page: Element) -> None:
    (panel,) = panels(page, "batch-1-ratios")
    table = section(page, "batch").all("table")[1].one("tbody")
    for ratio, row in zip(sample.batch()["ratios"], table.all("tr"), strict=True):
        value = shown(with_error(ratio["ratio"], ratio["se"]))
        assert value in [text.text() for text in panel.all("text")]
        even = shown(with_error(ratio["break_even"], ratio["break_even_se"]))
        faster = str(ratio["first_faster"]) if ratio["first_faster"] else "\N{EN DASH}"
        cells = [cell.text() for cell in row.all("td")]
        assert cells[2] == value
        assert cells[4:6] == [even, faster]


def test_every_pair_of_programs_is_drawn(page: Element) -> None:
    (panel,) = panels(page, "apps-3-ratios")
    comparisons = [each for each in sample.apps()["comparisons"] if each["available"]]
    assert dots(panel) == sum(len(each["pairs_ns"]) for each in comparisons)
    words = [text.text() for text in panel.all("text")]
    for each in comparisons:
        low, high = (significant(each["ratio"][end]) for end in ("low", "high"))
        assert f"{significant(each['ratio']['median'])} ({low} to {high})" in words
        assert f"{each['app']}: {each['side']} / {each['against']}" in words
    assert "mdu: device / loop: there is no /dev/ferry." in page.text()


def test_every_runner_way_and_trial_of_flexsc_is_drawn(page: Element) -> None:
    threads, work = panels(page, "flexsc-4-write-gain")
    assert dots(threads) == 2 * len(sample.THREADS) * 5
    assert dots(work) == (2 + 3) * len(sample.WORKS) * 5
    for panel in (threads, work):
        words = {text.text() for text in panel.all("text")}
        assert {"1 runner", "2 runners", "batches", "io_uring", "SQPOLL"} <= words


def test_latency_phases_and_cpu_of_flexsc_are_drawn(page: Element) -> None:
    latency, phases = panels(page, "flexsc-4-write-latency")
    (cpu,) = panels(page, "flexsc-4-write-cpu")
    cells = [cell for cell in sample.flexsc()["cells"] if cell["available"]]
    usual = next(cell for cell in cells if cell["name"] == "write flexsc 64 1 W100")
    ends = f"{time(usual['latency_ns']['p50'])}, {time(usual['latency_ns']['p99'])}"
    assert shown(ends) in latency.text()
    assert "800 ns" in phases.text()
    both = usual["caller_cpu_ns"] + usual["other_cpu_ns"]
    assert shown(f"{time(both)}, {significant(usual['ratio'])} times") in cpu.text()
    for panel in (latency, phases, cpu):
        assert "512 threads, 1 runner" in panel.text()
        assert "64 threads, 2 runners" in panel.text()


def test_every_cell_is_in_a_table_and_what_is_missing_in_the_notes(page: Element) -> None:
    own = section(page, "flexsc")
    cells = [cell for cell in sample.flexsc()["cells"] if cell["available"]]
    assert sum(len(table.one("tbody").all("tr")) for table in own.all("table")) == 2 * len(cells)
    assert own.text().count("getpid by io_uring: no such request.") == 1


def test_every_way_to_map_pages_is_shown(page: Element) -> None:
    medians, _ = panels(page, "pagefault-5-ways")
    cells = table_rows(section(page, "pagefault"))
    touches = [each for each in sample.pagefault()["touches"] if each["available"]]
    orders = {"sequential": "in order", "random": "random", "one_in_64": "one page in 64"}
    for touch in touches:
        order = "read" if touch["access"] == "read" else orders[touch["order"]]
        label = f"{touch['label']}, {order}"
        assert cells[label][0] == shown(with_error(touch["median"], touch["se"]))
        if touch["way"] != "ahead" and touch["order"] != "one_in_64":
            assert label in medians.text()
            assert shown(time(touch["median"])) in medians.text()
    assert "MAP_POPULATE: set to never." in section(page, "pagefault").text()


def test_time_and_memory_are_drawn_by_pages_per_fault(page: Element) -> None:
    times, memory = panels(page, "pagefault-5-sizes")
    assert dots(times) == 3 * (1 + len(sample.FAULT_SIZES)) * 6
    for panel in (times, memory):
        words = {text.text() for text in panel.all("text")}
        assert {"in order", "random", "one page in 64", "1", "512"} <= words


def test_a_kernel_without_multi_page_alloc_has_no_figure_of_it(results: Write) -> None:
    page = page_of(results({"run": sample.pagefault(ahead=False)}))
    assert len(page.all("figure")) == 1
    assert "A finding about one_in_64." in page.one("section", id="pagefault-0").text()


def test_an_interrupted_run_is_shown_as_such(results: Write) -> None:
    run = sample.crossing(trials=2) | {"complete": False}
    run["rows"] = run["rows"][:4]
    page = page_of(results({"cut": run}))
    assert "incomplete" in page.one("ul", class_="short").text()
    assert "This run was interrupted" in page.one("section", id="crossing-0").text()
    assert len(page.all("figure")) == 1


@pytest.mark.parametrize("bench", BENCHES)
def test_a_run_that_finished_nothing_makes_a_page(results: Write, bench: str) -> None:
    run = sample.all_benches()[bench] | {"complete": False, "findings": []}
    for name in ("rows", "series", "ratios", "comparisons", "cells", "touches"):
        if name in run:
            run[name] = []
    page = page_of(results({bench: run}))
    assert "nothing was concluded" in page.one("ul", class_="short").text()
    assert not page.all("figure")


def test_runs_of_a_single_trial_make_a_page(results: Write) -> None:
    runs = {
        "batch": sample.batch(calls=["write"], trials=1),
        "flexsc": sample.flexsc(trials=1, works=[0]),
        "apps": sample.apps(pairs=4),
    }
    runs["batch"]["series"][1]["trials_ns"] = []
    page = page_of(results(runs))
    assert "uring on write: no trial was finished." in page.text()
    assert table_rows(page)["loop, write"][:2] == ["\N{EN DASH}", "\N{EN DASH}"]


def test_flexsc_that_was_cut_before_its_first_cell_makes_a_page(results: Write) -> None:
    run = sample.flexsc(trials=1) | {"complete": False}
    run["cells"] = run["cells"][:3]
    page = page_of(results({"cut": run}))
    assert not page.all("figure")
    assert "plain calls, 0 ns" in table_rows(page)


def test_several_runs_of_a_bench_are_all_there_and_compared(results: Write) -> None:
    runs = {
        "before": sample.crossing(started="2001-01-01T00:00:00Z"),
        "after": sample.crossing(started="2001-05-01T00:00:00Z", scale=1.2),
        "dispatch": sample.dispatch(),
    }
    runs["before"]["kernel"]["release"] = "9.9.8-sample"
    for run in runs.values():  # without a figure the page is made sooner
        run["rows"] = []
    page = page_of(results(runs))
    newest = page.one("section", id="crossing-0").one("h2").text()
    assert newest.endswith("(after.json)")
    compared = page.one("section", id="runs")
    assert table_rows(compared)["stat, ns"][-1] == "yes"
    assert len(compared.all("table")) == 1
    assert "several machines, kernels" in page.one("div", class_="caution").text()


def test_runs_differ_only_beyond_what_many_figures_do_by_chance(results: Write) -> None:
    one, other = sample.crossing(), sample.crossing(started="2001-05-01T00:00:00Z")
    for run, value in ((one, 100.0), (other, 103.0)):  # 2.1 errors of the difference apart
        run["rows"] = []
        run["figures"] = [
            {"what": f"row {i}", "unit": "ns", "value": value, "se": 1.0} for i in range(20)
        ]
    assert table_rows(page_of(results({"one": one, "other": other})))["row 0, ns"][-1] == "no"
    one["figures"], other["figures"] = one["figures"][:1], other["figures"][:1]
    assert table_rows(page_of(results({"one": one, "other": other})))["row 0, ns"][-1] == "yes"


def test_an_earlier_run_is_shown_beside(results: Write) -> None:
    run = sample.dispatch()
    row = {"what": "plain", "unit": "ns", "ratio": 1.15, "before": 6.0, "before_se": 0.1}
    row |= {"now": 6.9, "now_se": 0.1, "different": True}
    run["against"] = {"file": "old.json", "started": "2000-01-01T00:00:00Z", "rows": [row]}
    page = page_of(results({"dispatch": run}))
    assert "Compared with old.json of 2000-01-01T00:00:00Z" in page.text()
    assert table_rows(page)["plain, ns"] == ["6.00 ± 0.10", "6.90 ± 0.10", "1.15", "yes"]


def test_what_it_does_not_know_is_left_out_with_a_note(results: Write) -> None:
    runs = {"later": sample.common("weather", "2001"), "other": [1, 2]}
    directory = results(runs | {"dispatch": sample.dispatch()})
    done = make_report(directory)
    assert done.returncode == 0
    notes = parse((directory / "report.html").read_text()).one("section", id="left-out").text()
    for note in ("later.json is from the bench 'weather'", "other.json is not from ferry bench."):
        assert note in notes
        assert note in done.stderr


def test_fields_of_later_versions_are_ignored(results: Write) -> None:
    run = sample.dispatch() | {"something": {"new": 1}}
    run["rows"][0]["more"] = [1]
    assert page_of(results({"dispatch": run})).all("figure")


def test_counted_instructions_are_not_shown_as_time(results: Write) -> None:
    page = page_of(results({"dispatch": sample.dispatch() | {"unit": "instructions"}}))
    words = {text.text() for text in page.all("text")}
    assert "median, instructions" in words
    assert not any(re.search(r"\d ns", word) for word in words)


def test_the_page_needs_nothing_else(page_path: Path, page: Element) -> None:
    html = page_path.read_text()
    assert not re.search(r"https?://|//[a-z]", re.sub(r'xmlns(:\w+)?="[^"]*"', "", html))
    assert not page.all("script")
    assert not page.all("img")
    assert [link.attributes["href"] for link in page.all("link")] == ["data:,"]
    assert all(use.attributes["xlink:href"].startswith("#") for use in page.all("use"))


def test_ids_are_unique_and_references_lead_to_them(page_path: Path, page: Element) -> None:
    ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    html = page_path.read_text()
    wanted = set(re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")]+)', html))
    assert len(wanted) > 10
    assert wanted <= set(ids)


def test_headings_step_down_one_level_at_a_time(page: Element) -> None:
    levels = [int(each.tag[1]) for each in page.all() if re.fullmatch(r"h[1-6]", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_figures_take_all_their_colours_from_the_page(page: Element) -> None:
    assert len(set(COLOURS.values())) == len(COLOURS)
    for drawing in page.all("svg"):
        styles = " ".join(element.attributes.get("style", "") for element in drawing.all())
        assert "var(--" in styles
        assert not re.search(r"#[0-9a-f]{6}\b", styles)


def test_words_of_the_data_are_no_markup(results: Write) -> None:
    run = sample.dispatch()
    evil = "<script>alert(1)</script> & \"quoted\" 'name'"
    run["machine"]["cpu"] = run["findings"][0]["text"] = run["rows"][1]["label"] = evil
    page = page_of(results({"dispatch": run}))
    assert not page.all("script")
    assert evil in page.one("h1").text()


def test_many_trials_stay_a_page_of_reasonable_size(results: Write) -> None:
    directory = results({"batch": sample.batch(calls=["write"], trials=500)})
    assert page_of(directory).all("figure")
    assert (directory / "report.html").stat().st_size < 500_000


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (1234.5, 3, "1,234"),
        (0.012345, 3, "0.0123"),
        (99.96, 3, "100.0"),
        (-1.5, 2, "\N{MINUS SIGN}1.5"),
        (0, 3, "0"),
        (None, 3, "\N{EN DASH}"),
    ],
)
def test_significant_digits(value: float | None, digits: int, expected: str) -> None:
    assert significant(value, digits) == expected


def test_numbers_with_errors_keep_the_digits_that_the_error_leaves() -> None:
    expected: dict[tuple[float, Any], str] = {
        (1.52345, 0.0234): "1.523 ± 0.023",
        (1523.45, 23.4): "1,523 ± 23",
        (1.0, 0.00041): "1.0000 ± 0.0004",
        (12.3456, None): "12.3",
        (1.0, 0.0): "1.00 ± 0.00",
    }
    assert {pair: shown(with_error(*pair)) for pair in expected} == expected


def test_times_have_units_that_fit() -> None:
    texts = [shown(time(ns)) for ns in (0.5, 88.46, 1500, 2.5e6, 3e9)]
    assert texts == ["0.500 ns", "88.5 ns", "1.50 µs", "2.50 ms", "3.00 s"]
    assert fixed(-0.001, 1) == "0.0"
