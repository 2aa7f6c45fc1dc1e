# SPDX-License-Identifier: MIT
"""The lines that make run ends with: gains only where the bench concluded one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import sample
from conftest import SOURCE

from report.conclusion import as_json, as_text, read_conclusion, written
from report.files import BadInput


def conclude(directory: Path, *runs: dict[str, Any], **unmeasured: str) -> dict[str, list[str]]:
    for run in runs:
        (directory / f"{run['bench']}.json").write_text(json.dumps(run))
    found: dict[str, list[str]] = {}
    for line in read_conclusion(directory, unmeasured):
        found.setdefault(line.kind, []).append(line.text)
    return found


def files(ratio: float, significant: bool) -> dict[str, Any]:
    run = sample.apps()
    del run["comparisons"][1:]
    row = run["comparisons"][0]
    run["bench"] = "files"
    row |= {"app": "stat", "side": "ferry_statx_many", "against": "statx"}
    row["significant"] = significant
    row["ratio"]["median"] = ratio
    return run


def test_figures_without_trials_lead_to_no_verdict(tmp_path: Path) -> None:
    for path in (SOURCE / "measure/results/amd-epyc-vm-6.18").glob("*.json"):
        shutil.copy(path, tmp_path)
    found = conclude(tmp_path)
    assert {"crossing", "bound"} <= found.keys()
    assert not {"gain", "none", "undecided"} & found.keys()


def test_undecided_jobs_share_a_sentence(tmp_path: Path) -> None:
    batch = sample.batch()
    assert conclude(tmp_path, batch, files(2.0, False))["undecided"] == [
        "batches; many files, stat: noise could explain the difference; repeat on a quiet machine."
    ]


def test_a_document_without_verdicts_is_refused(tmp_path: Path) -> None:
    run = files(2.0, True)
    del run["comparisons"][0]["significant"]
    with pytest.raises(BadInput, match="significant"):
        conclude(tmp_path, run)


def test_a_gain_that_the_bench_concluded_is_named(tmp_path: Path) -> None:
    found = conclude(tmp_path, files(2.0, True))
    assert found["gain"] == ["many files, stat: ferry_statx_many, 2.00 times as fast as statx."]


def test_a_ratio_within_the_noise_is_no_gain(tmp_path: Path) -> None:
    found = conclude(tmp_path, files(2.0, False))
    assert "gain" not in found
    assert found["undecided"][0].startswith("many files, stat")


def test_a_loss_is_named_with_its_reason(tmp_path: Path) -> None:
    found = conclude(tmp_path, files(0.5, True))
    assert "gain" not in found
    assert found["none"][0].endswith("these calls share their work among idle CPUs.")


@pytest.mark.parametrize("change", [{"withheld": "a tracer watches"}, {"complete": False}])
def test_a_run_without_a_verdict_gives_none(tmp_path: Path, change: dict[str, Any]) -> None:
    found = conclude(tmp_path, files(2.0, True) | change)
    assert set(found) & {"gain", "none", "undecided"} == set()
    assert "files" in (found.get("caution") or found["unmeasured"])[0]


def test_io_uring_beside_the_loop_is_no_gain_of_batches(tmp_path: Path) -> None:
    run = sample.batch()
    for pair in run["ratios"]:
        pair.update(ratio=1.5, significant=True)
    assert "gain" in conclude(tmp_path, run)
    run["settings"]["beside"] = ["uring"]
    found = conclude(tmp_path, run)
    assert "gain" not in found
    assert found["none"] == ["batches: no engine here carries several calls in one crossing."]


def test_a_busy_machine_is_named(tmp_path: Path) -> None:
    busy = {"warnings": [{"id": "busy", "text": "Others took 25 %."}]}
    assert "files" in conclude(tmp_path, files(2.0, True) | busy)["caution"][0]


def test_busy_cpus_may_be_why_nothing_gains(tmp_path: Path) -> None:
    busy = {"warnings": [{"id": "busy", "text": "Others took 25 %."}]}
    found = conclude(tmp_path, files(0.5, True) | busy)
    assert not any("stat" in text for text in found.get("none", []))
    assert found["undecided"][0].startswith("many files, stat: noise")


def test_a_server_under_ferry_threads_is_judged_by_its_cpu_time(tmp_path: Path) -> None:
    run = sample.threads()
    assert conclude(tmp_path, run)["undecided"][0].startswith(
        "a server with a thread per connection, 64 busy: noise"
    )
    run["comparisons"][0] |= {"significant": True}
    run["comparisons"][0]["ratio"]["median"] = 1.3
    assert conclude(tmp_path, run)["gain"] == [
        "a server with a thread per connection, 64 busy: echo under ferry threads, 1.30 times as"
        " fast as plain, by CPU time per request."
    ]


def test_a_crossing_costs_what_the_least_time_is(tmp_path: Path) -> None:
    run = sample.crossing()
    (bare,) = [row for row in run["rows"] if row["name"] == "unimplemented"]
    bare |= {"trials_ns": [59.0, 655.0, 655.0], "median": 655.0}
    assert "takes 59.0 ns" in conclude(tmp_path, run)["crossing"][0]
    bare["settled"] = False
    found = conclude(tmp_path, run)
    assert "crossing" not in found and "bound" not in found
    assert "withheld" in found["caution"][0]


def test_a_kernel_could_save_the_crossing_only(tmp_path: Path) -> None:
    run = sample.crossing()
    found = conclude(tmp_path, run)
    least = min(next(row for row in run["rows"] if row["name"] == "unimplemented")["trials_ns"])
    assert f"takes {least:.1f} ns, the least of its trials" in found["crossing"][0]
    cost = found["crossing"][0].split(" takes ")[1].split(",")[0]
    assert found["bound"][0].startswith(f"Less than {cost} per call: ")


def test_all_benches_together_fit_a_screen(tmp_path: Path) -> None:
    every = sample.crossing(), sample.batch(), sample.flexsc(), sample.pagefault()
    conclude(tmp_path, *every, sample.threads(), files(2.0, True))
    lines = read_conclusion(tmp_path, {"apps": "bc is missing"})
    assert len(lines) == len(as_text(lines)) <= 15
    assert "bc is missing" in as_json(lines)
    assert lines[-1].text.startswith("build/cli/ferry trace ")


def test_the_document_gives_the_lines_back(tmp_path: Path) -> None:
    lines = read_conclusion(tmp_path, {"batch": "this is a test"})
    (tmp_path / "conclusion.json").write_text(as_json(lines))
    assert written(tmp_path / "conclusion.json") == lines
    assert read_conclusion(tmp_path, {"batch": "this is a test"}) == lines


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "ferry-conclusion"}'])
def test_another_document_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "conclusion.json").write_text(text)
    with pytest.raises(BadInput, match=r"conclusion\.json"):
        written(tmp_path / "conclusion.json")
