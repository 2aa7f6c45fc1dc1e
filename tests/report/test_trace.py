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


SAVES = "a batch for each sequence would save 7.5 % of its CPU time (0.150 ± 0.020 ms)."


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
    }


def test_a_trace_stands_beside_runs_or_alone(results: Write) -> None:
    directory = results({"copy": copying()})
    assert make_report(directory).stdout.endswith("report.html: 1 trace\n")
    page = read_page(directory / "report.html")
    assert text(page.findall(".//h1")[0]) == "What batching would buy copy"
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
    trace = copying()
    del trace["savings"][0]
    directory = results({"copy": trace})
    make_report(directory)
    top = by_id(read_page(directory / "report.html"), "top")
    assert "no way that ferry knows would save any of its time." in text(top)


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


def test_time_sequences_and_savings_are_drawn(results: Write) -> None:
    directory = results({"copy": copying()})
    make_report(directory)
    page = read_page(directory / "report.html")
    (graph,) = by_class(by_id(page, "trace-0-sequences"), "panel")
    drawn = " ".join(labels(graph))
    for words in ("read, 1.0", "write, 1.0", "then sequence 1: 990 times", "sequence 1: 1,000"):
        assert words in drawn
    assert "crossings: 0.300 ± 0.004 ms" in text(by_id(page, "trace-0-time"))
    assert "batch" in " ".join(labels(by_id(page, "trace-0-savings")))
    shown = text(by_id(page, "trace-0"))
    for words in (
        "2,000 calls by 1 thread, counted with BPF",
        "The sequences lack 12 calls that were lost",
        "Sequence 1 is a batch in parts: write may wait.",
        "1: buffer of 1, 2: result of 1",
        "the program makes no calls that it applies to",
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
    assert [each.attrib["id"] for each in page.iter("figure")] == ["trace-0-savings"]


def test_other_versions_and_broken_fields_are_named(results: Write) -> None:
    done = make_report(results({"new": copying() | {"version": 2}}))
    assert (done.returncode, "new.json: version 2" in done.stderr) == (2, True)
    done = make_report(results({"new": copying() | {"method": "guess"}}))
    assert (done.returncode, "the field 'method' is" in done.stderr) == (2, True)


def test_what_ferry_trace_writes_is_read(ferry_path: Path, command: Report, tmp_path: Path) -> None:
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
