# SPDX-License-Identifier: MIT
"""What ferry bench prints and writes is what it measured."""

import csv
import ctypes
import io
import json
import re
import struct
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Ferry, Run
from scipy import stats

ROWS = {
    "crossing": "rows",
    "batch": "series",
    "dispatch": "rows",
    "chain": "chains",
    "apps": "comparisons",
    "files": "comparisons",
    "flexsc": "cells",
    "pagefault": "touches",
    "threads": "comparisons",
}
BENCHES = list(ROWS)
Floats = np.ndarray[Any, np.dtype[np.float64]]
Documents = dict[str, Any]


def rows_of(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (JSON)
    rows: list[dict[str, Any]] = document[ROWS[document["bench"]]]
    return rows


@pytest.mark.parametrize("bench", BENCHES)
def test_a_run_says_what_it_was_made_on_and_with(bench: str, documents: Documents) -> None:
    document = documents[bench]
    assert (document["schema"], document["version"]) == ("ferry-bench", 2)
    assert document["bench"] == bench
    assert document["command"][:3] == ["ferry", "bench", bench]
    assert document["complete"] is True
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["started"])
    assert document["clock"]["overhead_ns"] > 0
    assert document["settings"]["seed"] == 1
    assert all(warning["id"] and warning["text"] for warning in document["warnings"])
    assert document["findings"]


@pytest.mark.parametrize("bench", sorted(ROWS.keys() - {"batch", "apps", "files", "threads"}))
def test_records_summarize_their_trials(bench: str, documents: Documents) -> None:
    document = documents[bench]
    for row in rows_of(document):
        if not row["available"]:
            assert row["reason"]
            continue
        trials = np.array(row["trials_ns"])
        assert len(trials) == document["settings"]["trials"]
        found = [row[key] for key in ("mean", "min", "max", "sd", "median")]
        expected = [trials.mean(), trials.min(), trials.max(), trials.std(ddof=1)]
        assert found == pytest.approx([*expected, np.median(trials)], rel=1e-6)


@pytest.mark.parametrize("bench", ["crossing", "dispatch"])
def test_rows_are_compared_with_a_function(bench: str, documents: Documents) -> None:
    document = documents[bench]
    rows = [row for row in rows_of(document) if row["available"]]
    base = next(row for row in rows if row["name"] == "function")
    for row in rows:
        assert row["ratio"] == pytest.approx(row["median"] / base["median"], rel=1e-6)
        if document["clock"]["tsc_hz"]:
            cycles = row["median"] * document["clock"]["tsc_hz"] / 1e9
            assert row["cycles"] == pytest.approx(cycles, rel=0.01)


def test_a_call_that_is_given_is_a_row_of_its_own(ferry: Ferry) -> None:
    words = ["crossing", "--trials", "4", "--calls", "200", "--json", "-", "--call"]
    document = json.loads(ferry(*words, "39").stdout)
    row = rows_of(document)[-1]
    assert (row["name"], row["label"], row["available"]) == ("given", "call 39()", True)
    assert document["settings"]["calls_made"] == ["39"]
    refused = json.loads(ferry(*words, "3,-1").stdout)
    assert "call" in [warning["id"] for warning in refused["warnings"]]
    missing = rows_of(json.loads(ferry(*words, "508,buffer,0,0").stdout))[-1]
    assert (missing["available"], missing["reason"]) == (False, "this kernel has no such call")


def test_chains_are_compared_with_the_loop(documents: Documents) -> None:
    rows = [row for row in rows_of(documents["chain"]) if row["available"]]
    assert {row["engine"] for row in rows} >= {"loop", "raw"}
    loops = {row["chain"]: row for row in rows if row["engine"] == "loop"}
    for row in rows:
        if row["engine"] == "loop":
            assert row["ratio"] is None
            continue
        ratios = np.array(loops[row["chain"]]["trials_ns"]) / np.array(row["trials_ns"])
        assert row["ratio"] == pytest.approx(np.median(ratios), rel=1e-6)


def test_chains_leave_nothing_behind(ferry: Ferry, tmp_path: Path) -> None:
    assert ferry("chain", "--trials", "1", "--directory", tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_the_findings_of_flexsc_are_those_of_its_cells(documents: Documents) -> None:
    document = documents["flexsc"]
    flexsc = [cell for cell in rows_of(document) if cell["way"] == "flexsc"]
    for call in {cell["call"] for cell in flexsc}:
        # With the number of threads that is next to 64.
        cells = [c for c in flexsc if (c["call"], c["threads"], c["runners"]) == (call, 16, 1)]
        assert len(cells) == 3
        won = [c["work_ns"] for c in cells if c["significant"] and c["ratio"] > 1]
        lost = [c["work_ns"] for c in cells if c["significant"] and c["ratio"] < 1]
        ahead = [cell["ratio"] > 1 for cell in cells]
        text = " ".join(found["text"] for found in document["findings"] if found["about"] == call)
        if document["withheld"]:  # a test beside this one traces
            assert not text and not won and not lost
            continue
        assert ("wins at no W" in text) == (not won)
        assert (f"is W = {listed(won)} ns" in text) == bool(won)
        assert (f"plain calls win at W = {listed(lost)} ns" in text) == bool(lost)
        crosses = any(not one and other for one, other in pairwise(ahead))
        assert ("breaks even" in text) == (bool(won) and crosses)


def listed(numbers: list[float]) -> str:
    words = [f"{number:.0f}" for number in numbers]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def test_cells_of_flexsc_are_compared_with_plain_calls(documents: Documents) -> None:
    document = documents["flexsc"]
    cells = rows_of(document)
    assert {cell["way"] for cell in cells} == {
        "plain",
        "batch",
        "uring",
        "sqpoll",
        "pthreads",
        "flexsc",
    }
    plain = {(cell["call"], cell["work_ns"]): cell for cell in cells if cell["way"] == "plain"}
    for cell in cells:
        if not cell["available"]:
            continue
        base = plain[cell["call"], cell["work_ns"]]
        ratios = np.array(base["trials_ns"]) / np.array(cell["trials_ns"])
        assert cell["ratio"] == pytest.approx(np.median(ratios), rel=1e-6)
        latency = cell["latency_ns"]
        assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"]
        assert cell["caller_cpu_ns"] > 0
        assert (cell["threads"] is not None) == (cell["way"] in ("pthreads", "flexsc"))
        assert (cell["runners"] is not None) == (cell["way"] == "flexsc")
    # The kernel counts this time in ticks, and a cell may take less than one.
    posted = [cell["other_cpu_ns"] for cell in cells if cell["way"] == "flexsc"]
    assert min(posted) >= 0
    assert max(posted) > 0


def test_touches_are_compared_with_a_fault_a_page(documents: Documents) -> None:
    document = documents["pagefault"]
    assert document["memory_bytes"] == 16 << 20
    pages = document["memory_bytes"] // document["page_bytes"]
    orders = {"sequential": pages, "random": pages, "one_in_64": pages // 64}
    touches = [touch for touch in rows_of(document) if touch["available"]]
    base = {(t["access"], t["order"]): t for t in touches if t["way"] == "base"}
    assert set(base) == {("write", order) for order in orders} | {("read", "sequential")}
    for touch in touches:
        single = base[touch["access"], touch["order"]]
        ratios = np.array(single["trials_ns"]) / np.array(touch["trials_ns"])
        assert touch["ratio"] == pytest.approx(np.median(ratios), rel=1e-6)
        assert touch["touched"] == orders[touch["order"]]
        assert touch["later_ns"] > 0


def test_faults_and_memory_of_touches_are_those_of_their_way(
    documents: Documents, sanitized: bool
) -> None:
    if sanitized:
        pytest.skip("the sanitizers' own memory has faults as well")
    document = documents["pagefault"]
    page, some = document["page_bytes"], 8
    pages = document["memory_bytes"] // page
    for touch in rows_of(document):
        if not touch["available"]:
            assert touch["reason"]
            assert (touch["access"], touch["order"]) == ("write", "sequential")
            continue
        mapped, way = touch["mapped_pages"], touch["way"]
        assert touch["touched"] <= mapped <= pages
        if touch["access"] == "write":
            # A helper has a stack, and memory of its own for malloc().
            near = (128 if way == "prefault" else some) * page
            assert touch["resident_bytes"] == pytest.approx(mapped * page, abs=near)
            wasted = (mapped - touch["touched"]) * page
            assert touch["wasted_bytes"] == pytest.approx(wasted, abs=near)
        elif way == "base":
            assert touch["resident_bytes"] < some * page
        if way == "base":
            assert mapped == touch["touched"] <= touch["faults"] < touch["touched"] + some
        elif way in ("populate", "prefault", "prefault_here", "map_populate"):
            assert mapped == pages
            assert touch["exceptions"] is None or touch["exceptions"] < some
        elif way == "ahead" and touch["order"] == "sequential":
            assert touch["faults"] <= pages / touch["per_fault"] + some
        elif way == "clear":
            assert touch["faults"] < some


def test_crossing_has_every_row_and_the_share_beyond_the_crossing(documents: Documents) -> None:
    rows = {row["name"]: row for row in rows_of(documents["crossing"])}
    assert list(rows) == [
        "function",
        "clock_gettime_vdso",
        "gettimeofday_vdso",
        "gettimeofday_trap",
        "getpid_libc",
        "getpid_raw",
        "getppid",
        "unimplemented",
        "null",
        "kstats",
        "read",
        "write",
        "stat",
        "fstat",
        "open_close",
    ]
    bare = rows["null"] if rows["null"]["available"] else rows["unimplemented"]
    # 200 calls in a trial are too few to speak of shares.
    assert all(row.get("kernel_share") is None for row in rows.values())
    assert bare["ratio"] > 1
    assert rows["function"]["kernel_share"] is None
    assert rows["gettimeofday_vdso"]["kernel_share"] is None
    assert documents["crossing"]["loop_ns"] > 0


def slope(trials: Floats, sizes: Floats) -> tuple[float, float]:
    """The slope and the intercept of the line through the least times."""
    least = trials.min(axis=0)
    slope, intercept = np.polyfit(sizes, least, 1, w=1 / least)
    return slope, intercept


def slopes_of_groups(series: dict[str, Any]) -> Floats:
    """The slopes of up to ten groups of trials that follow each other, of two trials at least."""
    trials = np.array(series["trials_ns"])
    groups = np.array_split(trials, min(10, len(trials) // 2))
    return np.array([slope(group, np.array(series["sizes"]))[0] for group in groups])


def test_fits_and_ratios_are_those_of_the_trials(documents: Documents) -> None:
    document = documents["batch"]
    slopes = {}
    for series in document["series"]:
        trials, sizes = np.array(series["trials_ns"]), np.array(series["sizes"])
        assert trials.shape == (document["settings"]["trials"], len(sizes))
        fit = series["fit"]
        assert [fit["b_ns"], fit["a_ns"]] == pytest.approx(slope(trials, sizes), rel=1e-6, abs=1e-6)
        assert fit["b_se"] == pytest.approx(np.hypot(fit["b_scatter"], fit["b_drift"]))
        slopes[series["engine"]] = slopes_of_groups(series)
    for ratio in document["ratios"]:
        of_groups = slopes[ratio["against"]] / slopes[ratio["engine"]]
        assert ratio["ratio"] == pytest.approx(of_groups.mean(), rel=1e-6)
        assert ratio["significant"] == (ratio["p"] <= 0.05 and not document["withheld"])
        if not ratio["significant"]:
            assert ratio["break_even"] is None


def test_the_engines_are_those_that_are_here(
    documents: Documents, ferry_path: Path, environment: dict[str, str]
) -> None:
    probe = subprocess.run(
        [ferry_path, "probe", "--json"], env=environment, stdout=subprocess.PIPE, check=True
    )
    here = [engine["name"] for engine in json.loads(probe.stdout)["engines"] if engine["here"]]
    assert [series["engine"] for series in documents["batch"]["series"]] == [*here, "raw"]
    assert documents["batch"]["settings"]["engines"] == here


def test_one_engine_has_nothing_to_be_compared_with(ferry: Ferry) -> None:
    words = ["batch", "--engine", "loop", "--trials", "3", "--sizes", "1,8", "--slots", "8"]
    done = ferry(*words, "--json", "-")
    document = json.loads(done.stdout)
    assert [series["engine"] for series in document["series"]] == ["loop"]
    assert document["ratios"] == []


@pytest.mark.parametrize(
    "call", ["getppid", "read", "write", "openat", "close", "fstat", "lstat", "statx"]
)
def test_every_call_runs_on_every_engine(ferry: Ferry, call: str) -> None:
    done = ferry("batch", "--call", call, "--trials", "2", "--sizes", "1,64", "--slots", "8")
    assert (done.returncode, done.stderr) == (0, "")
    assert call in done.stdout


def test_pairs_give_the_ratio_of_applications(documents: Documents) -> None:
    rows = [row for row in rows_of(documents["apps"]) if row["available"]]
    assert {row["app"] for row in rows} == {"total", "mdu", "rw", "pathsearch", "sigset"}
    for row in rows:
        pairs = np.array(row["pairs_ns"])
        assert pairs.shape == (documents["apps"]["settings"]["pairs"], 2)
        ratios = pairs[:, 1] / pairs[:, 0]
        assert row["ratio"]["median"] == pytest.approx(np.median(ratios), rel=1e-6)
        assert row["median_ns"] == pytest.approx(np.median(pairs, axis=0), rel=1e-6)
        low, high = row["ratio"]["low"], row["ratio"]["high"]
        assert [low, high] == pytest.approx([ratios.min(), ratios.max()], rel=1e-6)
        assert row["ratio"]["confidence"] == pytest.approx(1 - 2 / 2**7)
        sides = [(ratios < 1).sum(), (ratios > 1).sum()]
        alone = stats.binomtest(int(min(sides)), int(sum(sides))).pvalue
        # Corrected for the number of comparisons, so never less than alone.
        assert alone <= row["ratio"]["p"] <= 1
        withheld = documents["apps"]["withheld"]
        assert row["significant"] == (row["ratio"]["p"] <= 0.05 and not withheld)
        assert row["ratios"] == pytest.approx(ratios, rel=1e-6)
        assert row["equal"] in ((None,) if row["against"] in ("cat", "sh -c :") else (True,)) or (
            row["app"] == "rw" and row["equal"] is True
        )


def test_a_program_that_is_not_installed_is_said_to_be_missing(
    ferry: Ferry, short: dict[str, list[str]], environment: dict[str, str], tmp_path: Path
) -> None:
    done = ferry(*short["apps"], "--json", "-", env=environment | {"PATH": str(tmp_path)})
    rows = rows_of(json.loads(done.stdout))
    missing = {row["against"]: row["reason"] for row in rows if not row["available"]}
    assert missing["du -sl"] == "du is not installed"
    assert missing["cat"] == "cat is not installed"


@pytest.mark.parametrize("bench", BENCHES)
def test_csv_has_the_rows_of_the_json(bench: str, runs: dict[str, Run]) -> None:
    rows = rows_of(runs[bench].document)
    table = list(csv.DictReader(io.StringIO(runs[bench].table)))
    assert len(table) == len(rows)
    for cells, row in zip(table, rows, strict=True):
        for heading, cell in cells.items():
            value: Any = row
            for key in heading.split("."):
                at = int(key) if isinstance(value, list) else key
                value = value.get(at) if isinstance(value, dict) else value and value[at]
            if isinstance(value, bool):
                assert cell == str(value).lower()
            elif isinstance(value, int | float):
                assert float(cell) == pytest.approx(value, rel=1e-6)
            else:
                assert cell == (value or "")


def test_csv_alone_on_standard_output(ferry: Ferry, short: dict[str, list[str]]) -> None:
    done = ferry(*short["crossing"], "--csv", "-")
    assert done.stdout.startswith("name,label,available,mean,")
    assert "CALL" not in done.stdout


@pytest.mark.parametrize("bench", BENCHES)
def test_people_get_tables_sentences_and_warnings(bench: str, runs: dict[str, Run]) -> None:
    run = runs[bench]
    printed = " ".join(run.printed.split())
    assert "\033" not in run.printed
    # Not rows: numbers, which grow with the machine's load, are never cut.
    assert all(len(line) <= 80 for line in run.printed.splitlines() if "  " not in line.strip())
    for finding in run.document["findings"]:
        assert f"* {finding['text']}" in printed
    for warning in run.document["warnings"]:
        assert f"warning: {warning['text']}" in printed


def in_order(words: list[str], among: list[str]) -> bool:
    rest = iter(among)
    return all(word in rest for word in words)


@pytest.mark.parametrize("bench", BENCHES)
def test_the_document_has_the_tables_that_are_printed(bench: str, runs: dict[str, Run]) -> None:
    tables = runs[bench].document["tables"]
    assert all(len(row) == len(table["columns"]) for table in tables for row in table["rows"])
    lines = [line.split() for line in runs[bench].printed.splitlines()]
    words = " ".join(runs[bench].printed.split())
    printed = [table for table in tables if table["title"] in words]
    assert printed
    for table in printed:
        # A terminal has not all columns, and wraps texts.
        most = [line for line in lines if len(line) > len(table["columns"]) / 2]
        for row in table["rows"]:
            assert any(in_order(line, " ".join(row).split()) for line in most), row
        assert all(sentence in words for sentence in table["missing"])


def test_few_trials_have_no_errors(ferry: Ferry) -> None:
    one = ferry("batch", "--trials", "1", "--sizes", "1,2", "--slots", "2", "--json", "-")
    assert all(series["fit"] is None for series in json.loads(one.stdout)["series"])
    size = ferry("batch", "--trials", "3", "--sizes", "4", "--slots", "2", "--json", "-")
    assert all(series["fit"] is None for series in json.loads(size.stdout)["series"])
    row = json.loads(ferry("crossing", "--trials", "1", "--calls", "9", "--json", "-").stdout)
    assert all(item["se"] is None for item in row["rows"] if item["available"])


def test_the_cpu_is_the_one_asked_for(ferry: Ferry) -> None:
    words = ["crossing", "--trials", "1", "--calls", "10", "--cpu", "0", "--json", "-"]
    document = json.loads(ferry(*words).stdout)
    assert document["machine"]["cpu_pinned"] == 0
    assert document["settings"]["cpu"] == 0


def test_a_clock_too_coarse_for_the_trials_is_warned_of(ferry: Ferry) -> None:
    done = ferry("crossing", "--trials", "1", "--calls", "1", "--json", "-")
    ids = [warning["id"] for warning in json.loads(done.stdout)["warnings"]]
    assert "coarse-clock" in ids


PROGRAM = """\
string path "/dev/null"
fd:   openat(AT_FDCWD, path, O_WRONLY)  fail -> end
      write($fd, path, 1)
      close($fd)
"""


def test_a_program_is_measured_copy_by_copy(ferry: Ferry, tmp_path: Path) -> None:
    path = tmp_path / "program.ferry"
    path.write_text(PROGRAM)
    words = ["batch", "--program", path, "--sizes", "1,4,16", "--trials", "3", "--slots", "64"]
    document = json.loads(ferry(*words, "--json", "-").stdout)
    assert [series["call"] for series in document["series"]] == [str(path)] * len(
        document["settings"]["engines"]
    )
    for series in document["series"]:
        assert series["body"] == 3
        assert series["sizes"] == [1, 4, 16]
    both = ferry(*words, "--call", "getppid", "--json", "-")
    calls = {series["call"] for series in json.loads(both.stdout)["series"]}
    assert calls == {"getppid", str(path)}


def test_a_program_that_dies_leaves_what_was_finished(
    ferry: Ferry, tmp_path: Path, environment: dict[str, str]
) -> None:
    bad, good = tmp_path / "bad.ferry", tmp_path / "good.json"
    bad.write_text("copy(16, 16)\n")
    options = ["--engine", "loop", "--trials", "2", "--sizes", "1,2", "--slots", "2"]
    uncaught = environment | {"ASAN_OPTIONS": "handle_segv=0"}
    both = ["--call", "getppid", "--program", bad]
    done = ferry("batch", *both, *options, "--json", good, env=uncaught)
    assert done.returncode == 1
    assert "Segmentation fault" in done.stderr
    document = json.loads(good.read_text())
    assert document["complete"] is False
    assert {series["call"] for series in document["series"]} == {"getppid"}
    assert "getppid" in done.stdout


REFUSED = 511  # the number that no kernel has


def test_every_call_on_offer_can_be_measured(ferry: Ferry, ferry_path: Path) -> None:
    offer: list[str | Path] = [ferry_path, "--complete", "bench", "batch", "--call", ""]
    calls = subprocess.check_output(offer, text=True).split()
    assert len(calls) > 1
    words = ["--call", ",".join(calls), "--engine", "loop", "--sizes", "1", "--trials", "1"]
    document = json.loads(ferry("batch", *words, "--slots", "1", "--json", "-").stdout)
    assert [series["call"] for series in document["series"]] == calls


def refuse_by_filter(number: int) -> None:
    """Makes a filter of system calls answer NUMBER with EPERM."""
    nr, allow, eperm = 0, 0x7FFF0000, 0x00050001
    code = [(0x20, 0, 0, nr), (0x15, 0, 1, number), (0x06, 0, 0, eperm), (0x06, 0, 0, allow)]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(filters))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0  # PR_SET_SECCOMP


@pytest.mark.parametrize("bench", ["batch", "crossing"])
def test_a_filter_that_refuses_is_warned_of_and_the_rest_measured(
    bench: str, ferry: Ferry, short: dict[str, list[str]]
) -> None:
    done = ferry(*short[bench], "--json", "-", preexec_fn=lambda: refuse_by_filter(REFUSED))
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert "filter" in [warning["id"] for warning in document["warnings"]]
    assert rows_of(document)


def test_a_call_that_a_filter_forbids_is_left_out(ferry: Ferry, sanitized: bool) -> None:
    if sanitized:
        pytest.skip("the leak checker waits for ever without getppid()")
    words = ["batch", "--call", "getppid,write", "--trials", "2", "--sizes", "1,4", "--slots", "8"]
    words += ["--engine", "loop"]
    done = ferry(*words, "--json", "-", preexec_fn=lambda: refuse_by_filter(110))
    document = json.loads(done.stdout)
    assert [series["call"] for series in document["series"]] == ["write"]
    assert "getppid" in next(w["text"] for w in document["warnings"] if w["id"] == "filter")


def test_a_long_run_is_announced(ferry_path: Path, environment: dict[str, str]) -> None:
    words = ["crossing", "--trials", "10000", "--calls", "1000000"]
    with subprocess.Popen(
        [ferry_path, "bench", *words], env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        line = process.stderr.readline()
        process.terminate()
    assert re.fullmatch(r"ferry: bench: crossing will take about \d+ minutes; .*\n", line)
