# SPDX-License-Identifier: MIT
"""Counts the calls and the batches of a run: count_batches.py PROGRAM ARGUMENT...

PROGRAM is one that `ferry cc` compiled, not stripped, and starts no other.  strace counts the
calls, and gdb those that a batch made; the loop makes the batches, so any kernel does.
"""

import os
import re
import subprocess
import sys

# The arguments of ferry_auto_run() are RETS, which the run fills, and in rdx the region, whose
# first half word is the number of slots; -4096 is FERRY_AUTO_NOT_MADE.
GDB = r"""
import gdb

made = []


class Left(gdb.FinishBreakpoint):
    def stop(self):
        results = gdb.parse_and_eval(f"*(long (*)[{self.ncall}]){self.rets}")
        made.append(sum(int(results[slot]) != -4096 for slot in range(self.ncall)))
        return False


class Run(gdb.Breakpoint):
    def stop(self):
        left = Left(gdb.newest_frame(), internal=True)
        left.rets = int(gdb.parse_and_eval("$rdi"))
        left.ncall = int(gdb.parse_and_eval("*(unsigned short *)$rdx"))
        return False


Run("ferry_auto_run", internal=True)
gdb.execute("run")
print(f"\nBATCHES {len(made)} {sum(made)}")
"""


def output_of(*command: str, **variables: str) -> str:
    done = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, errors="replace"
    )
    return done.stdout + done.stderr


def main() -> int:
    program = sys.argv[1:]
    counted = output_of("strace", "-c", "-U", "calls,name", *program, FERRY_AUTO="loop")
    total = re.search(r"^ *(\d+) total$", counted, re.M)
    script = ["-ex", "set startup-with-shell off", "-ex", f"python {GDB}"]
    traced = output_of("gdb", "-batch", "-nx", *script, "--args", *program, FERRY_AUTO="loop")
    batches = re.search(r"^BATCHES (\d+) (\d+)$", traced, re.M)
    if not total or not batches:
        print(f"cannot count the calls of {program[0]}:\n{counted[-500:]}\n{traced[-500:]}")
        return 1
    print(f"{total[1]} calls, {batches[2]} of them by {batches[1]} batches")
    return 0


if __name__ == "__main__":
    sys.exit(main())
