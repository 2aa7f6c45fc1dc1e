# SPDX-License-Identifier: MIT
"""User-level threads in gdb: `source ferry-gdb.py`, then `info ferry-threads`."""

from collections.abc import Iterator

import gdb

REGISTERS = {
    "i386:x86-64": ("rsp", "rbp", "rip"),
    "aarch64": ("sp", "x29", "pc"),
}


def scheduler() -> gdb.Value:
    found = gdb.parse_and_eval("ferry__scheduler")
    if not found:
        raise gdb.GdbError("The selected kernel thread has no user-level threads.")
    return found.dereference()


def threads() -> Iterator[gdb.Value]:
    """All but the kernel thread's own code, the latest first."""
    thread = scheduler()["all"]
    while thread:
        yield thread.dereference()
        thread = thread["next_of_all"]


def state(thread: gdb.Value) -> str:
    if scheduler()["current"] == thread.address:
        return "runs"
    if thread["has_returned"]:
        return "has returned"
    where = gdb.block_for_pc(int(thread["context"]["pc"]))
    while where and not where.function:
        where = where.superblock
    return f"in {where.function}" if where else "suspended"


class InfoThreads(gdb.Command):
    """List the user-level threads of the selected kernel thread."""

    def __init__(self) -> None:
        super().__init__("info ferry-threads", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        for number, thread in enumerate(threads()):
            name = thread["name"].string() or "-"
            print(f"{number:5}  {int(thread.address):#x}  {name:31}  {state(thread)}")


class Backtrace(gdb.Command):
    """Show where a user-level thread is: ferry-backtrace NUMBER of `info ferry-threads`."""

    def __init__(self) -> None:
        super().__init__("ferry-backtrace", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        known = list(threads())
        if not argument.isdecimal() or int(argument) >= len(known):
            raise gdb.GdbError(f"Name a number from 0 to {len(known) - 1}.")
        thread = known[int(argument)]
        if scheduler()["current"] == thread.address:
            gdb.execute("backtrace")
            return
        self.show(thread["context"])

    @staticmethod
    def show(context: gdb.Value) -> None:
        """Borrows the kernel thread's registers, which gdb writes back unchanged."""
        gdb.execute("select-frame 0")
        names = REGISTERS[gdb.selected_frame().architecture().name()]
        before = [int(gdb.selected_frame().read_register(name)) for name in names]
        try:
            for name, field in zip(names, ("sp", "fp", "pc"), strict=True):
                gdb.execute(f"set ${name} = {int(context[field]):#x}")
            gdb.execute("backtrace")
        finally:
            for name, value in zip(names, before, strict=True):
                gdb.execute(f"set ${name} = {value:#x}")


InfoThreads()
Backtrace()
