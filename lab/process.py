# SPDX-License-Identifier: MIT
"""Child processes of which nothing is left, whatever happens to them or to the lab."""

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Self

KEEPER = Path(__file__).resolve().with_name("keeper.py")
CHUNK = 1 << 16


class Kept:
    """A command that runs below a keeper, for a with statement; see keeper.py."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: int | None = subprocess.DEVNULL,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        pass_fds: Sequence[int] = (),
        terminal: bool = False,
    ) -> None:
        """TERMINAL leaves the command in this session, in the terminal's foreground."""
        lifeline, self._held = os.pipe()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", str(KEEPER), str(lifeline), *command],
                env=env,
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(lifeline, *pass_fds),
                start_new_session=not terminal,
            )
        except BaseException:
            os.close(self._held)
            raise
        finally:
            os.close(lifeline)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> int:
        """Ends the command and all it started, if they still run; its exit status."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1
        # A second Ctrl-C must not leave the clearing up half done.
        while True:
            try:
                return self.process.wait()
            except KeyboardInterrupt:
                continue


def pump(
    streams: Mapping[IO[bytes], Callable[[bytes], None]],
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
