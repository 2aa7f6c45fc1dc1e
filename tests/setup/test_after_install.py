# SPDX-License-Identifier: MIT
"""lib/after-install, with an ldconfig that is made up."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "lib" / "after-install"
LDCONFIG = """#!/bin/sh
echo "ldconfig $*" >> "$LOG"
[ "$1" != -p ] || echo "	libferry.so.0 (libc6,x86-64) => /known/lib/libferry.so.0"
"""


@pytest.mark.parametrize(
    ("directory", "destination", "says"),
    [("/known/lib", "", False), ("/other/lib", "", True), ("/other/lib", "/stage", False)],
)
def test_it_says_what_programs_will_not_find(
    tmp_path: Path, directory: str, destination: str, says: bool
) -> None:
    (tmp_path / "ldconfig").write_text(LDCONFIG)
    (tmp_path / "ldconfig").chmod(0o755)
    log = tmp_path / "log"
    own = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "DESTDIR": destination, "LOG": str(log)}
    done = subprocess.run(
        [SCRIPT, directory], env=os.environ | own, stdout=subprocess.PIPE, text=True, check=True
    )
    assert (f"{directory}/libferry.so.0: run ldconfig as root" in done.stdout) == says
    assert (done.stdout != "") == says
    called = log.read_text().splitlines() if log.exists() else []
    refresh = ["ldconfig "] if os.geteuid() == 0 else []
    assert called == ([] if destination else [*refresh, "ldconfig -p"])
