# SPDX-License-Identifier: MIT
"""gdb: `ferry-threads` shows the stacks of carried threads that no carrier runs.

    (gdb) source gdb_threads.py
    (gdb) ferry-threads

gdb itself shows the kernel thread of such a thread in its home, and a carrier with the stack of
the thread that it runs.
"""

import gdb

CARRIED = 3  # PLACE_CARRIED of thread.h
# Where ferry_threads_switch() saves registers, in bytes from the stack pointer.
X86_64 = {"r15": 8, "r14": 16, "r13": 24, "r12": 32, "rbx": 40, "rbp": 48, "rip": 56}
AARCH64 = {f"x{number}": 16 + 8 * (number - 19) for number in range(19, 29)} | {"x29": 0, "pc": 8}
# And the size of all that, the names of the stack and thread pointers, and of what else to keep:
# the number of the system call, which begins again once the process goes on.
CONTEXTS = {
    "i386:x86-64": (X86_64, 64, "rsp", "fs_base", ("orig_rax",)),
    "aarch64": (AARCH64, 176, "sp", "tpidr", ()),
}


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


def show_stack(thread: gdb.Value) -> None:
    """With the saved registers for a moment in place of the selected thread's."""
    cpu = gdb.selected_frame().architecture().name()
    saved, size, stack_pointer, thread_pointer, others = CONTEXTS[cpu]
    stack = int(thread["sp"])
    changed = {name: word(stack + offset) for name, offset in saved.items()}
    changed |= {stack_pointer: stack + size, thread_pointer: int(thread["tp"])}
    kept = {name: int(gdb.parse_and_eval(f"(long)${name}")) for name in (*changed, *others)}
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
