# SPDX-License-Identifier: MIT
"""Goals are judged by the right records, and by no others."""

import pytest

from lab.bench_figures import Record
from lab.bench_goals import goal_table, goals_of


def slope(engine: str, *slots: float) -> Record:
    return {"call": "unimplemented", "engine": engine, "slot": list(slots)}


def total(engine: str, cost: int, calls: str = "openat close") -> Record:
    return {"calls": calls, "engine": engine, "cost": [cost]}


def judged(records: dict[str, list[Record]]) -> dict[str, bool]:
    return {goal.what: goal.met for goal in goals_of(records)}


@pytest.mark.parametrize(("slot", "met"), [(70.0, True), (70.5, False)])
def test_a_slot_is_within_its_bound_or_not(slot: float, met: bool) -> None:
    records = {"slope": [slope("syscall", slot, slot), slope("loop", 200.0, 200.0)]}
    assert judged(records) == {"unimplemented, per slot": met}


def test_other_slots_may_cost_more() -> None:
    assert judged({"slope": [slope("syscall", 90.0) | {"call": "word copy"}]}) == {}


def test_overhead_is_judged_where_it_is_known() -> None:
    records: dict[str, list[Record]] = {
        "overhead": [
            {"call": "statx", "engine": "syscall", "slot": [3409.0], "overhead": [54.0]},
            {"call": "write", "engine": "syscall", "slot": [1282.0]},
        ]
    }
    assert judged(records) == {"statx in a batch, beyond its handler": True}


@pytest.mark.parametrize(("crossing", "met"), [(550.0, True), (551.0, False)])
def test_the_device_is_judged_beside_the_system_call(crossing: float, met: bool) -> None:
    records = {
        "slope": [
            slope("syscall", 63.0) | {"crossing": [400.0]},
            slope("device", 73.0) | {"crossing": [crossing]},
        ]
    }
    assert judged(records) == {
        "unimplemented, per slot": True,
        "unimplemented, device beyond syscall, per slot": True,
        "unimplemented, device beyond syscall, per crossing": met,
    }


def touched(pages: int, cost: float, order: str = "sequential", access: str = "write") -> Record:
    costs = {"touch": [cost + 4000.0], "beyond_clearing": [cost]}
    return {"access": access, "order": order, "per_fault": pages, **costs}


def test_page_faults_are_judged_by_what_a_page_costs_beyond_clearing() -> None:
    series = [touched(1, 2000.0), touched(16, 1000.0), touched(64, 801.0)]
    other = [touched(16, 10.0, order="random"), touched(16, 10.0, access="read")]
    assert judged({"pagefault": series + other}) == {
        "pagefault, sequential, 16 pages a fault beside one": True,
        "pagefault, sequential, 64 pages a fault beside one": False,
    }


@pytest.mark.parametrize(("cost", "met"), [(2003.0, True), (2004.0, False)])
def test_a_fault_without_the_feature_may_take_three_more(cost: float, met: bool) -> None:
    records = {
        "pagefault": [touched(1, cost), touched(2, 1.0)],
        "pagefault-base": [touched(1, 2000.0), touched(0, 1.0)],
    }
    assert judged(records) == {"pagefault, write sequential, beyond the kernel without": met}


def test_page_faults_in_uml_are_judged_with_clearing() -> None:
    records = {"pagefault-uml": [touched(1, 16000.0), touched(16, 1000.0), touched(64, 100.0)]}
    assert judged(records) == {
        "UML, pagefault, sequential, 16 pages a fault beside one": True,
        "UML, pagefault, sequential, 64 pages a fault beside one": False,
    }


@pytest.mark.parametrize(("cost", "met"), [(420, True), (421, False)])
def test_kstats_is_judged_beside_its_counters(cost: int, met: bool) -> None:
    costs = {"null": 180, "kstats": cost, "counters, read in the kernel": 200}
    records: list[Record] = [{"call": c, "here": True, "cost": [n]} for c, n in costs.items()]
    assert judged({"kstats": records}) == {"kstats beside its counters, read in the kernel": met}
    assert judged({"kstats": records[:2]}) == {}


@pytest.mark.parametrize(("alone", "met"), [(220, True), (221, True), (222, False)])
def test_the_ordinary_path_may_take_one_more(alone: int, met: bool) -> None:
    def call(name: str, cost: int, here: bool = True) -> Record:
        return {"call": name, "here": here, "cost": [cost]}

    records = {
        "call": [call("getppid", alone), call("null", 175)],
        "call-base": [call("getppid", 220), call("null", 150, here=False)],
    }
    assert judged(records) == {"getppid alone, beyond the kernel without": met}


def test_a_tie_with_the_loop_is_no_gain() -> None:
    records = {"total": [total("syscall", 100), total("loop", 100), total("uring", 101)]}
    assert judged(records) == {
        "total, by openat close: batch beside loop": False,
        "total, by openat close: batch beside uring": True,
    }


def test_only_the_same_calls_are_compared() -> None:
    records = {"total": [total("syscall", 100), total("uring", 10, calls="openat read close")]}
    assert judged(records) == {}


def test_ratios_in_uml_are_taken_pass_by_pass() -> None:
    uml = [slope("syscall", 10.0, 20.0, 30.0), slope("loop", 2500.0, 4000.0, 5700.0)]
    goals = {goal.what: goal for goal in goals_of({"uml": uml})}
    assert goals["UML, unimplemented, loop to batch"].measured == 200.0
    assert goals["UML, unimplemented, loop to batch"].met


def test_the_table_says_what_is_not_met() -> None:
    lines = goal_table(goals_of({"slope": [slope("syscall", 71.0)]})).splitlines()
    assert lines == [
        "GOAL                     MEASURED  WANTED      MET",
        "unimplemented, per slot        71  at most 70  NO",
    ]


@pytest.mark.parametrize(("in_kernel", "judgement"), [(True, True), (False, None)])
def test_posted_calls_are_judged_where_the_kernel_makes_them(
    in_kernel: bool, judgement: bool | None
) -> None:
    record: Record = {
        "call": "getpid",
        "in_kernel": in_kernel,
        "plain": [4000.0, 9000.0, 5000.0],
        "posted": [200.0, 200.0, 300.0],
    }
    goal = "UML, getpid, plain to posted"
    assert judged({"flexsc-uml": [record]}).get(goal) is judgement
