# SPDX-License-Identifier: MIT
"""Watches a guest's console for what a healthy kernel never prints."""

import re
from functools import cache

from lab import REPOSITORY

# A printk line: an optional level and time stamp, then the message.
STAMP = r"^(?:<\d+>)?(?:\[[ \d.]+\](?:\[ *[TC]\d+\])? )?"
SIGNS = re.compile(
    STAMP
    + r"(?P<sign>.*?(?:"
    + "|".join(
        (
            r"\bBUG: ",
            r"\bWARNING: ",
            r"\bOops\b",
            r"\bKASAN: ",
            r"\bUBSAN: ",
            r"kmemleak: (?!.*(?:Kernel memory leak detector|Automatic memory scanning|disabled))",
            r"possible (?:circular|recursive) locking",
            r"inconsistent lock state",
            r"INFO: task .* blocked for more than",
            r"INFO: .*(?:stall|hung)",
            r"soft lockup",
            r"hard LOCKUP",
            r"Bad rss-counter state",
            r"Bad page state",
            r"general protection fault(?! ip:)",  # with "ip:" it is a program's
            r"unable to handle",
            r"stack-protector: ",
            r"kernel BUG at",
            r"Kernel panic",
            r"list_(?:add|del) corruption",
            r"refcount_t: ",
            r"DEBUG_LOCKS_WARN_ON",
            r"scheduling while atomic",
            r"KVM internal error",  # of QEMU, which then stops the guest
        )
    )
    + r").*)"
)

# These show that time passed without progress: the guest's fault, unless it had no CPU.
STALL = re.compile(
    r"self-detected stall|detected (?:expedited )?stalls|INFO: .*(?:stall|hung)"
    r"|soft lockup|hard LOCKUP|blocked for more than"
)

# This sign says what is wrong some lines below, as "FILE:LINE REASON".
RCU_SIGN = re.compile(r"suspicious RCU usage$")
RCU_REASON = re.compile(STAMP + r"(?P<reason>\S+\.[ch]:\d+ .*)")
# In user-mode Linux a CPU that starts frees memory before it is online, and kmemleak, which
# tracks that, leaves work to RCU.
HARMLESS = re.compile(r"kernel/rcu/tree\.c:\d+ Callback enqueued on offline CPU")

# KCSAN finds races all over the kernel.  Those between functions of others are not ours.
RACE = re.compile(r"BUG: KCSAN: data-race in (?P<functions>.*)")
DEFINED = re.compile(r"^(?!SYSCALL)\w[\w *]*?\b(\w+)\([^;]*$", re.MULTILINE)
SYSTEM_CALL = re.compile(r"^SYSCALL_DEFINE\d\((\w+)", re.MULTILINE)


@cache
def own_functions() -> frozenset[str]:
    """The functions that the series adds in files of its own."""
    folders = (REPOSITORY / "kernel" / name for name in ("core", "fs", "mm"))
    source = "\n".join(path.read_text() for folder in folders for path in folder.glob("*.c"))
    calls = SYSTEM_CALL.findall(source)
    bodies = (f"__{how}_sys_{call}" for call in calls for how in ("do", "se", "x64"))
    return frozenset([*DEFINED.findall(source), *bodies])


def is_race_of_others(sign: str) -> bool:
    race = RACE.search(sign)
    return race is not None and own_functions().isdisjoint(race["functions"].split(" / "))


class Watcher:
    """Takes the console's output as it comes; remembers the first bad lines."""

    KEPT = 20

    def __init__(self) -> None:
        self._rest = b""
        self._unexplained = ""  # a sign whose reason has not come yet
        self.findings: list[str] = []

    def feed(self, output: bytes) -> None:
        lines, newline, self._rest = (self._rest + output).rpartition(b"\n")
        if newline:
            self._look(lines)

    def close(self) -> None:
        """The last line may lack its end, and a sign its reason, when the guest died."""
        self._look(self._rest)
        self._rest = b""
        if self._unexplained:
            self._add(self._unexplained)

    def _look(self, lines: bytes) -> None:
        for line in lines.decode(errors="replace").splitlines():
            self.look_at(line)

    def look_at(self, line: str) -> None:
        if self._unexplained and (reason := RCU_REASON.match(line.rstrip())):
            sign, self._unexplained = self._unexplained, ""
            if not HARMLESS.match(reason["reason"]):
                self._add(f"{sign}: {reason['reason']}")
            return
        match = SIGNS.match(line)
        if not match:
            return
        sign = match["sign"].strip()
        if RCU_SIGN.search(sign):
            if self._unexplained:
                self._add(self._unexplained)
            self._unexplained = sign
        elif not is_race_of_others(sign):
            self._add(sign)

    def _add(self, sign: str) -> None:
        if len(self.findings) < self.KEPT:
            self.findings.append(sign)
