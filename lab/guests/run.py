# SPDX-License-Identifier: MIT
"""Runs a command in a guest: starts it, passes its output on, watches, ends it."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import IO

from lab import LabError
from lab.cache import cache_root, make_directory
from lab.guests.console import Watcher
from lab.guests.kvm import kvm_boots
from lab.guests.load import Meter
from lab.guests.machine import Lines, Options, Outcome, guest_command
from lab.guests.run_directory import findings, new_run, write_command
from lab.guests.terminal import Keys
from lab.guests.watch import Watch
from lab.kernels.build import Kernel
from lab.process import Kept, pump

HIDDEN = ("/dev", "/proc", "/run", "/sys")  # the guest has its own

Sink = Callable[[bytes], object]


def write_out(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_err(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def run_in_guest(
    kernel: Kernel,
    command: Sequence[str],
    options: Options,
    out: Sink = write_out,
    err: Sink = write_err,
    watcher: Watcher | None = None,
    give_up: Callable[[], str] = lambda: "",
    meter: Meter | None = None,
) -> Outcome:
    """Runs COMMAND as root in KERNEL, in this directory; returns when the guest is gone.

    The guest's root is the host's, and what it writes stays in its memory, but for
    options.writable.  Nothing is left running, whatever happens.  GIVE_UP is asked again
    and again whether the guest has to be ended, and says why.
    METER measures the CPU time of the guest.
    """
    check(options)
    if options.kvm is None:
        options = replace(options, kvm=kvm_boots(kernel, options, run_in_guest))
    with contextlib.ExitStack() as stack:
        run = stack.enter_context(new_run(kernel.target.name))
        write_command(run, kernel, command, options)
        console, out_pipe, err_pipe = (stack.enter_context(pipe()) for _ in range(3))
        keys = stack.enter_context(Keys()) if options.terminal else None
        lines = Lines(
            console[1].fileno(),
            out_pipe[1].fileno(),
            err_pipe[1].fileno(),
            keys.guest_end if keys else -1,
        )
        log = stack.enter_context((run / "console.log").open("wb"))
        guest = stack.enter_context(
            Kept(
                guest_command(kernel, run, options, lines),
                # Temporary files of what runs the guest go with the run.
                env=os.environ | {"TMPDIR": str(make_directory(run / "tmp"))},
                stdout=console[1],
                stderr=console[1],
                pass_fds=[fd for fd in astuple(lines) if fd >= 0],
            )
        )
        for _, written in (console, out_pipe, err_pipe):
            written.close()
        watch = Watch(
            kernel.target.name, run, guest, options, watcher or Watcher(), give_up, meter or Meter()
        )

        def take_console(data: bytes) -> None:
            log.write(data)
            log.flush()
            watch.watcher.feed(data)

        streams = {console[0]: take_console, out_pipe[0]: out, err_pipe[0]: err}
        if keys:
            streams[keys.user_end] = watch.guard(keys.take)
        pump(streams, tick=watch.tick)
        guest.end()
        # What was on its way when the guest was ended.
        pump({s: f for s, f in streams.items() if not keys or s is not keys.user_end})
        watch.watcher.close()
        outcome = watch.outcome()
        if outcome.findings:
            findings(run).write_text("".join(f"{line}\n" for line in outcome.findings))
        return outcome


def check(options: Options) -> None:
    for path in (Path.cwd(), cache_root(), *options.writable):
        if f"{path}/".startswith(tuple(f"{top}/" for top in HIDDEN)):
            raise LabError(f"a guest cannot see {path}: it has its own {', '.join(HIDDEN)}")
    for path in options.writable:
        if not path.is_dir():
            raise LabError(f"{path} is not a directory")
    if options.icount and options.cpus != 1:
        raise LabError("instructions are counted on one CPU: use --icount with --cpus 1")


@contextlib.contextmanager
def pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", 0) as here, os.fdopen(writing, "wb", 0) as there:
        yield here, there
