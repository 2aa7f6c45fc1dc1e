# SPDX-License-Identifier: MIT
"""What init mounts: a root over the host's, and directories that can be written to."""

from collections.abc import Sequence
from pathlib import Path

ROOT = "/run/root"  # where the guest's root is put together
RUN = "/run/ferry"  # the directory of a run, in the guest

# device, place, type, options
SYSTEM = (
    ("root", "", "overlay", "lowerdir=/,upperdir=/run/upper,workdir=/run/work"),
    ("proc", "/proc", "proc", ""),
    ("sys", "/sys", "sysfs", ""),
    ("dev", "/dev", "devtmpfs", ""),
    ("pts", "/dev/pts", "devpts", "mode=620,ptmxmode=666"),
    ("shm", "/dev/shm", "tmpfs", "mode=1777"),
    ("run", "/run", "tmpfs", "mode=0755"),
    ("debug", "/sys/kernel/debug", "debugfs", "nofail"),
    ("trace", "/sys/kernel/tracing", "tracefs", "nofail"),
    ("security", "/sys/kernel/security", "securityfs", "nofail"),
    ("cgroup", "/sys/fs/cgroup", "cgroup2", "nofail"),
)


def escape(path: str) -> str:
    """A path as fstab(5) has it."""
    return "".join(f"\\{ord(c):03o}" if c in " \t\n\\" else c for c in path)


def line(device: str, place: str, kind: str, options: str) -> str:
    made = f"{options},X-mount.mkdir" if options else "X-mount.mkdir"
    return f"{escape(device)} {escape(ROOT + place)} {kind} {escape(made)} 0 0\n"


def fstab(uml: bool, run: Path, writable: Sequence[Path]) -> str:
    """RUN and the WRITABLE directories are the host's: hostfs, or 9P tags in this order."""
    lines = [line(*row) for row in SYSTEM]
    for number, (path, place) in enumerate([(run, RUN), *((path, str(path)) for path in writable)]):
        if uml:
            lines.append(line("host", place, "hostfs", str(path)))
        else:
            options = "version=9p2000.L,trans=virtio,access=any,msize=262144"
            lines.append(line(f"virtme.initmount{number}", place, "9p", options))
    return "".join(lines)
