# SPDX-License-Identifier: MIT
"""Starts x86-64 kernels: QEMU without KVM, set up by virtme-ng."""

import shutil
import sys
from pathlib import Path

from lab.errors import LabError
from lab.guest import Lines, Options

OUT, ERR = "hvc0", "hvc1"
# The clock of a guest that counts jumps ahead whenever it waits for the host, which looks
# to the kernel's watchdogs as if something hung.
COUNTING = ("sysctl.kernel.hung_task_timeout_secs=0", "rcupdate.rcu_cpu_stall_suppress=1")


def find_virtme() -> str:
    beside = Path(sys.executable).with_name("virtme-run")
    found = str(beside) if beside.exists() else shutil.which("virtme-run")
    if not found:
        raise LabError("virtme-run is missing; requirements.txt has it, and ./setup installs it")
    return found


def line(name: str, output: int, keys: int = -1) -> list[str]:
    """A console in the guest that is connected to descriptors here."""
    source = f",input-path=/dev/fd/{keys}" if keys >= 0 else ""
    return [
        "-chardev",
        f"file,id={name},path=/dev/fd/{output}{source}",
        "-device",
        f"virtconsole,chardev={name}",
    ]


def command(
    image: Path, initrd: Path | None, run: Path, options: Options, lines: Lines
) -> list[str]:
    """The command that runs a guest.  Its standard error has to be lines.console.

    virtme-ng describes the machine and exports the directories.  Its own first process
    is left out: it starts services for a whole system, which takes longer than the boot.
    """
    kernel = [
        *("root=/dev/root", "rootfstype=9p", "ro"),
        "rootflags=version=9p2000.L,trans=virtio,access=any,msize=262144,cache=loose",
        *("console=ttyS0", "earlyprintk=serial,ttyS0,115200", "ignore_loglevel"),
        *(COUNTING if options.icount else ()),
        *("panic=-1", *options.kernel),
        f"init={run}/init",
    ]
    qemu = [
        *("-append", " ".join(kernel)),
        *(("-initrd", str(initrd)) if initrd else ()),
        *("-device", "virtio-serial-pci"),
        *line("out", lines.out, lines.keys),
        *line("err", lines.err),
        # With a thread per CPU, QEMU before 8.1 runs stale code where the kernel patches
        # itself: "Oops: int3".
        *("-accel", "tcg,thread=single"),
        *(("-icount", "shift=0,sleep=off") if options.icount else ()),
        *options.qemu,
    ]
    return [
        find_virtme(),
        *("--kimg", str(image), "--mods", "none"),
        *("--disable-kvm", "--force-9p"),
        *("--cpus", str(options.cpus), "--memory", options.memory),
        f"--rwdir=run/ferry={run}",
        *(f"--rwdir={path}" for path in options.writable),
        *("--script-sh", "true", "--show-boot-console"),
        "--qemu-opts",
        *qemu,
    ]
