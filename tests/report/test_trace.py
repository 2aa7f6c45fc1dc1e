# SPDX-License-Identifier: MIT
"""The page says what ferry trace found."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import sample
from conftest import Report, Write, make_report
from page_reader import by_class, by_id, labels, read_page, text


def estimate(value: float | None, error: float | None = 0) -> dict[str, float | None]:
    return {"value": value, "error": error}


def step(call: str, calls: float, *arguments: tuple[str, int | None], **more: Any) -> Any:  # noqa: ANN401
    known: dict[str, Any] = {"failed": False, "begins_batch": False, "alone": False, "why": None}
    known["arguments"] = [{"source": source, "step": of} for source, of in arguments]
    return known | {"call": call, "calls": calls} | more


SAVES = "nothing worth changing."


def copying() -> dict[str, Any]:
    """A program that copies: a read and a write, a thousand times."""
    return {
        "schema": "ferry-trace",
        "version": 1,
        "program": "copy",
        "method": "bpf",
        "total": 2000,
        "threads": 1,
        "crossing_ns": estimate(150, 2),
        "tracing_ns": estimate(240e3, 4e3),
        "lost_calls": 12,
        "time": {
            "missing": None,
            "cpu_ns": 2e6,
            "user_ns": estimate(0.5e6, 0.1e6),
            "crossings_ns": estimate(0.3e6, 0.004e6),
            "kernel_ns": estimate(1.2e6, 0.1e6),
            "waiting_ns": 4e6,
        },
        "calls": [
            {"call": "read", "calls": 1000, "failed": 0},
            {"call": "write", "calls": 1000, "failed": 7},
        ],
        "sequences": [
            {
                "turns": 1000,
                "calls": 2,
                "batches": 1,
                "verdict": "in parts",
                "why": "write may wait",
                "steps": [
                    step("read", 1, ("constant", None), ("before", None)),
                    step("write", 1, ("buffer", 0), ("result", 0), begins_batch=True),
                ],
                "followers": [{"sequence": 0, "times": 990}, {"sequence": None, "times": 10}],
            }
        ],
        "savings": [
            {
                "name": "batch",
                "what": "a batch for each sequence",
                "missing": None,
                "calls": 1000,
                "saved_ns": estimate(150e3, 20e3),
                "share": 0.075,
            },
            {
                "name": "vdso",
                "what": "the vDSO for the time",
                "missing": "the program makes no calls that it applies to",
                "calls": 0,
                "saved_ns": estimate(None, None),
                "share": None,
            },
        ],
        "findings": [],
        "waits": [],
    }


def wasteful() -> dict[str, Any]:
    """The same, with findings."""
    saved = {"saved_ns": estimate(1e6, 0.1e6), "cost_ns": estimate(1.2e6, 0.1e6), "calls": 2000}
    finding = {
        "kind": "tiny",
        "sentence": "1000 reads are <tiny>; a buffer would save 1.000 ms.",
        "what": "1000 reads are <tiny>",
        "cure": "a buffer",
        "waits": False,
        "share": 0.5,
        "sites": [{"share": 0.98, "site": "copy (copy.c:7), from main (copy.c:20)", "frames": []}],
    }
    little = {"kind": "value", "sentence": "hardly anything.", "share": 0.001}
    slept = {"call": "read", "file": "a pipe", "times": 7, "ns": 4e6}
    return copying() | {
        "findings": [finding | saved, finding | saved | little],
        "waits": [slept | {"mean_ns": 0.5e6, "p99_ns": 1e6, "cpu_ns": None}],
    }


def test_a_short_program_has_no_user_time(results: Write) -> None:
    short = copying()
    short["time"] |= {
        "cpu_ns": 2e6,
        "user_ns": estimate(None, None),
        "kernel_ns": estimate(None, None),
    }
    directory = results({"copy": short})
    make_report(directory)
    page = text(by_id(read_page(directory / "report.html"), "trace-0-time"))
    assert "which the kernel did not divide: 1.7" in page
    assert "user code:" not in page
    assert "kernel work:" not in page


def test_findings_are_cards_and_waits_have_bars(results: Write) -> None:
    directory = results({"copy": wasteful()})
    make_report(directory)
    page = read_page(directory / "report.html")
    cards = by_class(page, "cards")[0].findall("li")
    assert [text(each.findall("p")[0]) for each in cards] == ["50 % of its CPU time"]
    assert text(cards[0].findall("p")[1]).startswith("1000 reads are <tiny>")
    assert text(cards[0].findall("p")[2]) == "98 %: copy (copy.c:7), from main (copy.c:20)"
    assert "1000 reads are <tiny>" in text(by_id(page, "top"))
    assert "read a pipe" in labels(by_id(page, "trace-0-waits"))


def test_a_trace_stands_beside_runs_or_alone(results: Write) -> None:
    directory = results({"copy": copying()})
    assert make_report(directory).stdout.endswith("report.html: 1 trace\n")
    page = read_page(directory / "report.html")
    assert text(page.findall(".//h1")[0]) == "What wastes the time of copy"
    assert SAVES in text(by_id(page, "top"))
    assert [each.attrib["id"] for each in by_id(page, "top").iter("figure")] == ["first-time"]
    results({"dispatch": sample.dispatch()})
    assert make_report(directory).stdout.endswith("report.html: 1 run and 1 trace\n")
    both = read_page(directory / "report.html")
    assert f"copy: {SAVES}" in text(by_id(both, "short"))
    assert text(by_class(both, "where")[0]).endswith("1 run and 1 trace.")


def test_the_bar_of_time_is_stacked_and_whole(results: Write) -> None:
    """A wait of two thirds takes two thirds of the bar."""
    directory = results({"copy": copying()})
    make_report(directory)
    figure = by_id(read_page(directory / "report.html"), "trace-0-time")
    widths = []
    for path in figure.findall(".//path"):
        if "fill: var(--" in path.attrib.get("style", "") and "clip-path" in path.attrib:
            ends = [float(x) for x in re.findall(r"[ML] ([\d.]+) ", path.attrib["d"])]
            widths.append(max(ends) - min(ends))
    shares = [width / sum(widths) for width in widths]
    assert shares == pytest.approx([0.5 / 6, 0.3 / 6, 1.2 / 6, 4 / 6], abs=0.002)
    assert "waiting: 4.00 ms" in text(figure)


def test_a_program_that_nothing_helps(results: Write) -> None:
    directory = results({"copy": copying()})
    make_report(directory)
    assert "nothing worth changing." in text(by_id(read_page(directory / "report.html"), "top"))


def test_what_flows_leaves_a_box_and_arrives_at_one(results: Write) -> None:
    directory = results({"copy": copying()})
    make_report(directory)
    (graph,) = by_class(by_id(read_page(directory / "report.html"), "trace-0-sequences"), "panel")
    paths = [each.attrib for each in graph.findall(".//path") if "style" in each.attrib]
    boxes = [each["d"] for each in paths if "stroke-width: 0.9" in each["style"]]
    (edge,) = {max(float(x) for x in re.findall(r"[ML] ([\d.]+) ", box)) for box in boxes}
    curves = [
        [float(one) for one in re.findall(r"[\d.]+", each["d"])]
        for each in paths
        if re.search(r"stroke: var\(--(blue|orange|purple)\)", each["style"]) and "Q" in each["d"]
    ]
    assert len(curves) == 2
    for curve in curves:  # an arrow's head takes the last two points
        assert curve[0] == pytest.approx(edge, abs=0.1)
        assert curve[-2] == pytest.approx(edge, abs=2.5)


def test_time_and_sequences_are_drawn_and_savings_are_a_table(results: Write) -> None:
    directory = results({"copy": copying()})
    make_report(directory)
    page = read_page(directory / "report.html")
    (graph,) = by_class(by_id(page, "trace-0-sequences"), "panel")
    drawn = " ".join(labels(graph))
    for words in ("read, 1.0", "write, 1.0", "then sequence 1: 990 times", "sequence 1: 1,000"):
        assert words in drawn
    assert "1.0 per turn, batch b, 1: buffer of 1, 2: result of 1" in graph.attrib["aria-label"]
    assert "crossings: 0.300 ± 0.004 ms" in text(by_id(page, "trace-0-time"))
    shown = text(by_id(page, "trace-0"))
    for words in (
        "2,000 calls by 1 thread, counted with BPF",
        "The sequences lack 12 calls that were lost",
        "Sequence 1 is a batch in parts: write may wait.",
        "the program makes no calls that it applies to",
        "a batch for each sequence0.150 ± 0.020 ms7.5",
    ):
        assert words in shown


def test_a_batch_over_several_turns_says_so(results: Write) -> None:
    trace = copying()
    trace["sequences"][0] |= {"batches": 0.01, "verdict": "entirely", "why": None}
    directory = results({"copy": trace})
    make_report(directory)
    (graph,) = by_class(by_id(read_page(directory / "report.html"), "trace-0-sequences"), "panel")
    assert "entirely, over the turns" in " ".join(labels(graph))


def test_without_times_there_is_no_bar(results: Write) -> None:
    trace = copying() | {"time": {"missing": "it went on"}, "tracing_ns": None, "sequences": []}
    directory = results({"copy": trace})
    make_report(directory)
    page = read_page(directory / "report.html")
    assert "Shares of time are missing: it went on." in text(page)
    assert not list(page.iter("figure"))


def test_other_versions_and_broken_fields_are_named(results: Write) -> None:
    done = make_report(results({"new": copying() | {"version": 2}}))
    assert (done.returncode, "new.json: version 2" in done.stderr) == (2, True)
    done = make_report(results({"new": copying() | {"method": "guess"}}))
    assert (done.returncode, "the field 'method' is" in done.stderr) == (2, True)


def test_what_ferry_trace_writes_is_read(
    ferry_path: Path, command: Report, tmp_path: Path, watching: None
) -> None:
    done = subprocess.run(
        [ferry_path, "trace", "--json", "-o", tmp_path / "ls.json", "ls", "-lR", "/etc"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "ls.json").read_text())["sequences"]
    reported = command(tmp_path)
    assert (reported.returncode, reported.stderr) == (0, "")
