# SPDX-License-Identifier: MIT
"""Figures of several passes, and their table."""

import pytest

from lab.bench_figures import Figure, Record, table, with_overhead


def test_passes_that_agree_are_one_number() -> None:
    assert str(Figure.of([65.0, 65.0, 65.0])) == "65"
    assert Figure.of([65.0]).exact


def test_passes_that_differ_show_their_quartiles() -> None:
    assert str(Figure.of([1.0, 2.0, 3.0, 4.0, 5.0])) == "3 (2 .. 4)"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (200.291774, "200.29"), (11097.0, "11,097"), (76774144.4, "76,774,144")],
)
def test_numbers_have_no_more_digits_than_they_mean(value: float, shown: str) -> None:
    assert str(Figure.of([value])) == shown


def test_overhead_is_what_a_slot_costs_beyond_its_handler() -> None:
    record = with_overhead({"slot": [107.0, 108.0], "direct": [53, 53]})
    assert record["overhead"] == [54.0, 55.0]


def test_there_is_no_overhead_where_handlers_were_not_measured() -> None:
    assert "overhead" not in with_overhead({"slot": [107.0], "direct": []})
    assert "overhead" not in with_overhead({"cost": [107.0]})


def test_the_table_has_the_records_in_its_columns() -> None:
    records: list[Record] = [
        {"bench": "slope", "unit": "ns", "engine": "syscall", "nr": 400, "slot": [65.0, 65.0]},
        {"bench": "slope", "unit": "ns", "engine": "uring", "slot": [1210.0, 1210.0]},
    ]
    assert table(records) == ("ENGINE    NR   SLOT\nsyscall  400     65\nuring         1,210")


def test_columns_without_anything_are_left_out() -> None:
    assert table([{"engine": "loop", "crossing": [], "note": ""}]) == "ENGINE\nloop"
