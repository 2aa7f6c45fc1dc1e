#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Repeats what once went wrong now and then: no run may fail.  repeated.py ENGINE [RUNS [TEST...]]

ENGINE is syscall, or device for the tests that do not need the series.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

BUILD = Path(os.environ.get("FERRY_BUILD", Path(__file__).parents[2] / "build"))
KSELFTEST = Path(os.environ.get("FERRY_KSELFTEST", "/nonexistent"))
CONFORMANCE = BUILD / "tests/lib/conformance/conformance"
HOSTILE = BUILD / "tests/kernel/hostile"
PAGES_AHEAD = BUILD / "tests/kernel/pages_ahead"

# For one process, in seconds.  Its tests have limits of their own.
TIME_LIMIT = 300
# A test of the conformance suite repeats itself, but for no longer than two minutes.
RUNS_IN_ONE = 25
# Lines of progress.
PROGRESS = 4


@dataclass
class Repeated:
    name: str
    command: Sequence[str | Path]
    runs_in_one: int = 1


def conformance(engine: str, name: str) -> Repeated:
    return Repeated(name, [CONFORMANCE, "--only", name, engine], RUNS_IN_ONE)


def selftest(program: str, name: str) -> Repeated:
    return Repeated(name, [KSELFTEST / program, "-t", name])


def hostile(engine: str, name: str) -> Repeated:
    return Repeated(name, [HOSTILE, "--engine", engine, "--only", name])


# It chooses process IDs, which are lost to others that start processes meanwhile.
ALONE = ["a_result_may_look_like_a_restart"]
ANYWHERE = [
    "a_signal_during_a_stop_ends_the_call",
    "a_signal_in_the_freezer_ends_the_call",
    "a_signal_that_a_tracer_sends_ends_the_call",
    "a_signal_that_a_tracer_takes_away_does_not_end_the_call",
    "the_init_process_ignores_signals_without_a_handler",
    "a_restarted_call_is_the_one_that_was_interrupted",
    "a_restarted_call_keeps_the_result_it_was_given",
    "a_slot_that_a_handler_unmaps_does_not_run",
    "a_tracer_finds_the_registers_of_a_call",
    "a_tracer_may_send_the_program_elsewhere",
    "a_call_that_a_tracer_puts_in_place_of_another_may_trap",
    "a_call_that_a_tracer_holds_while_the_filter_comes_may_trap",
    "a_filter_from_another_thread_traps_only_real_calls",
    "a_filter_may_trap_the_restart_of_a_call",
    "a_filter_that_comes_during_a_call_does_not_end_the_batch",
    "an_interrupted_restart_of_a_call_is_restarted",
    "a_call_is_restarted_in_a_child_of_the_handler_too",
    "a_batch_in_a_handler_does_not_change_the_call_that_is_restarted",
    "a_batch_that_a_handler_leaves_does_not_change_the_call_that_is_restarted",
    "an_interrupted_batch_within_a_page_makes_no_call_but_its_own",
    "many_calls_may_be_interrupted_at_once",
    "calls_that_wait_go_on_after_a_stop",
]
BESIDE_THE_LOOP = [
    "a_mask_for_one_call_ends_with_that_call",
    "queued_signals_keep_their_order_when_a_slot_unblocks_them",
    "batches_nest_in_handlers_as_deep_as_these",
    "a_handler_of_sigcont_ends_the_call",
    "a_handler_of_sigcont_with_sa_restart_does_not_end_the_call",
    "a_handler_may_stop_the_program_as_shells_expect",
    "an_odd_answer_of_a_filter_is_the_result",
    "an_answer_that_looks_like_a_restart_is_no_other_result_under_signals",
    "a_supervisor_gives_fails_and_continues_slots_under_signals",
    "a_slot_may_ask_to_be_traced",
    "calls_that_wait_go_on_after_a_tracer_has_interrupted_them",
    "no_slot_follows_the_one_that_kills_its_control_group",
]
WITH_THE_SERIES = [
    selftest("batch_raw", "only_64_bit_calls_are_made"),
    hostile("syscall", "a_supervisor_is_asked_about_the_same_batch_after_each_signal"),
    selftest("multi_page_alloc", "take_no_more_faults_after_a_read"),
    selftest("multi_page_alloc", "are_inherited_by_fork_and_cleared_by_exec"),
    Repeated("pages_ahead_reach_no_limit", [PAGES_AHEAD, "--only", "pages_ahead_reach_no_limit"]),
]


def failure(test: Repeated) -> str | None:
    try:
        done = subprocess.run(
            test.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIME_LIMIT,
            text=True,
            env=os.environ | {"FERRY_REPEATS": str(test.runs_in_one)},
        )
    except subprocess.TimeoutExpired as expired:
        return f"hangs: not over after {TIME_LIMIT} seconds: {expired.output!r}"
    if done.returncode:
        return f"failed with status {done.returncode}: {done.stdout}"
    # Both harnesses are content when a test is skipped, or when there is none of that name.
    if test.name not in done.stdout or "SKIP" in done.stdout:
        return f"did not run: {done.stdout}"
    return None


def repeat(test: Repeated, runs: int) -> int:
    """The number of failures."""
    start = time.monotonic()
    failures = 0
    times = -(-runs // test.runs_in_one)
    for i in range(1, times + 1):
        found = failure(test)
        done = i * test.runs_in_one
        if found:
            failures += 1
            print(f"{test.name}, up to run {done}: {found}", flush=True)
        if i % max(times // PROGRESS, 1) == 0 and i < times:
            print(f"{test.name}: {done} of {runs} runs", flush=True)
    seconds = time.monotonic() - start
    print(
        f"{test.name}: {times * test.runs_in_one} runs, {failures} failures, {seconds:.0f} s",
        flush=True,
    )
    return failures


def main(arguments: list[str]) -> int:
    engine = arguments[0]
    runs = int(arguments[1]) if arguments[1:] else 1000
    names = arguments[2:]
    alone = [conformance(engine, name) for name in ALONE]
    others = [conformance(engine, name) for name in ANYWHERE]
    others += [hostile(engine, name) for name in BESIDE_THE_LOOP]
    others += WITH_THE_SERIES if engine == "syscall" else []
    if names:
        alone = [test for test in alone if test.name in names]
        others = [test for test in others if test.name in names]
    failures = sum(repeat(test, runs) for test in alone)
    # Most of them wait, for one process or another.
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        failures += sum(pool.map(lambda test: repeat(test, runs), others))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
