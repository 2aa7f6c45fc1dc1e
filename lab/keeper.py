# SPDX-License-Identifier: MIT
"""Runs one command, and ends everything it started when it is over.

    python -I keeper.py LIFELINE COMMAND...

The keeper adopts the orphans among the command's descendants.  When the command ends, or
when the other end of the pipe LIFELINE closes (its owner is gone, however it died), or on
SIGTERM, the keeper kills all that is left of them.  Its exit status is the command's.
"""

import ctypes
import os
import selectors
import signal
import sys
import time
from types import FrameType

PR_SET_CHILD_SUBREAPER = 36
NOT_STARTED = 127


def adopt_orphans() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def parents() -> dict[int, int]:
    """Every process of the machine and its parent."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The command, in parentheses, may hold anything.
                found[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue
    return found


def descendants(ancestor: int) -> set[int]:
    parent_of = parents()
    found: set[int] = set()
    while more := {p for p, q in parent_of.items() if q in found | {ancestor}} - found:
        found |= more
    return found


def reap() -> dict[int, int]:
    """The wait statuses of all children that have ended."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def kill_all() -> None:
    """Kills until nothing is left; what is killed may have forked meanwhile."""
    while left := descendants(os.getpid()):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.01)
        reap()


def wait_for(child: int, lifeline: int, wakeup: int) -> int:
    """The command's exit status; -1 when it was not waited for to the end."""
    with selectors.DefaultSelector() as selector:
        selector.register(lifeline, selectors.EVENT_READ)
        selector.register(wakeup, selectors.EVENT_READ)
        while True:
            ready = [key.fd for key, _ in selector.select()]
            if lifeline in ready:
                return -1
            signals = os.read(wakeup, 64)
            ended = reap()
            if child in ended:
                return os.waitstatus_to_exitcode(ended[child])
            if signal.SIGTERM in signals:
                return -1


def start(command: list[str]) -> int:
    child = os.fork()
    if child:
        return child
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"ferry-lab: cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        os._exit(NOT_STARTED)


def ignore(_number: int, _frame: FrameType | None) -> None:
    """The number arrives through the wake-up descriptor."""


def main() -> int:
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)
    adopt_orphans()
    wakeup, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written)
    signal.signal(signal.SIGCHLD, ignore)
    signal.signal(signal.SIGTERM, ignore)
    # Ctrl-C is its owner's to handle, who then closes the lifeline.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = wait_for(start(command), lifeline, wakeup)
    signal.set_wakeup_fd(-1)
    kill_all()
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())
