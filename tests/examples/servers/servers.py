# SPDX-License-Identifier: MIT
"""What the tests of the servers share: servers to talk to, and clients that do it badly."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

BUILDS = ("flexsc", "pthreads", "events")
PATIENCE = 20.0  # s, for what takes milliseconds


class Client(socket.socket):
    """A connection to a server on this machine."""

    def __init__(self, port: int) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self.settimeout(PATIENCE)
        self.connect(("127.0.0.1", port))
        self.left = b""

    def until(self, end: bytes) -> bytes:
        """Everything up to END, and END."""
        while end not in self.left:
            some = self.recv(1 << 16)
            assert some, f"the connection ended after {self.left[-200:]!r}"
            self.left += some
        found, _, self.left = self.left.partition(end)
        return found + end

    def exactly(self, size: int) -> bytes:
        while len(self.left) < size:
            some = self.recv(1 << 16)
            assert some, f"the connection ended {size - len(self.left)} bytes early"
            self.left += some
        found, self.left = self.left[:size], self.left[size:]
        return found

    def rest(self) -> bytes:
        """Everything up to the end of the connection."""
        while some := self.recv(1 << 16):
            self.left += some
        found, self.left = self.left, b""
        return found

    def ends(self) -> bool:
        """Whether the server closes or resets the connection."""
        try:
            self.rest()
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
        return True

    def reset(self) -> None:
        """Ends it by a reset, with whatever is under way."""
        self.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.close()


class Server:
    """A server under test, and its process."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port

    def connect(self) -> Client:
        return Client(self.port)

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def settles_at(self, descriptors: int) -> bool:
        """Whether it soon has no more open files than that, once it has accepted all clients."""
        return soon(lambda: self.descriptors() <= descriptors)

    def unread(self) -> int:
        """Bytes that clients have sent and it has not read."""
        rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
        port = f":{self.port:04X}"
        count = 0
        for _, here, there, _, queues, *_ in rows:
            sending, receiving = (int(size, 16) for size in queues.split(":"))
            count += sending * there.endswith(port) + receiving * here.endswith(port)
        return count


def soon(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def running(
    program: Path, *args: str | Path, shell: str = "", user: int | None = None
) -> Iterator[Server]:
    """Runs a server; `shell` is a prefix such as ulimit, run by sh."""
    command: list[str | Path] = [program, *args]
    if shell:
        command = ["sh", "-c", shell, "sh", *command]
    groups: list[int] | None = None if user is None else []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, user=user, group=user, extra_groups=groups
    ) as process:
        try:
            assert process.stdout
            line = process.stdout.readline().decode()
            found = re.fullmatch(rf"{program.name}: listening on 127.0.0.1 port (\d+)\n", line)
            assert found, line
            yield Server(process, int(found[1]))
            assert process.poll() is None, "the server ended by itself"
        finally:
            process.kill()
