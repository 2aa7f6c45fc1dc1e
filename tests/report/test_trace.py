# SPDX-License-Identifier: MIT
"""The page says what ferry trace found."""

import json
import subprocess
from pathlib import Path
from typing import Any

import sample
from conftest import Report, Write, make_report
from page_reader import by_class, by_id, labels, read_page, text


def estimate(value: float | None, error: float | None = 0) -> dict[str, float | None]:
    return {"value": value, "error": error}


def step(call: str, calls: float, *arguments: tuple[str, int | None], **more: Any) -> Any:  # noqa: ANN401
    known: dict[str, Any] = {"failed": False, "begins_batch": False, "alone": False, "why": None}
    known["arguments"] = [{"source": source, "step": of} for source, of in arguments]
    return known | {"call": call, "calls": calls} | more


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
    results({"dispatch": sample.dispatch()})
    assert make_report(directory).stdout.endswith("report.html: 1 run, 1 trace\n")
    short = text(by_id(read_page(directory / "report.html"), "short"))
    assert "copy: crossings take 15\N{NO-BREAK SPACE}% of its CPU time" in short.replace(
        "15 %", "15\N{NO-BREAK SPACE}%"
    )


def test_time_sequences_and_savings_are_drawn(results: Write) -> None:
    directory = results({"copy": copying()})
    make_report(directory)
    page = read_page(directory / "report.html")
    (graph,) = by_class(by_id(page, "trace-0-sequences"), "panel")
    drawn = " ".join(labels(graph))
    for words in ("read, 1.0", "write, 1.0", "then sequence 1: 990 times", "sequence 1: 1,000"):
        assert words in drawn
    assert "crossings" in " ".join(labels(by_id(page, "trace-0-time")))
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


def test_without_times_the_bound_is_a_time(results: Write) -> None:
    trace = copying() | {"time": {"missing": "it went on"}, "tracing_ns": None, "sequences": []}
    directory = results({"copy": trace})
    make_report(directory)
    page = read_page(directory / "report.html")
    assert "Shares of time are missing: it went on." in text(page)
    assert "crossings take 300" in text(by_id(page, "short"))


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
