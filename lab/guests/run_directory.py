# SPDX-License-Identifier: MIT
"""The directory of a run, which the host and its guest share: the command and its status."""

import contextlib
import fcntl
import os
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab import REPOSITORY
from lab.cache import cache_root, make_directory
from lab.guests.fstab import fstab
from lab.guests.machine import QEMU_LINES, UML_LINES, Options
from lab.kernels.build import Kernel
from lab.toolchain import FOREIGN

SCRIPTS = Path(__file__).resolve().parent
KEPT_RUNS = 30  # of those with findings, and of the others
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TERM", "COLORTERM")
PREFIXES = ("FERRY_", "BATCH_")


@contextlib.contextmanager
def new_run(name: str) -> Iterator[Path]:
    """A directory for this run; the oldest ones that have ended go.

    Runs without findings do not displace those with some: they may be all there is of a rare bug.
    """
    runs = make_directory(cache_root() / "runs")
    # Anything else there is not ours.
    past = sorted(filter(Path.is_dir, runs.iterdir()), key=lambda path: path.stat().st_mtime)
    for found in (True, False):
        for path in [p for p in past if findings(p).exists() is found][: -KEPT_RUNS or None]:
            remove_if_ended(path)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    run = make_directory(runs / f"{stamp}-{name}-{os.getpid()}-{time.monotonic_ns() % 10**6}")
    with (run / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield run


def findings(run: Path) -> Path:
    """The file of bad lines on the console, if there were any."""
    return run / "findings"


def remove_if_ended(run: Path) -> None:
    with (
        contextlib.suppress(BlockingIOError, FileNotFoundError),
        (run / "lock").open("a") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(run, ignore_errors=True)


def write_command(run: Path, kernel: Kernel, command: Sequence[str], options: Options) -> None:
    """What init and enter read."""
    uml = kernel.target.arch == "um"
    out, err = UML_LINES if uml else QEMU_LINES
    variables = environment(options)
    if kernel.target.arch in FOREIGN:
        variables["PATH"] = "/bin"  # the host's programs are for another machine
    columns, rows = shutil.get_terminal_size()
    settings = {
        "out": out,
        "err": err,
        "terminal": "yes" if options.terminal else "",
        "rows": str(rows),
        "columns": str(columns),
        "quick": "yes" if options.quick else "",
    }
    for name in ("enter", "init"):
        shutil.copy(SCRIPTS / name, run / name)
    (run / "settings").write_text(shell_variables(settings))
    (run / "fstab").write_text(fstab(uml, run, options.writable))
    (run / "writable").write_text(
        "".join(f"writable{number} {path}\n" for number, path in enumerate(options.writable))
    )
    (run / "command").write_text(
        "".join(f"export {line}" for line in shell_variables(variables).splitlines(True))
        + f"cd {shlex.quote(str(Path.cwd()))} || exit 1\n"
        + f"exec {shlex.join(command)}\n"
    )


def environment(options: Options) -> dict[str, str]:
    """The command's environment."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith(PREFIXES)
    }
    if not options.terminal:
        passed["TERM"] = "dumb"
    programs = REPOSITORY / "build" / "cli"
    if (programs / "ferry").exists():
        passed["PATH"] = f"{programs}:{passed.get('PATH', os.defpath)}"
    # A tmpfs: files there take no way through the overlay and to the host.
    return passed | {"HOME": "/root", "TMPDIR": "/dev/shm"} | dict(options.environment)


def shell_variables(variables: Mapping[str, str]) -> str:
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items())
