# SPDX-License-Identifier: MIT
"""Child processes that leave nothing behind, whatever happens to them or to the lab."""

import contextlib
import functools
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

CHUNK = 1 << 16
DIES_WITH_LAB = ("setpriv", "--pdeathsig", "KILL")
# The first process of a namespace: all others there die with it.
FIRST = ("sh", "-c", '"$@"; exit', "sh")


@functools.cache
def namespace() -> tuple[str, ...]:
    """What starts a command in a PID namespace of its own; empty where there can be none."""
    for user in ((), ("--user", "--map-current-user")):
        unshare = ("unshare", *user, "--pid", "--fork", "--kill-child", "--")
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0:
            return unshare
    return ()


def children(pid: int) -> list[int]:
    """The processes that PID started and that have not been waited for."""
    with contextlib.suppress(OSError):
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return []


class Kept:
    """A command, for a with statement, that leaves nothing behind.

    It runs in a session and a PID namespace of its own.  Without namespaces, processes that
    leave the session may survive; as root or with user namespaces there always is one.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:  # noqa: ANN401 (Popen's)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [*DIES_WITH_LAB, *namespace(), *FIRST, *command],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            **options,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> int:
        """Ends the command and all it started, if they still run; its exit status."""
        # A second Ctrl-C must not leave the clearing up half done.
        while self.process.poll() is None:
            with contextlib.suppress(
                KeyboardInterrupt, ProcessLookupError, subprocess.TimeoutExpired
            ):
                self._kill()
                self.process.wait(0.02)
        return self.process.returncode

    def _kill(self) -> None:
        if not namespace():
            os.killpg(self.process.pid, signal.SIGKILL)
        # unshare waits until the first process is gone, and with it the namespace.
        for first in children(self.process.pid):
            os.kill(first, signal.SIGKILL)


def run_to(
    log: Path,
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    feed: Callable[[bytes], object] = lambda _: None,
) -> int:
    """Runs COMMAND, whose output goes to the end of LOG and to FEED; its exit status."""
    with (
        log.open("ab") as file,
        Kept(command, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as kept,
    ):
        assert kept.process.stdout

        def take(output: bytes) -> None:
            file.write(output)
            file.flush()
            feed(output)

        pump({kept.process.stdout: take})
        return kept.process.wait()


def pump(
    streams: Mapping[IO[bytes], Callable[[bytes], object]],
    *,
    tick: Callable[[], bool] = lambda: True,
    interval: float = 0.1,
) -> None:
    """Gives what arrives in STREAMS to their functions until all are closed.

    TICK is called at least every INTERVAL seconds; when it returns false, pump returns.
    """
    with selectors.DefaultSelector() as selector:
        for stream, function in streams.items():
            selector.register(stream, selectors.EVENT_READ, function)
        last = 0.0
        while selector.get_map():
            for key, _ in selector.select(interval):
                data = os.read(key.fd, CHUNK)
                if data:
                    key.data(data)
                else:
                    selector.unregister(key.fileobj)
            now = time.monotonic()
            if now - last >= interval:
                last = now
                if not tick():
                    return
