# SPDX-License-Identifier: MIT
"""/proc/PID/syscall shows the call of a batch, or of a runner, that waits."""

import subprocess
import time
from pathlib import Path

import pytest

from calls import Maker

READ = "0"
WAITING = {"batch": "wait", "flexsc": "flexsc-wait"}


def words_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/syscall").read_text().split()


def test_the_call_that_waits_is_shown(watched: Path, maker: Maker) -> None:
    if not Path("/proc/self/syscall").exists():
        pytest.skip("this kernel has no /proc/PID/syscall")
    with subprocess.Popen(
        [watched, WAITING[maker.word]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        end = time.monotonic() + 30
        while (words := words_of(process.pid))[0] != READ or words[3:4] != ["0x1"]:
            assert time.monotonic() < end, f"the last was {words}"
            time.sleep(0.01)
        assert words[1] == "0x0"
        assert [int(word, 16) for word in words[4:7]] == [44, 55, 66]
        output, _ = process.communicate("x")
    assert output.split() == ["-9", "1"]
