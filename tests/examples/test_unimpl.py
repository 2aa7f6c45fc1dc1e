# SPDX-License-Identifier: MIT
"""unimpl: the table that it prints."""

import os
import subprocess
from pathlib import Path

import pytest


def test_table_has_every_batch_size_and_adds_up(examples: Path) -> None:
    env = dict(os.environ, BATCH_VERBOSE="1", BATCH_EMUL="1")
    done = subprocess.run([examples / "unimpl"], env=env, capture_output=True, check=True)
    assert done.stderr == b"sys_batch Emul\n"
    head, *rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert head == ["N", "batches", "ns", "ns/slot"]
    assert [int(row[0]) for row in rows] == [1 << i for i in range(11)]
    for slots, batches, ns, ns_per_slot in rows:
        assert int(ns) > 0
        assert abs(int(ns) / (int(slots) * int(batches)) - float(ns_per_slot)) < 0.01


def test_compiles_with_nothing_but_the_header(tmp_path: Path) -> None:
    top = Path(__file__).parents[2]
    includes = [f"-I{top}/include", f"-I{top}/uapi"]
    source, program = top / "examples/unimpl.c", tmp_path / "unimpl"
    subprocess.run(["cc", *includes, source, "-o", program], check=True)


@pytest.mark.parametrize("args", [(), ("--help",)])
def test_full_disk_is_an_error(examples: Path, args: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([examples / "unimpl", *args], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"unimpl: cannot write to standard output: No space left on device\n"
