# SPDX-License-Identifier: MIT
"""Bad input gets a sentence that names it, and leaves no page and no half of one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sample
from conftest import Write, make_report
from page_reader import labels, read_page

from report import page
from report.document import Batch
from report.section import Section


def refuse(directory: Path, *words: str) -> None:
    """DIRECTORY is refused in one line that has all WORDS."""
    before = sorted(directory.iterdir()) if directory.is_dir() else []
    done = make_report(directory)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("ferry: report: ")
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr
    if directory.is_dir():
        assert sorted(directory.iterdir()) == before


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    refuse(tmp_path / "absent", str(tmp_path / "absent"), "No such file")


def test_a_file_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    refuse(tmp_path / "file", "file", "Not a directory")


def test_an_empty_directory(tmp_path: Path) -> None:
    refuse(tmp_path, str(tmp_path), "no result of ferry bench")


def test_a_directory_of_other_things(results: Write) -> None:
    directory = results({"package": {"name": "something"}})
    done = make_report(directory)
    assert done.returncode == 2
    assert "no result of ferry bench" in done.stderr
    assert "package.json" in done.stderr


def test_another_version(results: Write) -> None:
    run = sample.dispatch() | {"version": 3}
    refuse(results({"new": run}), "new.json", "version 3", "reads version 2")


def test_another_version_of_an_unknown_shape(results: Write) -> None:
    run = {"schema": "ferry-bench", "version": 3, "bench": "dispatch"}
    refuse(results({"new": run}), "new.json", "version 3")


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.9999])
def test_a_file_that_was_cut_short(results: Write, share: float) -> None:
    directory = results({})
    text = json.dumps(sample.crossing())
    (directory / "cut.json").write_text(text[: int(len(text) * share)])
    refuse(directory, "cut.json", "cut short")


def test_bytes_that_are_no_text(results: Write) -> None:
    directory = results({})
    (directory / "bytes.json").write_bytes(bytes(range(256)))
    refuse(directory, "bytes.json", "not JSON")


def test_json_too_deep_to_read(results: Write) -> None:
    directory = results({})
    (directory / "deep.json").write_text("[" * 200_000)
    refuse(directory, "deep.json")


def without(*place: str | int) -> Callable[[Any], None]:
    def change(record: Any) -> None:  # noqa: ANN401
        for step in place[:-1]:
            record = record[step]
        del record[place[-1]]

    return change


def with_value(value: object, *place: str | int) -> Callable[[Any], None]:
    def change(record: Any) -> None:  # noqa: ANN401
        for step in place[:-1]:
            record = record[step]
        record[place[-1]] = value

    return change


BROKEN = [
    ("crossing", without("bench"), "'bench' is missing"),
    ("crossing", without("machine", "cpu"), "'machine.cpu' is missing"),
    ("crossing", without("rows", 3, "median"), "'rows[3].median' is missing"),
    ("crossing", without("rows", 3, "available"), "'rows[3].available' is missing"),
    ("crossing", without("tables", 0, "rows"), "'tables[0].rows' is missing"),
    ("crossing", with_value(["a"] * 40, "tables", 0, "rows", 0), "'tables[0]' has a row without"),
    ("crossing", with_value([], "tables", 0, "rows", 0), "'tables[0]' has a row without"),
    ("crossing", with_value(1e-308, "rows", 2, "median"), "'rows[2].median' is 1e-308"),
    ("crossing", with_value(1e308, "rows", 2, "trials_ns", 1), "'rows[2].trials_ns[1]' is 1e+308"),
    ("crossing", with_value("two", "tables", 0, "columns"), "'tables[0].columns' is \"two\""),
    ("crossing", with_value([], "rows", 0, "trials_ns"), "a list that is not empty"),
    ("crossing", with_value([1.0, -2.0], "rows", 0, "trials_ns"), "'rows[0].trials_ns[1]' is -2"),
    ("crossing", with_value("9", "rows", 0, "median"), "'rows[0].median' is \"9\""),
    ("crossing", with_value(True, "rows", 0, "median"), "'rows[0].median' is true"),
    ("crossing", with_value(float("nan"), "rows", 0, "median"), "'rows[0].median' is NaN"),
    ("crossing", with_value(None, "warnings"), "'warnings' is null"),
    ("crossing", with_value("yes", "complete"), "wants true or false"),
    ("crossing", with_value([5], "rows"), "'rows[0]' is 5"),
    ("crossing", with_value([1], "machine"), "wants an object"),
    ("crossing", with_value("one", "version"), "'version' is \"one\""),
    ("crossing", with_value("seconds", "unit"), 'wants "ns" or "instructions"'),
    ("batch", without("series", 2, "fit", "low_ns"), "'series[2].fit.low_ns' is missing"),
    ("batch", with_value([1, 2], "series", 0, "sizes"), "'series[0]' has a trial without one"),
    ("batch", with_value([1.5], "series", 0, "sizes"), "wants an integer"),
    ("apps", with_value([], "comparisons", 0, "ratios"), "wants a list that is not empty"),
    ("apps", with_value([["a", 1]], "comparisons", 0, "commands"), "commands[0][1]' is 1"),
    ("flexsc", with_value(None, "cells", 4, "threads"), "'cells[4]' is a cell of flexsc without"),
]


@pytest.mark.parametrize(("bench", "change", "words"), BROKEN)
def test_fields_that_are_missing_or_wrong(
    results: Write, bench: str, change: Callable[[Any], None], words: str
) -> None:
    run = sample.all_benches()[bench]
    change(run)
    refuse(results({"run": run}), "run.json", words)


@pytest.mark.parametrize("label", ["$\\frac{$", "a$b_$", r"\$"])
def test_dollars_are_no_formula(results: Write, label: str) -> None:
    run = sample.crossing()
    run["rows"][0]["label"] = label
    directory = results({"crossing": run})
    assert make_report(directory).returncode == 0
    assert label in labels(read_page(directory / "report.html"))


def test_a_file_that_cannot_be_drawn_is_named(
    results: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str, run: object) -> Section:
        raise OverflowError("two\nlines")

    monkeypatch.setitem(page.SECTIONS, Batch, fail)
    directory = results({"batch": sample.batch(), "dispatch": sample.dispatch()})
    refuse(directory, "report: batch.json: no page can show this: OverflowError(")


def test_files_that_no_page_can_hold_are_named(
    results: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(measured: object) -> None:
        raise OverflowError

    monkeypatch.setattr(page, "histories", fail)
    directory = results({"batch": sample.batch(), "dispatch": sample.dispatch()})
    refuse(directory, "batch.json", "dispatch.json", ": no page can show this: OverflowError(")


def test_every_broken_file_is_named_beside_good_ones(results: Write) -> None:
    directory = results(
        {"good": sample.dispatch(), "old": sample.dispatch() | {"version": 0}, "no": {}}
    )
    (directory / "cut.json").write_text('{"schema"')
    done = make_report(directory)
    assert done.returncode == 2
    assert [line.split(": ")[2] for line in done.stderr.splitlines()] == [
        str(directory / "cut.json"),
        str(directory / "old.json"),
    ]
    assert not (directory / "report.html").exists()


def test_an_output_that_cannot_be_written(results: Write, tmp_path: Path) -> None:
    directory = results({"dispatch": sample.dispatch()})
    (tmp_path / "folder").mkdir()
    for output in (tmp_path / "absent" / "page.html", tmp_path / "folder", Path("/dev/full")):
        done = make_report(directory, output)
        assert done.returncode == 2
        assert done.stderr.startswith(f"ferry: report: {output}: cannot write: ")
        assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "results"]


def test_an_older_page_stays_until_there_is_a_new_one(results: Write) -> None:
    directory = results({"dispatch": sample.dispatch() | {"version": 3}})
    page = directory / "report.html"
    page.write_text("the older page")
    page.chmod(0o640)
    assert make_report(directory).returncode == 2
    assert page.read_text() == "the older page"
    (directory / "dispatch.json").write_text(json.dumps(sample.dispatch()))
    assert make_report(directory).returncode == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert page.stat().st_mode & 0o777 == 0o640
