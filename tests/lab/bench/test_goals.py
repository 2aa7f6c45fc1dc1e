# SPDX-License-Identifier: MIT
"""Goals are judged by the right records, and by no others."""

from typing import Any

import pytest

from lab.bench.goals import ALSO, Record, goal_table, goals_of, number
from lab.tests.manifest import read_benches


def judged(**documents: dict[str, Any]) -> dict[str, bool]:
    named = {name.replace("_", "-"): document for name, document in documents.items()}
    return {goal.what: goal.met for goal in goals_of(named)}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (200.291774, "200.29"), (11097.0, "11,097"), (76774144.4, "76,774,144")],
)
def test_numbers_have_no_more_digits_than_they_mean(value: float, shown: str) -> None:
    assert number(value) == shown


# ---- batches ----


def line(engine: str, slot: float, crossing: float = 400.0, call: str = "within") -> Record:
    fit = {"a_ns": crossing, "b_ns": slot}
    return {"call": call, "label": call, "engine": engine, "fit": fit, "overhead": None}


@pytest.mark.parametrize(("slot", "met"), [(65.0, True), (65.5, False)])
def test_a_slot_is_within_its_bound_or_not(slot: float, met: bool) -> None:
    series = [line("syscall", slot), line("loop", 200.0)]
    assert judged(slope={"series": series}) == {"unimplemented, within the table, per slot": met}


def test_other_slots_may_cost_more() -> None:
    assert judged(slope={"series": [line("syscall", 90.0, call="word-copy")]}) == {}


def test_overhead_is_judged_where_it_is_known() -> None:
    series = [
        line("syscall", 3399.0, call="statx") | {"overhead": 44.0},
        line("raw", 3509.0, call="statx") | {"overhead": 144.0},
        line("syscall", 1282.0, call="write"),
    ]
    assert judged(overhead={"series": series}) == {"statx in a batch, beyond its handler": True}


@pytest.mark.parametrize(("crossing", "met"), [(550.0, True), (551.0, False)])
def test_the_device_is_judged_beside_the_system_call(crossing: float, met: bool) -> None:
    series = [line("bare-syscall", 63.0), line("bare-device", 73.0, crossing)]
    assert judged(slope={"series": series}) == {
        "unimplemented, within the table, per crossing": True,
        "unimplemented, within the table, device beyond syscall, per slot": True,
        "unimplemented, within the table, device beyond syscall, per crossing": met,
    }


@pytest.mark.parametrize(("slot", "met"), [(32.0, True), (33.0, False)])
def test_batches_in_uml_are_judged_beside_the_loop_and_the_naive_one(
    slot: float, met: bool
) -> None:
    ratios = [
        {"call": "within", "engine": "syscall", "against": "loop", "ratio": 200.0},
        {"call": "within", "engine": "naive", "against": "loop", "ratio": 1.0},
        {"call": "word-copy", "engine": "syscall", "against": "loop", "ratio": 1.0},
    ]
    series = [
        line("syscall", slot),
        line("naive", 40.0),
        line("syscall", 73.0, call="unimplemented"),
        line("naive", 30.0, call="unimplemented"),
    ]
    assert judged(uml={"series": series, "ratios": ratios}) == {
        "UML, unimplemented, within the table, slot beside naive": met,
        "UML, unimplemented, within the table, loop to batch": True,
    }


# ---- pages ----


def touched(pages: int, cost: float, order: str = "sequential", access: str = "write") -> Record:
    kind = {"way": "ahead", "per_fault": pages} if pages > 1 else {"way": "base", "per_fault": None}
    costs = {"median": cost + 4000.0, "beyond_clearing_ns": cost, "mapping_ns": 0.0}
    return {"access": access, "order": order, **kind, **costs}


def test_page_faults_are_judged_by_what_a_page_costs_beyond_clearing() -> None:
    series = [touched(1, 2000.0), touched(16, 1000.0), touched(64, 801.0)]
    other = [touched(16, 10.0, order="random"), touched(16, 10.0, access="read")]
    assert judged(pagefault={"touches": series + other}) == {
        "pagefault, sequential, 16 pages a fault beside one": True,
        "pagefault, sequential, 64 pages a fault beside one": False,
    }


@pytest.mark.parametrize(("cost", "met"), [(2003.0, True), (2004.0, False)])
def test_a_fault_without_the_feature_may_take_three_more(cost: float, met: bool) -> None:
    missing = {"access": "write", "order": "sequential", "way": "ahead", "available": False}
    mapped = touched(1, cost + 5.0) | {"mapping_ns": 5.0}
    assert judged(
        pagefault={"touches": [mapped, touched(2, 1.0)]},
        pagefault_base={"touches": [touched(1, 2000.0), missing]},
    ) == {"pagefault, write sequential, beyond the kernel without": met}


def test_page_faults_in_uml_are_judged_with_clearing() -> None:
    touches = [touched(1, 12000.0), touched(16, 0.0), touched(64, -1000.0)]
    assert judged(pagefault_uml={"touches": touches}) == {
        "UML, pagefault, sequential, 16 pages a fault beside one": True,
        "UML, pagefault, sequential, 64 pages a fault beside one": False,
    }


# ---- calls and programs ----


def row(name: str, median: float) -> Record:
    return {"name": name, "available": True, "median": median}


@pytest.mark.parametrize(("cost", "met"), [(420, True), (421, False)])
def test_kstats_is_judged_beside_its_counters(cost: int, met: bool) -> None:
    rows = [row("null", 180), row("kstats", cost), row("kstats_counters", 200)]
    assert judged(call={"rows": rows}) == {"kstats beside its counters, read in the kernel": met}
    assert judged(call={"rows": rows[:2]}) == {}


@pytest.mark.parametrize(("alone", "met"), [(220, True), (221, True), (222, False)])
def test_the_ordinary_path_may_take_one_more(alone: int, met: bool) -> None:
    missing = {"name": "null", "available": False}
    assert judged(
        call={"rows": [row("getppid", alone), row("null", 175)]},
        call_base={"rows": [row("getppid", 220), missing]},
    ) == {"getppid alone, beyond the kernel without": met}


def chain(engine: str, cost: int, calls: str = "openat close") -> Record:
    return {"chain": calls, "engine": engine, "available": True, "median": cost}


def test_a_tie_with_the_loop_is_no_gain() -> None:
    rows = [chain("syscall", 100), chain("loop", 100), chain("uring", 101)]
    assert judged(total={"chains": rows}) == {
        "total, by openat close: batch beside loop": False,
        "total, by openat close: batch beside uring": True,
    }


def test_only_the_same_calls_are_compared() -> None:
    rows = [chain("syscall", 100), chain("uring", 10, calls="openat read close")]
    assert judged(total={"chains": rows}) == {}


def test_mdu_is_judged_beside_the_loop_and_io_uring() -> None:
    comparisons = [
        {"app": "mdu", "side": "loop", "against": "syscall", "median_ns": [58, 55]},
        {"app": "mdu", "side": "syscall", "against": "mdu_by_uring", "median_ns": [55, 55]},
        {"app": "mdu", "side": "loop", "against": "mdu_by_uring", "median_ns": [58, 55]},
    ]
    assert judged(mdu={"comparisons": comparisons}) == {
        "mdu, files: 20000: batch beside loop": True,
        "mdu, files: 20000: batch beside uring": False,
    }


@pytest.mark.parametrize(("in_kernel", "judgement"), [(True, True), (False, None)])
def test_posted_calls_are_judged_where_the_kernel_makes_them(
    in_kernel: bool, judgement: bool | None
) -> None:
    cells = [
        {"way": "plain", "call": "getpid", "available": True, "ratio": 1.0},
        {"way": "flexsc", "call": "getpid", "available": True, "ratio": 20.0},
        {"way": "sqpoll", "call": "getpid", "available": False},
    ]
    document = {"in_kernel": in_kernel, "cells": cells}
    goal = "UML, getpid, plain to posted"
    assert judged(flexsc_uml=document).get(goal) is judgement


def test_many_names_are_judged_by_what_they_take_beyond_the_handler() -> None:
    row = {"app": "stat", "median_ns": [2_440_000.0, 2_500_000.0], "ratio": {"median": 19.9}}
    documents = {name: {"comparisons": [row]} for name in ("files-x86-6.12", "files-uml-7.3")}
    for crossing, met in ((120.0, True), (121.0, False)):
        rows = {"call": {"rows": [{"name": "null", "median": crossing}]}}
        goals = {goal.what: goal.met for goal in goals_of(documents | rows)}
        assert goals == {
            "statx_many, per name beyond the handler": met,
            "UML, statx_many, loop to batch": False,
        }


# ---- the whole ----


def test_the_table_says_what_is_not_met() -> None:
    lines = goal_table(goals_of({"slope": {"series": [line("syscall", 66.0)]}})).splitlines()
    assert lines == [
        "GOAL                                       MEASURED  WANTED      MET",
        "unimplemented, within the table, per slot        66  at most 65  NO",
    ]


def test_goals_are_of_benchmarks_that_there_are() -> None:
    names = {bench.name for bench in read_benches()}
    judged_ones = {"slope", "overhead", "total", "mdu", "call", "call-base", "uml", "flexsc-uml"}
    judged_ones |= {"files-x86-6.12", "files-uml-7.3", "writes", "arm64", "riscv64", "directory"}
    judged_ones |= {
        f"{name}-{t}" for name in ("slope", "overhead", "total", "writes") for t in ALSO
    }
    assert judged_ones | {"pagefault", "pagefault-base", "pagefault-uml"} == names


def test_another_target_is_judged_like_the_first() -> None:
    (target,) = ALSO
    (goal,) = goals_of({f"slope-{target}": {"series": [line("syscall", 66.0)]}})
    assert goal.what == f"{target}: unimplemented, within the table, per slot"
    assert not goal.met


# ---- other machines ----


@pytest.mark.parametrize(("cost", "met"), [(75.0, True), (75.1, False)])
def test_attributes_with_names_save_enough_or_not(cost: float, met: bool) -> None:
    rows = [{"directory": "/tmp/ext4", "loop": 120.0, "batch": 100.0, "getdents_statx": cost}]
    found = judged(directory={"directories": rows})
    assert found == {"ext4, names with attributes to batches of statx": met}


@pytest.mark.parametrize("machine", ["arm64", "riscv64"])
@pytest.mark.parametrize(("batch", "met"), [(100.0, True), (100.1, False)])
def test_a_call_saves_enough_on_other_machines_or_not(
    machine: str, batch: float, met: bool
) -> None:
    calls = [{"call": "fstat", "loop": 225.0, "batch": batch}]
    found = judged(**{machine: {"calls": calls}})
    assert found == {f"{machine}, fstat, saved per call": met}
