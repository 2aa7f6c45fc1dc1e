# SPDX-License-Identifier: MIT
"""gdb: `ferry-threads` shows the stacks of carried threads that no carrier runs.

    (gdb) source gdb_threads.py
    (gdb) ferry-threads

gdb itself shows the kernel thread of such a thread in its home, and a carrier with the stack of
the thread that it runs.
"""

import gdb

CARRIED = 3  # PLACE_CARRIED of thread.h
# What ferry_threads_switch() pushes below the address that it returns to.
SAVED = ("r15", "r14", "r13", "r12", "rbx", "rbp")
CONTROL = 8  # bytes of control words below


def word(address: int) -> int:
    memory = gdb.selected_inferior().read_memory(address, 8)
    return int.from_bytes(memory.tobytes(), "little")


def carried_threads() -> "list[gdb.Value]":
    """All `struct thread` in the list of threads that were carried."""
    kind = gdb.lookup_type("struct thread")
    link = next(field for field in kind.fields() if field.name == "all")
    head = gdb.parse_and_eval("&'home.c'::all.threads")
    found = []
    at = head["next"]
    while int(at) and at != head:
        address = int(at) - link.bitpos // 8
        found.append(gdb.Value(address).cast(kind.pointer()).dereference())
        at = at["next"]
    return found


def registers_of(thread: gdb.Value) -> "dict[str, int]":
    stack = int(thread["sp"]) + CONTROL
    saved = {name: word(stack + 8 * place) for place, name in enumerate(SAVED)}
    stack += 8 * len(SAVED)
    return saved | {"rip": word(stack), "rsp": stack + 8, "fs_base": int(thread["fs"])}


def show_stack(thread: gdb.Value) -> None:
    """With the saved registers for a moment in place of the selected thread's."""
    changed = registers_of(thread)
    # The number of the system call as well: it begins again once the process goes on.
    kept = {name: int(gdb.parse_and_eval(f"(long)${name}")) for name in (*changed, "orig_rax")}
    try:
        for name, value in changed.items():
            gdb.execute(f"set ${name} = {value}")
        gdb.execute("backtrace")
    finally:
        gdb.execute("frame 0", to_string=True)
        for name, value in kept.items():
            gdb.execute(f"set ${name} = {value}")


class FerryThreads(gdb.Command):
    """Show the stacks of carried threads that wait, of a live process."""

    def __init__(self) -> None:
        super().__init__("ferry-threads", gdb.COMMAND_STACK)

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        shown = 0
        for thread in carried_threads():
            if int(thread["place"]) != CARRIED or int(thread["carrier"]):
                continue
            print(f"thread {int(thread['tid'])}, which waits on no kernel thread:")
            show_stack(thread)
            shown += 1
        print(f"{shown} threads wait")


FerryThreads()
