# SPDX-License-Identifier: MIT
"""The interpreter ends while daemon threads are in calls: Python before 3.14 ends them there."""

import subprocess
import sys

import conftest

# A process of its own for each call, which comes to the end of the script.
SCRIPT = """
import os
import sys
import threading

sys.path.insert(0, sys.argv[1])
import ferry

def sleep():
    program = ferry.Program()
    program.call("nanosleep", bytes(8) + (100_000).to_bytes(8, "little"), None)
    program.run()

paths = ["/proc/self/stat"] * 5000
for call in sys.argv[2:]:
    child = os.fork()
    if not child:
        break
    status = os.waitpid(child, 0)[1]
    if status:
        print(call, "ended with", status)
else:
    sys.exit()

calls = threading.Semaphore(0)

def call_for_ever():
    while True:
        eval(call)
        calls.release()

for _ in range(3):
    threading.Thread(target=call_for_ever, daemon=True).start()
for _ in range(10):
    calls.acquire()
"""

CALLS = (
    "ferry.stat_many(paths)",
    "ferry.stat_many(['/', '/etc'])",
    "list(ferry.read_many(paths[:500]))",
    "list(ferry.read_many(['/proc/self/stat']))",
    "ferry.walk('/etc', stat=True)",
    "ferry.walk('/etc', prune=lambda path: False)",
    "ferry.stat_many(paths * 20, progress=lambda done: sum(range(10000)))",
    "sleep()",
)


def test_daemon_threads_do_not_disturb_the_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(conftest.PACKAGE), *CALLS],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
