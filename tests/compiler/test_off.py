# SPDX-License-Identifier: MIT
"""What the code for batches costs where none are made, in instructions: valgrind counts them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, FerryCc

RUNS = Path(__file__).with_name("runs.h")
TURNS = 100
A_REGION, A_CALL = 10, 4  # instructions at most
CALLS = {  # of the region of each function
    "map_file": 4,
    "read_file": 3,
    "listen_somewhere": 6,
    "reset_signals": 16,
    "search": 5,
}

PROGRAM = f"""\
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ferry/auto.h>
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FILE_NAME "program.c"
static const int signals[] = {{ 1, 2, 3, 14, 15, 10, 12, 17, 13, 28, 18, 20, 21, 22, 23, 29 }};
static struct entry {{ const char *name; long mtime, size; mode_t mode; }} entries[1];
static char text[4096];
static long sum, changed;
#define RUN(name) name##_plain
#define MARK __attribute__((noinline)) FERRY_NEVER
#include "{RUNS}"
#undef RUN
#undef MARK
#define RUN(name) name##_auto
#define MARK __attribute__((noinline))
#include "{RUNS}"
int main(void)
{{
    for (int turn = 0; turn < {TURNS}; turn++) {{
        {" ".join(f"{name}_plain(); {name}_auto();" for name in CALLS)}
    }}
    return 0;
}}
"""


def instructions(program: Path) -> dict[str, float]:
    """Of a turn, by function, without the functions that it calls."""
    out = program.with_name("callgrind.out")
    environment = os.environ | {"FERRY_AUTO": "off"}
    subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(program)],
        env=environment,
        cwd=program.parent,
        capture_output=True,
        timeout=120,
        check=True,
    )
    listed = subprocess.run(
        ["callgrind_annotate", "--threshold=100", out], capture_output=True, text=True, check=True
    ).stdout
    rows = re.findall(r"^ *([\d,]+) .*:(\w+_(?:plain|auto))\b", listed, re.MULTILINE)
    return {name: int(count.replace(",", "")) / TURNS for count, name in rows}


def test_code_without_batches_costs_little(ferry_cc: FerryCc, tmp_path: Path) -> None:
    if not shutil.which("callgrind_annotate"):
        pytest.skip("valgrind is not installed")
    (tmp_path / "program.c").write_text(PROGRAM)
    words = ["-O2", "-w", "-D_GNU_SOURCE", f"-I{ROOT / 'uapi'}", "program.c", "-o", "program"]
    built = ferry_cc([], *words)
    assert built.returncode == 0, built.stderr
    counted = instructions(tmp_path / "program")
    for name, calls in CALLS.items():
        more = counted[f"{name}_auto"] - counted[f"{name}_plain"]
        print(f"{name}: {more:.0f} more")
        assert 0 < more <= A_REGION + A_CALL * calls, name
