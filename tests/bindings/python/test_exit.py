# SPDX-License-Identifier: MIT
"""The interpreter ends while daemon threads are in calls: Python before 3.14 ends them there."""

import subprocess
import sys

import conftest
import pytest

SCRIPT = """
import sys
import threading

sys.path.insert(0, sys.argv[1])
import ferry

def sleep():
    program = ferry.Program()
    program.call("nanosleep", bytes(8) + (100_000).to_bytes(8, "little"), None)
    program.run()

calls = threading.Semaphore(0)

def call_for_ever():
    while True:
        eval(sys.argv[2])
        calls.release()

paths = ["/proc/self/stat"] * 5000
for _ in range(3):
    threading.Thread(target=call_for_ever, daemon=True).start()
for _ in range(10):
    calls.acquire()
"""

CALLS = {
    "attributes": "ferry.stat_many(paths)",
    "few attributes": "ferry.stat_many(['/', '/etc'])",
    "contents": "list(ferry.read_many(paths[:500]))",
    "few contents": "list(ferry.read_many(['/proc/self/stat']))",
    "tree": "ferry.walk('/etc', stat=True)",
    "pruned tree": "ferry.walk('/etc', prune=lambda path: False)",
    "progress": "ferry.stat_many(paths * 20, progress=lambda done: sum(range(10000)))",
    "program": "sleep()",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_daemon_threads_do_not_disturb_the_end(call: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(conftest.PACKAGE), call],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
