# SPDX-License-Identifier: MIT
"""sigset: the dispositions that the kernel reports in /proc/self/status."""

import os
import re
import signal
import subprocess
from pathlib import Path

from conftest import Run

# Loaded into sigset: handles two signals, ignores one, and shows what the kernel thinks of it.
PRELOAD = """
#include <signal.h>
#include <stdio.h>

static void handle(int number) { (void)number; }

__attribute__((constructor)) static void prepare(void)
{
	char line[256];
	FILE *status;

	signal(SIGUSR1, handle);
	signal(SIGRTMAX, handle);
	signal(SIGALRM, SIG_IGN);
	status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		fputs(line, stderr);
	if (status)
		fclose(status);
}
"""


def signals_of(status: bytes, field: bytes) -> set[int]:
    match = re.search(rb"^%s:\t([0-9a-f]+)$" % field, status, re.MULTILINE)
    assert match
    mask = int(match[1], 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


def listed(table: bytes, disposition: bytes) -> set[int]:
    rows = [line.split(b"\t") for line in table.splitlines()]
    assert [int(row[0]) for row in rows] == list(range(1, 65))
    return {int(row[0]) for row in rows if row[2] == disposition}


def test_dispositions_are_those_in_proc(run: Run, tmp_path: Path) -> None:
    source, library = tmp_path / "preload.c", tmp_path / "preload.so"
    source.write_text(PRELOAD)
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    done = run(
        "sigset",
        shell='trap "" HUP QUIT; exec env LD_PRELOAD="$PRELOAD" "$@"',
        env_more={"PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"},
    )
    assert done.returncode == 0
    status = done.stderr[done.stderr.rindex(b"Name:\tsigset") :]
    ignored, handled = signals_of(status, b"SigIgn"), signals_of(status, b"SigCgt")
    assert {signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM} <= ignored
    assert {signal.SIGUSR1, 64} <= handled
    assert listed(done.stdout, b"ignored") == ignored
    assert listed(done.stdout, b"handled") == handled
    assert listed(done.stdout, b"default") == set(range(1, 65)) - ignored - handled


def test_names_are_the_usual(run: Run) -> None:
    names = {int(line.split()[0]): line.split()[1] for line in run("sigset").stdout.splitlines()}
    assert names[signal.SIGHUP] == b"HUP"
    assert names[signal.SIGCHLD] == b"CHLD"
    assert names[64] == b"RT32"
