# SPDX-License-Identifier: MIT
"""How much of the CPU time that a guest wanted the host gave it."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from lab.process import children

ENOUGH = 0.8  # below this share, time-outs and stalls in a guest may be the host's fault
INTERVAL = 1.0  # seconds between samples


@dataclass(frozen=True)
class Usage:
    """CPU seconds of a guest's processes: used, and waited for while the host ran others."""

    used: float = 0.0
    waited: float = 0.0

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(self.used - other.used, self.waited - other.waited)

    @property
    def share(self) -> float:
        """The part that the guest got of the CPU time that it wanted."""
        wanted = self.used + self.waited
        return self.used / wanted if wanted else 1.0


def tasks_below(pid: int) -> dict[str, tuple[int, int]]:
    """Nanoseconds that each thread of PID and its descendants ran, and waited to run."""
    found: dict[str, tuple[int, int]] = {}
    left = [pid]
    while left:
        process = left.pop()
        left += children(process)
        try:
            for task in Path(f"/proc/{process}/task").iterdir():
                ran, waited, _ = (task / "schedstat").read_text().split()
                found[task.name] = int(ran), int(waited)
        except OSError:
            continue
    return found


def machine_times() -> tuple[int, int]:
    """The host's own clock ticks: those it used, and those another machine took from it."""
    fields = [int(text) for text in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, stolen = fields
    return user + nice + system + irq + softirq, stolen


class Meter:
    """Adds up what a guest's processes use and wait for, from when it is attached."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._pid = 0
        self._tasks: dict[str, tuple[int, int]] = {}
        self._machine = (0, 0)
        self._sampled = 0.0

    def attach(self, pid: int) -> None:
        self._pid, self._machine = pid, machine_times()

    def sample(self, interval: float = INTERVAL) -> None:
        """Looks at the processes, unless it has done so within INTERVAL seconds."""
        if self._pid and time.monotonic() - self._sampled >= interval:
            self._sampled = time.monotonic()
            self.update(tasks_below(self._pid), machine_times())

    def update(self, tasks: dict[str, tuple[int, int]], machine: tuple[int, int]) -> None:
        ran = waited = 0.0
        for name, (ran_until_now, waited_until_now) in tasks.items():
            ran_before, waited_before = self._tasks.get(name, (0, 0))
            ran += max(0, ran_until_now - ran_before) / 1e9
            waited += max(0, waited_until_now - waited_before) / 1e9
        used, stolen = (now - then for now, then in zip(machine, self._machine, strict=True))
        # A thread seems to run while another machine has its CPU.
        lost = ran * stolen / (used + stolen) if stolen > 0 else 0.0
        self.usage = Usage(self.usage.used + ran - lost, self.usage.waited + waited + lost)
        self._tasks, self._machine = tasks, machine


def describe(share: float) -> str:
    """SHARE and the host's load, for a message."""
    return f"host load {os.getloadavg()[0]:.1f}, the guest got {share:.0%} of the CPU it wanted"
