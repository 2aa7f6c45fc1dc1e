# SPDX-License-Identifier: MIT
"""What a guest runs for a benchmark."""

import subprocess
from pathlib import Path

from lab.bench.run import script
from lab.kernels.build import Kernel
from lab.tests.manifest import Bench

FERRY = """#!/bin/sh
test -e prepared && echo "$@"
"""


def run(bench: Bench, directory: Path) -> subprocess.CompletedProcess[str]:
    """In place of the guest, with a ferry that prints its arguments."""
    ferry = directory / "cli" / "ferry"
    ferry.parent.mkdir()
    ferry.write_text(FERRY)
    ferry.chmod(0o755)
    kernel = Kernel.__new__(Kernel)  # no module has to be built for it
    return subprocess.run(
        ["sh", "-c", script(bench, kernel, directory / "its result.json")],
        env={"FERRY_BUILD": str(directory), "PATH": "/usr/bin:/bin", "WHAT": "getppid"},
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_is_the_rest_of_the_command_line(tmp_path: Path) -> None:
    bench = Bench(name="own", command="batch \\\n  --call $WHAT", prepare="touch prepared")
    done = run(bench, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"bench batch --call getppid --json {tmp_path}/its result.json\n"


def test_nothing_is_measured_when_preparing_fails(tmp_path: Path) -> None:
    done = run(Bench(name="own", command="crossing", prepare="touch prepared; false"), tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
