# SPDX-License-Identifier: MIT
"""The console's watcher finds what a healthy kernel never prints, and nothing else."""

import pytest

from lab.guests.console import Watcher

BAD = [
    "[   12.345678] BUG: unable to handle page fault for address: ffff888000000000",
    "[    1.000000] WARNING: CPU: 1 PID: 77 at kernel/subcall/batch.c:12 batch_run+0x10/0x20",
    "[    1.000000] Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI",
    "[    1.000000] BUG: KASAN: slab-out-of-bounds in ferry_run+0x10/0x20",
    "[    1.000000] WARNING: possible circular locking dependency detected",
    "[  245.000000] INFO: task batch:123 blocked for more than 120 seconds.",
    "[   30.000000] rcu: INFO: rcu_preempt self-detected stall on CPU",
    "[   30.000000] rcu: INFO: rcu_sched detected stalls on CPUs/tasks: { 1 }",
    "[   60.000000] kmemleak: 3 new suspicious memory leaks (see /sys/kernel/debug/kmemleak)",
    "[   60.000000] kmemleak: unreferenced object 0xffff888003a4c000 (size 64):",
    "[    1.000000] Oops: general protection fault, probably for non-canonical address 0x8",
    "[    1.000000] general protection fault: 0000 [#1] SMP",
    "[    1.000000] UBSAN: array-index-out-of-bounds in kernel/subcall/batch.c:40:7",
    "[    1.000000] BUG: Bad rss-counter state mm:00000000e1b1d0a5 type:MM_ANONPAGES val:2",
    "[    1.000000] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b",
    "[    1.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [batch:99]",
    "[    1.000000][  T123] refcount_t: underflow; use-after-free.",
    "[    1.000000] BUG: KCSAN: data-race in has_same_filters / seccomp_set_mode_filter",
    "[    1.000000] BUG: KCSAN: data-race in __do_sys_batch",
    "Kernel panic - not syncing: before any time stamp",
]
GOOD = [
    "[    0.000000] Linux version 6.12.117-ferry (ferry@lab)",
    "[    0.000000] Kernel command line: root=/dev/root ro console=ttyS0 panic=-1",
    "[    0.000000] kmemleak: Kernel memory leak detector initialized (mem pool available: 1)",
    "[    0.000000] kmemleak: Automatic memory scanning thread started",
    "[    1.000000] traps: batch[554] general protection fault ip:56538c1fe00f sp:7ffd3fa7a220",
    "[    0.000000] Spectre V2 : Mitigation: Retpolines",
    "[    5.000000] Out of memory: Killed process 77 (hog) total-vm:1048576kB",
    "[    0.000000] rcu: Hierarchical RCU implementation.",
    "[    0.000000] Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar",
    "[    0.000000] hung_task: khungtaskd started",
    "[    0.000000] debug: unmapping init memory",
    "[    1.000000] BUG: KCSAN: data-race in tick_sched_do_timer / tick_sched_do_timer",
    "[    1.000000] BUG: KCSAN: data-race in _copy_to_user",
]


@pytest.mark.parametrize("line", BAD)
def test_bad_line(line: str) -> None:
    watcher = Watcher()
    watcher.feed(f"{line}\r\n".encode())
    assert len(watcher.findings) == 1
    assert watcher.findings[0] in line


@pytest.mark.parametrize("line", GOOD)
def test_good_line(line: str) -> None:
    watcher = Watcher()
    watcher.feed(f"{line}\n".encode())
    watcher.close()
    assert watcher.findings == []


def rcu_complaint(reason: str) -> bytes:
    return f"""\
[    0.540000] WARNING: suspicious RCU usage
[    0.540000] 7.3.4-ferry-debug #3 Not tainted
[    0.540000] -----------------------------
[    0.540000] {reason}
[    0.540000] other info that might help us debug this:
""".encode()


def test_a_complaint_of_rcu_is_told_with_its_reason() -> None:
    watcher = Watcher()
    watcher.feed(
        rcu_complaint("kernel/subcall/batch.c:12 suspicious rcu_dereference_check() usage!")
    )
    assert watcher.findings == [
        "WARNING: suspicious RCU usage: "
        "kernel/subcall/batch.c:12 suspicious rcu_dereference_check() usage!"
    ]


def test_what_user_mode_linux_does_before_a_cpu_is_online_is_not_ours() -> None:
    watcher = Watcher()
    watcher.feed(rcu_complaint("kernel/rcu/tree.c:3185 Callback enqueued on offline CPU!!"))
    watcher.close()
    assert watcher.findings == []


def test_a_complaint_of_rcu_without_a_reason_is_told() -> None:
    watcher = Watcher()
    watcher.feed(b"[    0.540000] WARNING: suspicious RCU usage\n")
    watcher.close()
    assert watcher.findings == ["WARNING: suspicious RCU usage"]


def test_no_complaint_of_rcu_is_lost_to_the_next() -> None:
    watcher = Watcher()
    watcher.feed(b"[    0.540000] WARNING: suspicious RCU usage\n")
    watcher.feed(rcu_complaint("kernel/rcu/tree.c:3185 Callback enqueued on offline CPU!!"))
    assert watcher.findings == ["WARNING: suspicious RCU usage"]


def test_a_line_in_pieces_is_one_line() -> None:
    watcher = Watcher()
    for byte in f"{BAD[0]}\n{GOOD[0]}\n".encode():
        watcher.feed(bytes([byte]))
    assert len(watcher.findings) == 1


def test_the_last_line_may_lack_its_end() -> None:
    watcher = Watcher()
    watcher.feed(BAD[12].encode())
    assert watcher.findings == []
    watcher.close()
    assert len(watcher.findings) == 1


def test_a_flood_is_kept_short() -> None:
    watcher = Watcher()
    watcher.feed(f"{BAD[0]}\n".encode() * 1000)
    assert len(watcher.findings) == Watcher.KEPT
