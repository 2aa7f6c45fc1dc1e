# SPDX-License-Identifier: MIT
"""The first screen, and the picture that is made of it."""

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import sample
from conftest import SOURCE, Write, make_report
from page_reader import by_class, by_id, labels, read_page, text

from report.conclusion import HEADINGS, as_json, read_conclusion


def figures(**values: float) -> list[dict[str, Any]]:
    return [{"what": what, "unit": "ns", "value": ns, "se": 1.0} for what, ns in values.items()]


def batch() -> dict[str, Any]:
    run = sample.batch()
    run["figures"] = figures(
        **{"loop write b": 152.0, "syscall write b": 93.0, "loop statx b": 9.0}
    )
    return run


def test_the_first_figure_has_a_crossing_and_each_way_to_call(results: Write) -> None:
    run = sample.crossing()
    flexsc = sample.flexsc(works=[0])
    flexsc["figures"] = figures(**{"write flexsc 64x1 W0": 170.0})
    directory = results({"crossing": run, "batch": batch(), "flexsc": flexsc})
    make_report(directory)
    first = by_id(read_page(directory / "report.html"), "first")
    least = {row["name"]: min(row["trials_ns"]) for row in run["rows"] if row["available"]}
    assert text(by_id(first, "first-title")) == f"A crossing here: {least['unimplemented']:.1f} ns"
    drawn = " ".join(labels(first))
    for words in (
        f"{least['function']:.2f} ns",
        "write, a crossing each 152 ns",
        "write, one crossing, batch() 93.0 ns",
        "write, posted to a thread (flexsc) 170 ns",
    ):
        assert words in drawn
    assert "statx" not in drawn


def test_a_run_without_a_verdict_is_not_in_the_first_figure(results: Write) -> None:
    runs = {"crossing": sample.crossing() | {"withheld": "a tracer watches"}, "batch": batch()}
    directory = results(runs)
    make_report(directory)
    first = by_id(read_page(directory / "report.html"), "first")
    assert "crossing: a call" not in text(first)
    assert "write, a crossing each" in text(first)


def test_times_and_instructions_do_not_share_a_figure(results: Write) -> None:
    directory = results(
        {"crossing": sample.crossing(), "batch": batch() | {"unit": "instructions"}}
    )
    make_report(directory)
    assert "write" not in text(by_id(read_page(directory / "report.html"), "first"))


def test_the_page_has_the_lines_of_conclusion_json(results: Write) -> None:
    directory = results({"crossing": sample.crossing(), "batch": batch()})
    lines = read_conclusion(directory, {"apps": "cat is missing", "batch": "it was missing"})
    (directory / "conclusion.json").write_text(as_json(lines))
    make_report(directory)
    (shown,) = by_class(read_page(directory / "report.html"), "conclusion")
    texts = [text(each) for each in shown.iter("dd")]
    assert texts == [line.text for line in lines if "it was missing" not in line.text]
    assert [text(each) for each in shown.iter("dt")] == [
        HEADINGS[kind] for kind in dict.fromkeys(line.kind for line in lines)
    ]


def test_the_picture_is_the_first_figure(results: Write, tmp_path: Path) -> None:
    directory = results({"crossing": sample.crossing()})
    pictures = []
    for name in ("one.svg", "two.svg"):
        assert make_report(directory, tmp_path / name).returncode == 0
        pictures.append((tmp_path / name).read_text())
    assert pictures[0] == pictures[1]
    make_report(directory)
    page = labels(by_id(read_page(directory / "report.html"), "first"))
    drawn = labels(fromstring(re.sub(r' xmlns="[^"]*"', "", pictures[0])))
    assert set(page) < set(drawn)
    assert "Made-up CPU 9000, Linux 9.9.9-sample" in drawn
    assert "prefers-color-scheme: dark" in pictures[0]


def test_there_is_no_picture_without_a_crossing(results: Write, tmp_path: Path) -> None:
    done = make_report(results({"dispatch": sample.dispatch()}), tmp_path / "none.svg")
    assert done.returncode == 2
    assert "there is no picture" in done.stderr
    assert not (tmp_path / "none.svg").exists()


def test_the_picture_of_the_readme_is_of_kept_results(tmp_path: Path) -> None:
    made = tmp_path / "crossing.svg"
    assert make_report(SOURCE / "measure/results/qemu-6.12", made).returncode == 0
    kept = (SOURCE / "doc/crossing.svg").read_text()
    words = [
        labels(fromstring(re.sub(r' xmlns="[^"]*"', "", one))) for one in (made.read_text(), kept)
    ]
    assert words[0] == words[1]
    assert len(kept.splitlines()) < 400
