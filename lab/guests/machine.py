# SPDX-License-Identifier: MIT
"""The machines that guests run on: user-mode Linux, and QEMU."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab import LabError
from lab.guests.foreign import foreign_initrd
from lab.kernels.build import Kernel
from lab.toolchain import BOOTING_X86, FOREIGN, Foreign, require_commands, require_emulator

TIMED_OUT = 124
FAILED = 125
# The guest's devices for the command's output and errors
UML_LINES = ("ttyS0", "ttyS1")
QEMU_LINES = ("hvc0", "hvc1")
# In an emulated kernel, work that takes a machine milliseconds may take seconds.
EMULATED = (
    "rcupdate.rcu_cpu_stall_timeout=120",
    "rcupdate.rcu_exp_cpu_stall_timeout=120000",
    "watchdog_thresh=60",
    "sysctl.kernel.hung_task_timeout_secs=300",
    "tsc=nowatchdog",
)
KVM = ("-accel", "kvm", "-cpu", "host")
# With a thread per CPU, QEMU before 8.1 runs stale code where the kernel patches itself:
# "Oops: int3".
TCG = ("-accel", "tcg,thread=single")
# The clock of a guest that counts jumps ahead whenever it waits for the host, which looks
# to the kernel's watchdogs as if something hung.
COUNTING = ("sysctl.kernel.hung_task_timeout_secs=0", "rcupdate.rcu_cpu_stall_suppress=1")


@dataclass(frozen=True)
class Options:
    """How a guest runs.  Times are wall-clock seconds on the host."""

    cpus: int = 2
    memory: str = "1G"
    timeout: float | None = None  # for all of it: boot, command, end
    icount: bool = False  # one instruction is one nanosecond of the guest; one CPU
    writable: tuple[Path, ...] = ()  # directories of the host that the guest may change
    qemu: tuple[str, ...] = ()  # further arguments
    kernel: tuple[str, ...] = ()  # further kernel parameters
    environment: Mapping[str, str] = field(default_factory=dict)
    terminal: bool = False  # the command talks to the user's terminal
    quick: bool = False  # without the search for leaks at the end
    kvm: bool | None = None  # hardware virtualization; None: where it boots the kernel


@dataclass(frozen=True)
class Lines:
    """Descriptors that the guest's lines are connected to."""

    console: int  # kernel messages
    out: int  # the command's output
    err: int  # the command's errors
    keys: int  # the command's input, -1 for none


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command in a guest."""

    status: int | None  # the command's exit status, None if it did not end
    timed_out: bool
    findings: list[str]  # bad lines on the console
    failure: str  # one sentence, empty when the guest did well
    console: Path  # the log of the console

    @property
    def exit_status(self) -> int:
        """The command's, exactly, unless the guest failed."""
        if self.timed_out:
            return TIMED_OUT
        if self.failure or self.status is None:
            return FAILED
        return self.status


def uml_command(image: Path, run: Path, options: Options, lines: Lines) -> list[str]:
    """Starts a user-mode kernel, an ordinary program.  SMP takes seccomp=on."""
    keys = f"fd:{lines.keys}" if lines.keys >= 0 else "null"
    return [
        str(image),
        f"mem={options.memory}",
        "seccomp=on",
        f"ncpus={options.cpus}",
        *("root=/dev/root", "rootfstype=hostfs", "hostfs=/", "ro"),
        *("con=null", f"con0=null,fd:{lines.console}"),
        *("ssl=null", f"ssl0={keys},fd:{lines.out}", f"ssl1=null,fd:{lines.err}"),
        *(f"uml_dir={run}/uml/", "umid=guest"),
        *options.kernel,
        f"init={run}/init",
    ]


def find_virtme() -> str:
    beside = Path(sys.executable).with_name("virtme-run")
    found = str(beside) if beside.exists() else shutil.which("virtme-run")
    if not found:
        raise LabError("virtme-run is missing: the Python package virtme-ng has it")
    return found


def serial_line(name: str, output: int, keys: int = -1) -> list[str]:
    """A console in the guest that is connected to descriptors here."""
    source = f",input-path=/dev/fd/{keys}" if keys >= 0 else ""
    return [
        "-chardev",
        f"file,id={name},path=/dev/fd/{output}{source}",
        "-device",
        f"virtconsole,chardev={name}",
    ]


def processor(options: Options) -> list[str]:
    """How QEMU executes instructions."""
    counting = ("-icount", "shift=0,sleep=off") if options.icount else ()
    return [*(KVM if options.kvm else TCG), *counting]


def share(tag: str, path: Path, *, writable: bool) -> list[str]:
    """A directory of the host that a guest mounts by its TAG."""
    access = "off" if writable else "on"
    place = str(path).replace(",", ",,")
    return [
        "-fsdev",
        f"local,id={tag},path={place},security_model=none,multidevs=remap,readonly={access}",
        "-device",
        f"virtio-9p-device,fsdev={tag},mount_tag={tag}",
    ]


def foreign_command(
    machine: Foreign, image: Path, initrd: Path, run: Path, options: Options, lines: Lines
) -> list[str]:
    """Starts QEMU for another architecture."""
    kernel = [
        *(f"console={machine.console}", "ignore_loglevel"),
        *(COUNTING if options.icount else EMULATED),
        # Programs that a signal kills on purpose would fill the console.
        *("sysctl.debug.exception-trace=0", "panic=-1", *options.kernel),
    ]
    return [
        *machine.qemu,
        *("-smp", str(options.cpus), "-m", options.memory),
        *("-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot"),
        *("-kernel", str(image), "-initrd", str(initrd), "-append", " ".join(kernel)),
        *("-chardev", f"file,id=console,path=/dev/fd/{lines.console}"),
        *("-serial", "chardev:console"),
        *("-device", "virtio-serial-device"),
        *serial_line("out", lines.out, lines.keys),
        *serial_line("err", lines.err),
        *share("host", Path("/"), writable=False),
        *share("run", run, writable=True),
        *(
            word
            for number, path in enumerate(options.writable)
            for word in share(f"writable{number}", path, writable=True)
        ),
        *processor(options),
        *options.qemu,
    ]


def x86_command(
    image: Path, initrd: Path | None, run: Path, options: Options, lines: Lines
) -> list[str]:
    """Starts QEMU.  Its standard error has to be lines.console.

    virtme-ng describes the machine and exports the directories.  Its own first process
    is left out: it starts services for a whole system, which takes longer than the boot.
    """
    kernel = [
        *("root=/dev/root", "rootfstype=9p", "ro"),
        "rootflags=version=9p2000.L,trans=virtio,access=any,msize=262144,cache=loose",
        *("console=ttyS0", "earlyprintk=serial,ttyS0,115200", "ignore_loglevel"),
        *(COUNTING if options.icount else EMULATED),
        *("panic=-1", *options.kernel),
        f"init={run}/init",
    ]
    qemu = [
        *("-append", " ".join(kernel)),
        *(("-initrd", str(initrd)) if initrd else ()),
        *("-device", "virtio-serial-pci"),
        *serial_line("out", lines.out, lines.keys),
        *serial_line("err", lines.err),
        *processor(options),
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


def guest_command(kernel: Kernel, run: Path, options: Options, lines: Lines) -> list[str]:
    if kernel.target.arch == "um":
        return uml_command(kernel.image, run, options, lines)
    if machine := FOREIGN.get(kernel.target.arch):
        require_emulator(kernel.target.arch)
        initrd = foreign_initrd(kernel.target.arch)
        if kernel.initrd:  # with modules: an archive may follow another one
            (run / "initrd").write_bytes(initrd.read_bytes() + kernel.initrd.read_bytes())
            initrd = run / "initrd"
        return foreign_command(machine, kernel.image, initrd, run, options, lines)
    require_commands(BOOTING_X86)
    return x86_command(kernel.image, kernel.initrd, run, options, lines)
