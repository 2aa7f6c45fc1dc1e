# SPDX-License-Identifier: MIT
"""The page says what the runs say."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sample
from conftest import Report, Write
from html_page import Element, parse

from report.checks import checks
from report.folder import read_folder
from report.words import significant, time, with_error


def page_of(report: Report, directory: Path) -> Element:
    done = report(directory)
    assert done.returncode == 0, done.stderr
    return parse((directory / "report.html").read_text())


@pytest.fixture(scope="session")
def page(page_path: Path) -> Element:
    return parse(page_path.read_text())


def rows(bench: str) -> list[dict[str, Any]]:
    return list(sample.all_benches()[bench]["rows"])


def table_rows(page: Element) -> dict[str, list[str]]:
    """Every row of every table, by its first cell."""
    return {
        row.all("th")[0].text(): [cell.text() for cell in row.all("td")]
        for table in page.all("table")
        for row in table.one("tbody").all("tr")
    }


def markers(drawing: Element, style: str) -> list[Element]:
    """The drawing's markers of a style that matches."""
    groups = drawing.all("g", class_="markers")
    found = [group for group in groups if re.search(style, group.attributes["style"])]
    return [use for group in found for use in group.all("use")]


def shown(text: str) -> str:
    """TEXT as Element.text() gives it."""
    return re.sub(r"\s", " ", text)


def test_the_machine_and_the_circumstances_are_told(page: Element) -> None:
    run = sample.crossing()
    text = page.text()
    assert f"What crossings cost on {run['machine']['cpu']}" == page.one("h1").text()
    for fact in (
        run["kernel"]["release"],
        run["kernel"]["version"],
        run["clock"]["name"],
        run["clock"]["source"],
        run["started"],
        *run["mitigations"].keys(),
        *run["mitigations"].values(),
    ):
        assert fact in text
    for name in run["settings"]:
        assert f"Setting: {name}" in text


@pytest.mark.parametrize("bench", sample.all_benches())
def test_each_figure_says_what_to_see_and_what_made_it(page: Element, bench: str) -> None:
    figures = page.one("section", id=f"{bench}-{list_of_sections(page).index(bench)}").all("figure")
    assert figures
    for figure in figures:
        assert figure.one("p", class_="see").text().endswith(".")
        assert figure.one("p", class_="made").text() == f"Made by ferry bench {bench} --json"
        assert figure.one("h3").text()
        drawings = figure.all("div", role="img")
        assert [drawing.attributes["class"] for drawing in drawings] == [
            "drawing wide",
            "drawing narrow",
        ]
        assert all(len(drawing.attributes["aria-label"]) > 40 for drawing in drawings)


def list_of_sections(page: Element) -> list[str]:
    named = (section.attributes["id"] for section in page.all("section"))
    return [name.rsplit("-", 1)[0] for name in named if re.search(r"-\d+$", name)]


def test_sections_come_in_the_order_of_the_benches(page: Element) -> None:
    assert list_of_sections(page) == [
        "crossing",
        "batch",
        "dispatch",
        "apps",
        "flexsc",
        "pagefault",
    ]


@pytest.mark.parametrize("bench", ["crossing", "dispatch"])
def test_every_row_is_in_the_figure_and_in_the_table(page: Element, bench: str) -> None:
    section = page.one("section", id=f"{bench}-{list_of_sections(page).index(bench)}")
    drawings = [drawing.text() for drawing in section.all("div", role="img")]
    table = table_rows(section)
    for row in rows(bench):
        if not row["available"]:
            assert f"{row['label']}: {row['reason']}." in section.text()
            continue
        for drawing in drawings:
            assert row["label"] in drawing
            assert shown(time(row["median"])) in drawing
        cells = table[row["label"]]
        assert cells[0] == significant(row["median"], 4)
        assert cells[2:5] == [significant(row[name], 4) for name in ("mean", "min", "max")]


def test_every_trial_of_a_row_is_a_dot(page: Element) -> None:
    trials = sum(len(row["trials_ns"]) for row in rows("dispatch"))
    figure = page.one("figure", id="dispatch-2-rows")
    for drawing in figure.all("div", role="img"):
        assert len(markers(drawing, r"--(user|loop)")) == trials


def test_every_call_has_a_figure_with_its_engines(page: Element) -> None:
    run = sample.batch()
    titles = [figure.one("h3").text() for figure in page.all("figure")]
    for call in sample.LINES:
        assert f"Cost against batch size: {call} of nothing much" in titles
    for i, call in enumerate(sample.LINES):
        figure = page.one("figure", id=f"batch-1-call{i}")
        for drawing in figure.all("div", role="img"):
            assert {"loop", "uring"} <= {text.text() for text in drawing.all("text")}
        for series in run["series"]:
            if series["call"] == call:
                fit = series["fit"]
                cells = table_rows(page)[f"{series['engine']}, {call}"]
                assert cells[0] == shown(with_error(fit["a_ns"], fit["a_se"]))
                assert cells[1] == shown(with_error(fit["b_ns"], fit["b_se"]))


def test_ratios_are_told_with_their_errors(page: Element) -> None:
    ratios = page.one("figure", id="batch-1-ratios")
    for ratio in sample.batch()["ratios"]:
        value = shown(with_error(ratio["ratio"], ratio["se"]))
        for drawing in ratios.all("div", role="img"):
            assert value in [text.text() for text in drawing.all("text")]
        figure = next(
            figure for figure in page.all("figure") if f"size: {ratio['call']} " in figure.text()
        )
        assert f"uring is {value} times as fast as loop" in figure.text()


def test_break_even_is_told_where_there_is_one(page: Element) -> None:
    ratio = next(each for each in sample.batch()["ratios"] if each["call"] == "write")
    text = page.one("figure", id="batch-1-call1").one("p", class_="see").text()
    assert f"at N = {shown(with_error(ratio['break_even'], ratio['break_even_se']))}" in text
    assert f"the faster one in batches of {ratio['first_faster']} or more" in text
    assert f"{significant(ratio['at_largest'])} times as fast in the largest" in text
    other = page.one("figure", id="batch-1-call2").one("p", class_="see").text()
    assert "no break-even to tell" in other
    assert "it was not the faster one in the largest batch" in other


def test_programs_are_told_pair_by_pair(page: Element) -> None:
    figure = page.one("figure", id="apps-3-ratios")
    comparisons = [each for each in sample.apps()["comparisons"] if each["available"]]
    pairs = sum(len(each["pairs_ns"]) for each in comparisons)
    for drawing in figure.all("div", role="img"):
        assert len(markers(drawing, "opacity")) == pairs
        words = [text.text() for text in drawing.all("text")]
        for each in comparisons:
            low, high = (significant(each["ratio"][end]) for end in ("low", "high"))
            assert f"{significant(each['ratio']['median'])} ({low} to {high})" in words
            assert f"{each['app']}: {each['side']} / {each['against']}" in words
    assert "mdu: device / loop: there is no /dev/ferry." in page.text()


def flexsc_figure(page: Element, what: str, call: str = "write") -> Element:
    return page.one("figure", id=f"flexsc-{list_of_sections(page).index('flexsc')}-{call}-{what}")


def see(figure: Element) -> str:
    return figure.one("p", class_="see").text()


def flexsc_cell(run: dict[str, Any], name: str) -> dict[str, Any]:
    return next(cell for cell in run["cells"] if cell["name"] == name)


def test_the_gain_of_flexsc_is_told_with_its_noise(page: Element) -> None:
    run = sample.flexsc()
    most = flexsc_cell(run, "write flexsc 64 1 W100")
    figure = flexsc_figure(page, "threads")
    gain = shown(with_error(most["ratio"], most["ratio_se"]))
    assert f"best with 64 threads and 1 runner: {gain} times the throughput" in see(figure)
    few = flexsc_cell(run, "write flexsc 1 1 W100")
    assert f"With 1 thread and 1 runner it makes {significant(few['ratio'])} times" in see(figure)
    two = flexsc_cell(run, "write flexsc 64 2 W100")
    assert f"More runners give no more: at best {significant(two['ratio'])} times" in see(figure)
    batch = flexsc_cell(run, "write batch W100")
    value = shown(with_error(batch["ratio"], batch["ratio_se"]))
    assert f"batches of 64 did best there: {value} times" in see(figure)
    assert "The noise: the standard error of a ratio of flexsc is" in see(figure)


@pytest.mark.parametrize("what", ["threads", "work"])
def test_every_runner_way_and_trial_is_drawn(page: Element, what: str) -> None:
    run = sample.flexsc(calls=["write"])
    usual = {"threads": ("work_ns", 100), "work": ("threads", 64)}[what]
    drawn = [cell for cell in run["cells"] if cell["way"] == "flexsc"]
    drawn = [cell for cell in drawn if cell[usual[0]] == usual[1]]
    if what == "work":
        drawn += [cell for cell in run["cells"] if cell["way"] not in ("flexsc", "plain")]
    trials = sum(len(cell["trials_ns"]) for cell in drawn)
    figure = flexsc_figure(page, what)
    beyond = re.search(r"(\d+) trials? beyond the scale", figure.text())
    for drawing in figure.all("div", role="img"):
        dots = len(markers(drawing, "opacity"))
        assert dots + (int(beyond[1]) if beyond else 0) == trials
        words = {text.text() for text in drawing.all("text")}
        assert {"1 runner", "2 runners", "batch", "io_uring", "SQPOLL", "plain"} <= words


def test_the_region_and_the_break_even_of_flexsc_are_told(page: Element) -> None:
    text = see(flexsc_figure(page, "work"))
    # Between 0.6 at W = 0 and 1.4 at 100 ns, and between 1.6 at 200 ns and 0.8 at 2 µs.
    found = re.search(r"wins at W = (\S+) ns to (\S+) µs, shaded; it breaks even at (.*?)\. ", text)
    assert found, text
    assert float(found[1]) == pytest.approx(50, abs=4)
    assert float(found[2]) == pytest.approx(1.55, abs=0.11)
    assert found[3] == f"W = {found[1]} ns and {found[2]} µs"
    assert "It gains most at W = 200 ns: 1.6" in text
    short = page.one("ul", class_="short").text()
    assert f"write: with 64 threads and 1 runner, post calls (flexsc) at W = {found[1]} ns" in short


def test_what_a_posted_call_waits_for_and_costs_is_told(page: Element) -> None:
    phases = flexsc_figure(page, "phases")
    assert "75 % of a call is waiting for the runner, so calls queue for the runner" in see(phases)
    cell = flexsc_cell(sample.flexsc(), "write flexsc 64 1 W100")
    plain = flexsc_cell(sample.flexsc(), "write plain W100")
    latency = see(flexsc_figure(page, "latency"))
    assert f"take {shown(time(cell['latency_ns']['p50']))} or less" in latency
    assert "So each call comes later" in latency
    cpu = flexsc_figure(page, "cpu")
    used = (cell["caller_cpu_ns"] + cell["other_cpu_ns"]) / plain["caller_cpu_ns"]
    assert f"{significant(used)} times the CPU time for" in see(cpu)
    assert "the gain is bought with CPU time of the runner's" in see(cpu)
    for figure in (phases, cpu):
        for drawing in figure.all("div", role="img"):
            assert "512 threads, 1 runner" in drawing.text()
            assert "64 threads, 2 runners" in drawing.text()


def test_every_cell_is_in_a_table_and_what_is_missing_in_the_notes(page: Element) -> None:
    section = page.one("section", id=f"flexsc-{list_of_sections(page).index('flexsc')}")
    cells = [cell for cell in sample.flexsc()["cells"] if cell["available"]]
    assert sum(len(table.one("tbody").all("tr")) for table in section.all("table")) == 2 * len(
        cells
    )
    notes = section.text()
    assert notes.count("getpid by io_uring: io_uring has no request for this call.") == 1


def test_where_flexsc_does_not_win_plain_calls_are_recommended(
    report: Report, results: Write
) -> None:
    run = sample.flexsc(calls=["write"])
    for cell in run["cells"]:
        if cell["way"] == "flexsc" and cell["ratio"] > 1:
            cell["ratio"], cell["significant"] = 1.01, False
    text = page_of(report, results({"run": run})).text()
    assert "write: keep plain calls; flexsc won at no W by more than the noise." in text
    assert "nowhere ahead of plain calls by more than the noise" in text


def test_a_single_trial_and_work_of_flexsc_make_a_page(report: Report, results: Write) -> None:
    run = sample.flexsc(calls=["write"], trials=1)
    run["cells"] = [cell for cell in run["cells"] if cell["work_ns"] == 0]
    page = page_of(report, results({"run": run}))
    assert "There are too few trials to state the noise." in page.text()
    assert "flexsc is behind plain calls at every W that was measured" in page.text()


def test_flexsc_that_was_cut_before_its_first_cell_makes_a_page(
    report: Report, results: Write
) -> None:
    run = sample.flexsc(calls=["write"], trials=1) | {"complete": False}
    run["cells"] = run["cells"][:3]
    page = page_of(report, results({"cut": run}))
    assert "No cell of flexsc was finished." in page.text()
    assert "plain calls, 0 ns" in table_rows(page)


def measured_touches(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [touch for touch in run["touches"] if touch["available"]]


def test_every_way_to_have_pages_is_shown(page: Element) -> None:
    figure = page.one("figure", id="pagefault-5-ways")
    cells = table_rows(page.one("section", id="pagefault-5"))
    for touch in measured_touches(sample.pagefault()):
        sparse, ahead = touch["order"] == "one_in_64", touch["way"] == "ahead"
        order = {"sequential": "in order", "random": "random"}.get(touch["order"])
        order = "one page in 64" if sparse else "read" if touch["access"] == "read" else order
        label = f"{touch['label']}, {order}"
        assert cells[label][0] == shown(with_error(touch["median"], touch["se"]))
        for drawing in [] if sparse or ahead else figure.all("div", role="img"):
            assert label in drawing.text()
            assert shown(time(touch["median"])) in drawing.text()
    assert "pages of 64 KiB: set to never." in page.one("section", id="pagefault-5").text()


def test_time_and_memory_are_drawn_by_pages_per_fault(page: Element) -> None:
    figure = page.one("figure", id="pagefault-5-sizes")
    touches = measured_touches(sample.pagefault())
    drawn = [each for each in touches if each["access"] == "write"]
    drawn = [each for each in drawn if each["way"] in ("base", "ahead")]
    trials = sum(len(each["trials_ns"]) for each in drawn)
    for drawing in figure.all("div", role="img"):
        assert len(markers(drawing, "opacity")) == trials
        words = [text.text() for text in drawing.all("text")]
        assert {"in order", "random", "one page in 64", "1", "512"} <= set(words)
    see = figure.one("p", class_="see").text()
    # 64 pages take 162 ns each, and 512 take 151: less than a tenth is left to gain.
    assert "With 64 pages a fault" in see
    assert "64.0 MiB in place of 1.00" in see


def test_the_recommendation_follows_the_figures(report: Report, results: Write) -> None:
    patched = page_of(report, results({"run": sample.pagefault()})).text()
    assert "take ferry_prefault_process(64)" in patched
    assert "FERRY_PREFAULT_SMALL" not in patched
    stock = sample.pagefault(ahead=False)
    slow = next(each for each in measured_touches(stock) if each["way"] == "large_pages")
    for name in ("trials_ns", "mean", "min", "max", "sd", "median"):
        value = slow[name]
        slow[name] = [9 * one for one in value] if isinstance(value, list) else 9 * value
    slow["ratio"] /= 9
    page = page_of(report, results({"run": stock}))
    assert "with FERRY_PREFAULT_SMALL, since large pages were slower" in page.text()
    assert "For a whole program this kernel has nothing" in page.text()
    assert len(page.all("figure")) == 1


def test_warnings_and_findings_are_told(page: Element) -> None:
    warning = sample.crossing()["warnings"][0]["text"]
    caution = page.all("div", class_="caution")[0].text()
    assert f"{warning} all runs" in caution
    assert page.text().count("A finding of the sample.") == 6


def test_good_figures_are_said_to_agree(page: Element) -> None:
    assert "All of them agree." in page.one("section", id="checks").text()


def test_an_interrupted_run_is_shown_as_such(report: Report, results: Write) -> None:
    run = sample.crossing(trials=2)
    run["complete"] = False
    run["rows"] = run["rows"][:4]
    page = page_of(report, results({"cut": run}))
    assert "incomplete" in page.one("ul", class_="short").text()
    assert "This run was interrupted" in page.one("section", id="crossing-0").text()
    assert "was not measured in this run" in page.text()


def test_without_a_bare_crossing_no_bar_is_split(report: Report, results: Write) -> None:
    run = sample.crossing()
    run["rows"] = [row for row in run["rows"] if row["name"] in ("function", "gettimeofday_trap")]
    run["rows"][1]["kernel_share"] = None
    key = page_of(report, results({"cut": run})).one("ul", class_="key").text()
    assert "in user space only" in key
    assert "is not known" in key
    assert "bare crossing" not in key


@pytest.mark.parametrize("bench", sample.all_benches())
def test_a_run_that_finished_nothing_makes_a_page(
    report: Report, results: Write, bench: str
) -> None:
    run = sample.all_benches()[bench] | {"complete": False}
    for name in ("rows", "series", "ratios", "comparisons", "cells", "touches"):
        if name in run:
            run[name] = []
    page = page_of(report, results({bench: run}))
    assert re.search(r"No (row|trial|comparison|cell of flexsc) was finished", page.text())


def test_series_without_trials_or_fit_are_left_out_and_said(report: Report, results: Write) -> None:
    run = sample.batch(calls=["write"], trials=1)
    run["series"][1]["trials_ns"] = []
    page = page_of(report, results({"batch": run}))
    assert "uring on write: no trial was finished." in page.text()
    assert "too few trials to fit a line" in page.text()


def test_few_pairs_have_no_interval(report: Report, results: Write) -> None:
    page = page_of(report, results({"apps": sample.apps(pairs=4)}))
    assert "Of 8 comparisons: 8 with too few pairs to tell." in page.text()


def test_several_runs_of_a_bench_are_all_there_and_compared(report: Report, results: Write) -> None:
    runs = {
        "before": sample.crossing(started="2001-01-01T00:00:00Z"),
        "after": sample.crossing(seed=7, started="2001-05-01T00:00:00Z", scale=1.2),
        "write": sample.batch(calls=["write"]),
        "statx": sample.batch(calls=["statx"], started="2001-05-02T00:00:00Z"),
    }
    page = page_of(report, results(runs))
    assert list_of_sections(page) == ["crossing", "crossing", "batch", "batch"]
    newest = page.one("section", id="crossing-0").one("h2").text()
    assert newest.endswith("(after.json)")
    compared = page.one("section", id="runs")
    cells = table_rows(compared)["stat, ns"]
    assert cells[-1] == "yes"
    assert len(compared.all("table")) == 1  # the two of batch share no figure


def test_an_earlier_run_is_shown_beside(report: Report, results: Write) -> None:
    run = sample.dispatch()
    row = {"what": "plain", "unit": "ns", "before": 6.0, "before_se": 0.1}
    row |= {"now": 6.9, "now_se": 0.1, "different": True}
    run["against"] = {"file": "old.json", "started": "2000-01-01T00:00:00Z", "rows": [row]}
    page = page_of(report, results({"dispatch": run}))
    assert "Compared with old.json of 2000-01-01T00:00:00Z" in page.text()
    assert table_rows(page)["plain, ns"] == ["6.00 ± 0.10", "6.90 ± 0.10", "1.15", "yes"]


def test_what_it_does_not_know_is_left_out_with_a_note(report: Report, results: Write) -> None:
    runs = {"later": sample.common("weather", "2001"), "other": [1, 2]}
    directory = results(runs | {"dispatch": sample.dispatch()})
    done = report(directory)
    assert done.returncode == 0
    notes = parse((directory / "report.html").read_text()).one("section", id="left-out").text()
    for note in ("later.json is of the bench 'weather'", "other.json is not of ferry bench."):
        assert note in notes
        assert note in done.stderr


def test_fields_of_later_versions_are_ignored(report: Report, results: Write) -> None:
    run = sample.dispatch() | {"something": {"new": 1}}
    run["rows"][0]["more"] = [1]
    assert page_of(report, results({"dispatch": run})).all("figure")


TAMPERED = [
    ("crossing", ("rows", 0, "median"), 1.02, "function, median"),
    ("dispatch", ("rows", 1, "sd"), 1.5, "plain, sd"),
    ("batch", ("series", 0, "fit", "b_ns"), 1.0001, "loop on unimplemented, b"),
    ("batch", ("series", 1, "fit", "a_ns"), 1.01, "uring on unimplemented, a"),
    ("batch", ("series", 0, "fit", "a_se"), 0.3, "loop on unimplemented, error of a"),
    ("batch", ("ratios", 1, "ratio"), 1.01, "uring against loop on write, ratio"),
    ("batch", ("ratios", 1, "se"), 0.3, "uring against loop on write, error of the ratio"),
    ("apps", ("comparisons", 3, "ratio", "median"), 1.01, "mdu, loop against du, median ratio"),
    ("apps", ("comparisons", 3, "ratio", "low"), 0.99, "mdu, loop against du, low end"),
    ("flexsc", ("cells", 4, "median"), 1.01, "write flexsc 1 1 W0, median"),
    ("flexsc", ("cells", 1, "ratio"), 1.01, "write batch W0, ratio"),
    ("pagefault", ("touches", 0, "median"), 1.01, "write sequential base, median"),
    ("pagefault", ("touches", 3, "ratio"), 1.01, "write sequential ahead 16, ratio"),
]


def tampered(bench: str, place: tuple[str | int, ...], factor: float) -> dict[str, Any]:
    run = sample.all_benches()[bench]
    record: Any = run
    for step in place[:-1]:
        record = record[step]
    record[place[-1]] *= factor
    return run


@pytest.mark.parametrize(("bench", "place", "factor", "what"), TAMPERED)
def test_a_figure_that_scipy_does_not_find_is_noticed(
    results: Write, bench: str, place: tuple[str | int, ...], factor: float, what: str
) -> None:
    run = tampered(bench, place, factor)
    (measured,) = read_folder(results({bench: run})).measured
    complaints = [check.complaint() for check in checks(measured.run) if not check.holds()]
    assert complaints
    assert complaints[0].startswith(what)


def test_what_scipy_does_not_find_is_said_twice(report: Report, results: Write) -> None:
    run = tampered("dispatch", ("rows", 1, "median"), 1.001)
    page = page_of(report, results({"dispatch": run}))
    assert "dispatch.json: plain, median: the file" in page.one("section", id="checks").text()
    assert "SciPy does not agree on 1 figure" in page.one("section", id="short").text()


def test_the_page_needs_nothing_else(page_path: Path, page: Element) -> None:
    html = page_path.read_text()
    assert not re.search(r"https?://|//[a-z]", re.sub(r'xmlns(:\w+)?="[^"]*"', "", html))
    assert not page.all("script")
    assert not page.all("img")
    assert [link.attributes["href"] for link in page.all("link")] == ["data:,"]
    references = [use.attributes["href"] for use in page.all("use")]
    assert all(reference.startswith("#") for reference in references)


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
    for drawing in page.all("svg"):
        styles = " ".join(element.attributes.get("style", "") for element in drawing.all())
        assert "var(--" in styles
        assert not re.search(r"#[0-9a-f]{6}\b", styles)


def test_words_of_the_data_are_no_markup(report: Report, results: Write) -> None:
    run = sample.dispatch()
    evil = "<script>alert(1)</script> & \"quoted\" 'name'"
    run["machine"]["cpu"] = run["findings"][0]["text"] = run["rows"][1]["label"] = evil
    page = page_of(report, results({"dispatch": run}))
    assert not page.all("script")
    assert evil in page.one("h1").text()


def test_many_trials_stay_a_page_of_reasonable_size(report: Report, results: Write) -> None:
    directory = results({"batch": sample.batch(calls=["write"], trials=500)})
    assert page_of(report, directory).all("figure")
    assert (directory / "report.html").stat().st_size < 4_000_000
