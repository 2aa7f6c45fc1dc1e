# SPDX-License-Identifier: MIT
"""The page says what the runs say, and nothing else."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
import sample
from conftest import SOURCE, Write, make_report, write_runs
from page_reader import HREF, by_class, by_id, dots, labels, read_page, table_rows, text

from report.circumstances import WARNINGS
from report.drawing import COLOURS, MOST_DOTS
from report.words import NONE, fixed, significant, time, with_error

LISTS = ("comparisons", "cells", "touches")
BENCHES = list(sample.all_benches())


def page_of(directory: Path) -> Element:
    done = make_report(directory)
    assert done.returncode == 0, done.stderr
    return read_page(directory / "report.html")


@pytest.fixture(scope="session")
def page(page_path: Path) -> Element:
    return read_page(page_path)


def section(page: Element, bench: str) -> Element:
    return by_id(page, f"{bench}-{BENCHES.index(bench)}")


def panels(page: Element, figure: str) -> list[Element]:
    return by_class(by_id(page, figure), "panel")


def available(bench: str, records: str) -> list[dict[str, Any]]:
    return [one for one in sample.all_benches()[bench][records] if one["available"]]


def shown(words: str) -> str:
    """WORDS as text() gives them."""
    return re.sub(r"\s", " ", words)


def test_the_machine_and_the_circumstances_are_described(page: Element) -> None:
    run = sample.crossing()
    assert text(page.findall(".//h1")[0]) == f"What crossings cost on {run['machine']['cpu']}"
    for fact in (
        *run["kernel"].values(),
        run["clock"]["name"],
        run["clock"]["source"],
        run["started"],
        *run["mitigations"].keys(),
        *run["mitigations"].values(),
        *(f"Setting: {name}" for name in run["settings"]),
    ):
        assert fact in text(page)


def test_sections_come_in_the_order_of_the_benches(page: Element) -> None:
    ids = [section.attrib["id"] for section in page.iter("section")]
    assert ids == ["short", "machine", *(f"{name}-{i}" for i, name in enumerate(BENCHES))]


@pytest.mark.parametrize("bench", BENCHES)
def test_each_figure_says_what_made_it_and_what_it_shows(page: Element, bench: str) -> None:
    figures = list(section(page, bench).iter("figure"))
    assert figures
    for figure in figures:
        assert text(by_class(figure, "made")[0]) == f"Made by ferry bench {bench} --json"
        assert text(figure.findall("h3")[0])
        assert all(len(panel.attrib["aria-label"]) > 30 for panel in by_class(figure, "panel"))


@pytest.mark.parametrize("bench", BENCHES)
def test_every_finding_is_there_once_and_the_first_is_in_short(page: Element, bench: str) -> None:
    findings = [finding["text"] for finding in sample.all_benches()[bench]["findings"]]
    assert findings[0] in text(by_class(page, "short")[0])
    assert all(text(section(page, bench)).count(finding) == 1 for finding in findings)


@pytest.mark.parametrize(
    ("figure", "about"),
    [
        ("batch-1-call1", "write"),
        ("chain-3-chains", "openat read close"),
        ("flexsc-6-write-gain", "write"),
        ("pagefault-7-ways", "sequential"),
        ("pagefault-7-sizes", "one_in_64"),
    ],
)
def test_findings_stand_beside_what_they_are_about(page: Element, figure: str, about: str) -> None:
    (findings,) = by_class(by_id(page, figure), "see")
    assert f"A finding about {about}." in text(findings)


def test_warnings_are_merged_by_kind_and_folded(page: Element) -> None:
    warning = sample.crossing()["warnings"][0]["text"]
    (caution,) = by_class(page, "caution")
    assert caution.tag == "details"
    assert "open" not in caution.attrib
    assert text(caution[0]).endswith("9 of 9 runs ran in a virtual machine.")
    assert text(page).count(warning) == 1


def test_every_kind_of_warning_has_words_of_its_own() -> None:
    sources = "".join(path.read_text() for path in (SOURCE / "measure").rglob("*.c"))
    assert set(re.findall(r'add_warning\(\s*run, "([\w-]+)"', sources)) == set(WARNINGS)


def test_ratios_of_user_mode_linux_carry_its_warning(results: Write) -> None:
    run = sample.apps(pairs=6)
    run["warnings"].append({"id": "user-mode-linux", "text": "A crossing is a process switch."})
    page = page_of(results({"run": run}))
    for place in ("short", "apps-0"):
        assert "A crossing is a process switch." in text(by_id(page, place))


@pytest.mark.parametrize("bench", BENCHES)
def test_the_tables_are_those_of_the_bench(page: Element, bench: str) -> None:
    table, empty = sample.tables(bench)
    shown = {
        text(each.findall("summary")[0]): each
        for each in section(page, bench).findall(".//details")
    }
    found = shown[table["title"]]
    headings = [text(cell) for cell in found.findall(".//thead//th")]
    assert headings == [column["heading"] for column in table["columns"]]
    assert table_rows(found) == {name: cells for name, *cells in table["rows"]}
    assert [text(each) for each in found.findall("p")] == [table["note"]]
    assert empty["title"] not in shown


def test_texts_in_tables_are_aligned_with_their_headings(page: Element) -> None:
    table = section(page, "crossing").findall(".//table")[0]
    for row in table.findall(".//tr"):
        assert [cell.attrib.get("class") for cell in row][1:] == [None, "text"]


def test_what_is_missing_is_noted_once(page: Element) -> None:
    for bench in BENCHES:
        for sentence in (f"no {bench}: not here.", f"other {bench}: not here either."):
            assert text(section(page, bench)).count(sentence) == 1


@pytest.mark.parametrize("directory", sorted((SOURCE / "measure" / "results").glob("*/")))
def test_results_that_were_kept_without_trials_are_shown(directory: Path, tmp_path: Path) -> None:
    done = make_report(directory, tmp_path / "kept.html")
    assert (done.returncode, done.stderr) == (0, "")
    page = read_page(tmp_path / "kept.html")
    runs = [json.loads(path.read_text()) for path in directory.glob("*.json")]
    assert text(page).count("This file has figures and no trials.") == len(runs)
    assert "What gains nothing here" not in text(by_id(page, "top"))
    for run in runs:
        assert all(finding["text"] in text(page) for finding in run["findings"])
        assert {figure["what"] for figure in run["figures"]} <= table_rows(page).keys()


@pytest.mark.parametrize("bench", ["crossing", "dispatch"])
def test_every_row_is_in_the_figure(page: Element, bench: str) -> None:
    (medians,) = panels(page, f"{bench}-{BENCHES.index(bench)}-rows")
    for row in available(bench, "rows"):
        assert row["label"] in labels(medians)
        assert shown(time(row["median"])) in labels(medians)


def test_a_crossing_of_unknown_share_is_not_split(results: Write) -> None:
    run = sample.crossing()
    run["rows"] = [row for row in run["rows"] if row["name"] in ("function", "write")]
    run["rows"][1]["kernel_share"] = None
    key = text(by_class(by_id(page_of(results({"cut": run})), "crossing-0-rows"), "key")[0])
    assert "in user space only" in key
    assert "is not known" in key
    assert "bare crossing" not in key


def test_every_call_has_a_figure_with_its_engines(page: Element) -> None:
    for i, call in enumerate(sample.LINES):
        title = text(by_id(page, f"batch-1-call{i}-title"))
        assert title == f"Cost against batch size: {call} of nothing much"
        (panel,) = panels(page, f"batch-1-call{i}")
        assert {"loop", "uring"} <= set(labels(panel))
        assert dots(panel) == 2 * 12 * len(sample.SIZES)


def test_ratios_have_their_errors(page: Element) -> None:
    (panel,) = panels(page, "batch-1-ratios")
    for ratio in sample.batch()["ratios"]:
        assert shown(with_error(ratio["ratio"], ratio["se"])) in labels(panel)


def test_every_chain_is_in_the_figure(page: Element) -> None:
    (medians,) = panels(page, "chain-3-chains")
    for row in available("chain", "chains"):
        assert row["name"] in labels(medians)
        assert shown(time(row["median"])) in labels(medians)


def test_every_pair_of_programs_is_drawn(page: Element) -> None:
    (panel,) = panels(page, "apps-4-ratios")
    comparisons = available("apps", "comparisons")
    assert dots(panel) == sum(len(each["ratios"]) for each in comparisons)
    for each in comparisons:
        median, low, high = (significant(each["ratio"][end]) for end in ("median", "low", "high"))
        assert f"{median} ({low} to {high})" in labels(panel)
        name = f"{each['app']}: {each['side']} / {each['against']}"
        assert name in labels(panel)
        assert table_rows(section(page, "apps"))[name][0] == each["what"]


def test_every_runner_way_and_trial_of_flexsc_is_drawn(page: Element) -> None:
    (work,) = panels(page, "flexsc-6-write-gain")
    assert dots(work) == (2 + 3) * len(sample.WORKS) * 5
    assert {"1 runner", "2 runners", "batches", "io_uring", "SQPOLL"} <= set(labels(work))


def test_the_cpu_time_of_flexsc_is_drawn(page: Element) -> None:
    (cpu,) = panels(page, "flexsc-6-write-cpu")
    cells = available("flexsc", "cells")
    usual = next(cell for cell in cells if cell["name"] == "write flexsc 64 1 W100")
    both = time(usual["caller_cpu_ns"] + usual["other_cpu_ns"])
    assert shown(f"{both}, {significant(usual['ratio'])} times") in labels(cpu)
    assert {"flexsc, 1 runner", "flexsc, 2 runners", "plain calls"} <= set(labels(cpu))


def test_every_way_to_map_pages_is_shown(page: Element) -> None:
    (medians,) = panels(page, "pagefault-7-ways")
    orders = {"sequential": "in order", "random": "random"}
    for touch in available("pagefault", "touches"):
        if touch["way"] != "ahead" and touch["order"] != "one_in_64":
            order = "read" if touch["access"] == "read" else orders[touch["order"]]
            assert f"{touch['label']}, {order}" in labels(medians)
            assert shown(time(touch["median"])) in labels(medians)


def test_time_and_memory_are_drawn_by_pages_per_fault(page: Element) -> None:
    times, memory = panels(page, "pagefault-7-sizes")
    assert dots(times) == 3 * (1 + len(sample.FAULT_SIZES)) * 6
    for panel in (times, memory):
        assert {"in order", "random", "one page in 64", "1", "512"} <= set(labels(panel))


def test_a_kernel_without_multi_page_alloc_has_no_figure_of_it(results: Write) -> None:
    page = page_of(results({"run": sample.pagefault(ahead=False)}))
    assert len(list(by_id(page, "pagefault-0").iter("figure"))) == 1
    assert "A finding about one_in_64." in text(by_id(page, "pagefault-0"))


def test_an_interrupted_run_is_shown_as_such(results: Write) -> None:
    run = sample.crossing(trials=2) | {"complete": False}
    run["rows"] = run["rows"][:4]
    page = page_of(results({"cut": run}))
    assert "incomplete" in text(by_class(page, "short")[0])
    assert "This run was interrupted" in text(by_id(page, "crossing-0"))
    assert len(list(by_id(page, "crossing-0").iter("figure"))) == 1


def test_runs_that_finished_nothing_make_a_page(results: Write) -> None:
    runs = {bench: run | {"complete": False} for bench, run in sample.all_benches().items()}
    for run in runs.values():
        run["findings"] = run["figures"] = []
        for name in ("rows", "series", "ratios", "chains", *LISTS):
            if name in run:
                run[name] = []
    page = page_of(results(runs))
    assert text(by_class(page, "short")[0]).count("nothing was concluded") == len(runs)
    assert not list(page.iter("figure"))


def test_runs_of_a_single_trial_make_a_page(results: Write) -> None:
    runs = {
        "batch": sample.batch(calls=["write"], trials=1),
        "flexsc": sample.flexsc(trials=1, works=[0]),
        "apps": sample.apps(pairs=4),
    }
    runs["batch"]["series"][1]["trials_ns"] = []
    page = page_of(results(runs))
    assert "uring on write: no trial was finished." in text(page)


def test_flexsc_that_was_cut_before_its_first_cell_makes_a_page(results: Write) -> None:
    run = sample.flexsc(trials=1) | {"complete": False}
    run["cells"] = run["cells"][:3]
    assert not list(by_id(page_of(results({"cut": run})), "flexsc-0").iter("figure"))


def test_several_runs_of_a_bench_are_all_there_and_compared(results: Write) -> None:
    runs = {
        "before": sample.crossing(started="2001-01-01T00:00:00Z"),
        "after": sample.crossing(started="2001-05-01T00:00:00Z", scale=1.2),
        "dispatch": sample.dispatch(),
    }
    runs["before"]["kernel"]["release"] = "9.9.8-sample"
    for run in runs.values():  # without them the page is made sooner
        run["rows"] = []
    page = page_of(results(runs))
    assert text(by_id(page, "crossing-0-title")).endswith("(after.json)")
    assert table_rows(by_id(page, "runs"))["stat, ns"][-1] == "yes"
    assert len(by_id(page, "runs").findall(".//table")) == 1
    assert "several machines, kernels" in text(by_class(page, "caution")[0])


@pytest.mark.parametrize(("count", "differ"), [(1, "yes"), (20, "no")])
def test_many_figures_have_to_differ_by_more(results: Write, count: int, differ: str) -> None:
    runs = {"one": sample.crossing(), "other": sample.crossing(started="2001-05-01T00:00:00Z")}
    for run, value in zip(runs.values(), (100.0, 103.0), strict=True):  # 2.1 errors apart
        figure = {"unit": "ns", "value": value, "se": 1.0}
        run["rows"], run["figures"] = [], [figure | {"what": f"row {i}"} for i in range(count)]
    assert table_rows(page_of(results(runs)))["row 0, ns"][-1] == differ


def test_directories_are_compared_on_one_page(tmp_path: Path) -> None:
    other = sample.dispatch() | {"complete": False, "mitigations": {"meltdown": "Mitigation: PTI"}}
    other["machine"] = other["machine"] | {"cpu": "Another CPU"}
    other["figures"] = [figure | {"value": 2 * figure["value"]} for figure in other["figures"]]
    here = write_runs(tmp_path / "here", {"dispatch": sample.dispatch()})
    there = write_runs(tmp_path / "there", {"dispatch": other, "odd": []})
    done = make_report(here, tmp_path / "both.html", there)
    assert done.returncode == 0
    assert done.stdout == f"{tmp_path / 'both.html'}: 2 runs, 1 of them incomplete; left out: 1\n"
    page = read_page(tmp_path / "both.html")
    assert not list(page.iter("figure"))
    shown = text(page)
    headings = [text(cell) for cell in by_id(page, "runs").findall(".//thead//th")]
    assert headings[1:3] == ["here, 2001-02-03 04:06", "there, 2001-02-03 04:06, incomplete"]
    assert "there/odd.json is not from ferry bench." in shown
    assert "Another CPU" in shown and "Mitigation: PTI" in shown
    assert "several machines, kernels or settings" in shown
    for row in other["figures"]:
        before, now, _ = table_rows(page)[f"{row['what']}, {row['unit']}"]
        assert before != now


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"unit": "instructions"}, "there/run.json counts instructions instead of ns."),
        ({"figures": []}, "there/run.json measured other things."),
        ({"bench": "crossing"}, "no other run is of the bench dispatch."),
    ],
)
def test_runs_that_share_no_figure_say_why(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    other = sample.dispatch() | change
    other["figures"] = [figure | {"unit": other["unit"]} for figure in other["figures"]]
    here = write_runs(tmp_path / "here", {"run": sample.dispatch()})
    there = write_runs(tmp_path / "there", {"run": other})
    assert make_report(here, tmp_path / "both.html", there).returncode == 0
    assert f"here/run.json: {why}" in text(by_id(read_page(tmp_path / "both.html"), "short"))


def test_a_place_with_many_runs_is_named_by_its_directory(tmp_path: Path) -> None:
    runs = {name: sample.dispatch() for name in "abcdefgh"}
    here = write_runs(tmp_path / "here", runs)
    there = write_runs(tmp_path / "there", runs)
    for path in there.iterdir():
        path.write_text(path.read_text().replace("9.9.9", "9.9.8"))
    assert make_report(here, tmp_path / "both.html", there).returncode == 0
    machine = by_id(read_page(tmp_path / "both.html"), "machine")
    headings = [text(each) for each in machine.findall("h3")]
    assert headings == ["here: 8 runs", "there: 8 runs"]


def test_the_results_that_are_kept_can_be_compared(tmp_path: Path) -> None:
    kept = SOURCE / "measure" / "results"
    directories = sorted(path for path in kept.iterdir() if path.is_dir())
    listed = re.findall(r"^\| `(\S+)` \|", (kept / "README.md").read_text(), re.M)
    assert [path.name for path in directories] == sorted(listed)
    first, *others = directories
    done = make_report(first, tmp_path / "kept.html", *others)
    assert (done.returncode, done.stderr) == (0, "")
    assert by_id(read_page(tmp_path / "kept.html"), "runs").findall(".//table")


def test_what_it_does_not_know_is_ignored_or_left_out_with_a_note(results: Write) -> None:
    run = sample.dispatch() | {"something": {"new": 1}}
    run["rows"][0]["more"] = [1]
    runs = {"later": sample.common("weather", "2001"), "other": [1, 2], "dispatch": run}
    directory = results(runs)
    done = make_report(directory)
    assert done.returncode == 0
    page = read_page(directory / "report.html")
    for note in ("later.json is from the bench 'weather'", "other.json is not from ferry bench."):
        assert note in text(by_id(page, "left-out"))
        assert note in done.stderr


def test_counted_instructions_are_not_shown_as_time(results: Write) -> None:
    page = page_of(results({"dispatch": sample.dispatch() | {"unit": "instructions"}}))
    assert "median, instructions" in labels(page)
    assert not any(re.search(r"\d ns", label) for label in labels(page))


def test_the_page_needs_nothing_else(page_path: Path, page: Element) -> None:
    html = page_path.read_text()
    assert not re.search(r"https?://|//[a-z]", re.sub(r'xmlns(:\w+)?="[^"]*"', "", html))
    assert not page.findall(".//script")
    assert not page.findall(".//img")
    assert [link.attrib["href"] for link in page.iter("link")] == ["data:,"]
    assert all(use.attrib[HREF].startswith("#") for use in page.iter("use"))


def test_ids_are_unique_and_references_lead_to_them(page_path: Path, page: Element) -> None:
    ids = [element.attrib["id"] for element in page.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    html = page_path.read_text()
    wanted = set(re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")]+)', html))
    assert len(wanted) > 10
    assert wanted <= set(ids)


def test_headings_step_down_one_level_at_a_time(page: Element) -> None:
    levels = [int(each.tag[1]) for each in page.iter() if re.fullmatch(r"h[1-6]", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_figures_take_all_their_colours_from_the_page(page: Element) -> None:
    assert len(set(COLOURS.values())) == len(COLOURS)
    for drawing in page.iter("svg"):
        styles = " ".join(element.attrib.get("style", "") for element in drawing.iter())
        assert "var(--" in styles
        assert not re.search(r"#[0-9a-f]{6}\b", styles)


def test_words_of_the_data_are_no_markup(results: Write) -> None:
    run = sample.dispatch()
    evil = "<script>alert(1.2345)</script> & \"quoted\" 'name'"
    run["machine"]["cpu"] = run["findings"][0]["text"] = run["rows"][1]["label"] = evil
    page = page_of(results({"dispatch": run}))
    assert not page.findall(".//script")
    assert evil in text(page.findall(".//h1")[0])


def test_many_trials_stay_a_page_of_reasonable_size(results: Write) -> None:
    directory = results({"batch": sample.batch(calls=["write"], trials=500)})
    assert dots(page_of(directory)) == 2 * len(sample.SIZES) * MOST_DOTS
    assert (directory / "report.html").stat().st_size < 400_000


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (1234.5, 3, "1,234"),
        (0.012345, 3, "0.0123"),
        (99.96, 3, "100.0"),
        (-1.5, 2, "\N{MINUS SIGN}1.5"),
        (0, 3, "0"),
        (None, 3, NONE),
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
