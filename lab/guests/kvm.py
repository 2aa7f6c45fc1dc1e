# SPDX-License-Identifier: MIT
"""Whether hardware virtualization boots a kernel on this machine: tried once, remembered."""

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lab.cache import cache_root, make_directory, read_if_there, write_whole
from lab.guests.console import Watcher
from lab.guests.load import ENOUGH, Meter
from lab.guests.machine import Options, Outcome
from lab.kernels.build import Kernel

DEVICE = Path("/dev/kvm")
SECONDS = 20.0  # in which a guest with KVM boots and ends
Boot = Callable[..., Outcome]  # run_in_guest()


def kvm_boots(kernel: Kernel, options: Options, boot: Boot) -> bool:
    """Whether /dev/kvm boots KERNEL, found out by BOOT the first time.

    There are devices that open and then fail or hang, so nothing less is a proof.
    """
    usable = kernel.target.arch == "x86" and os.access(DEVICE, os.R_OK | os.W_OK)
    if not usable or options.icount or os.environ.get("FERRY_KVM") == "no":
        return False
    host = f"{platform.release()}\n"
    answer = make_directory(cache_root() / "kvm") / f"{kernel.target.name}-{kernel.key}"
    known = read_if_there(answer)
    if not known.startswith(host):
        watcher = Watcher()
        trial = replace(Options(timeout=SECONDS, quick=True), kvm=True)
        give_up = lambda: "its console is bad" if watcher.findings else ""  # noqa: E731
        ignore = lambda _: None  # noqa: E731
        meter = Meter()
        outcome = boot(kernel, ["true"], trial, ignore, ignore, watcher, give_up, meter)
        known = host + (outcome.failure or "boots")
        if outcome.failure:
            print(f"ferry-lab: emulated, as {DEVICE} fails: {outcome.failure}", file=sys.stderr)
        # A busy host may be why a guest was too late.
        if not outcome.timed_out or meter.usage.share >= ENOUGH:
            write_whole(answer, known)
    return known == f"{host}boots"
