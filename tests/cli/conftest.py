# SPDX-License-Identifier: MIT
"""What the tests of the ferry command share: running it, and a program for it."""

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Result = subprocess.CompletedProcess[bytes]
Ferry = Callable[..., Result]

COPY_TO_OUTPUT = """\
string path "{path}"
buffer data 4096
fd:   openat(AT_FDCWD, path, O_RDONLY)  fail -> end
len:  read($fd, data, sizeof(data))     fail -> shut, zero -> shut
      write(1, data, $len)
shut: close($fd)
"""


@pytest.fixture
def ferry(ferry_path: Path) -> Ferry:
    def run(*args: str | Path, **more: object) -> Result:
        environment = {
            k: v
            for k, v in os.environ.items()
            if k not in ("FERRY_ENGINE", "BATCH_EMUL", "COLUMNS")
        }
        extra = more.pop("env", {})
        options: dict[str, object] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "timeout": 20,
            "env": environment | {"LC_ALL": "C"} | extra,  # type: ignore[operator]
        }
        if "input" in more:
            del options["stdin"]
        return subprocess.run([ferry_path, *args], **(options | more))  # type: ignore[call-overload, no-any-return]

    return run


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that writes a file to standard output."""
    (tmp_path / "content").write_bytes(b"forty-two bytes\n")
    path = tmp_path / "copy.ferry"
    path.write_text(COPY_TO_OUTPUT.format(path=tmp_path / "content"))
    return path


def read_terminal(controller: int) -> bytes:
    """All that was written, until nobody has the terminal open any more."""
    shown = b""
    with contextlib.suppress(OSError):
        while part := os.read(controller, 4096):
            shown += part
    os.close(controller)
    return shown
