# SPDX-License-Identifier: MIT
"""The fuzzer refuses what it cannot read, and its report counts places."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent / "fuzz"
FUZZ = Path(os.environ.get("FERRY_BUILD", "build")) / "tests" / "kernel" / "fuzz"

PLACES = """\
10 kernel/subcall/batch.c jump kernel/subcall/batch.c:1 step
20 kernel/subcall/batch.c forward kernel/subcall/batch.c:9
30 mm/memory.c wp_page_copy mm/memory.c:5 do_wp_page
40 mm/memory.c do_swap_page mm/memory.c:7
"""


def run(*command: str) -> tuple[int, str, str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("pages", "a seed is wanted"),
        ("pagesx 1", "none of the subjects"),
        ("pages 1;", "a comma"),
        ("pages 1,2", "POSITION:SEED or POSITION=WORD"),
        ("pages 1,5:", "POSITION:SEED or POSITION=WORD"),
        ("pages 1,2:3,2:4", "have to grow"),
        ("pages 99999999999999999999", "a seed is wanted"),
        ("pages 1" + "".join(f",{n}=1" for n in range(9)), "more than 8 changes"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, says: str) -> None:
    corpus = tmp_path / "corpus"
    corpus.write_text(f"# a comment\n\n{line}\n")
    status, _, errors = run(str(FUZZ), "--corpus", str(corpus))
    assert status == 2
    assert f"{corpus}:3: '{line}': " in errors
    assert says in errors


def test_the_corpus_of_this_repository_can_be_read() -> None:
    lines = (HERE / "corpus").read_text().splitlines()
    # Which ends the command after it has read all others.
    status, _, errors = run(str(FUZZ), "--corpus", str(HERE / "corpus"), "--run", "none")
    assert status == 2
    assert errors.startswith("fuzz: --run:1:")
    assert len(lines) == len(set(lines))


def report(tmp_path: Path, places: str, reached: str) -> tuple[int, str, str]:
    (tmp_path / "places").write_text(places)
    (tmp_path / "reached").write_text(reached)
    files = (str(tmp_path / "places"), str(tmp_path / "reached"))
    return run(sys.executable, str(HERE / "report.py"), "--missing", *files)


def test_places_of_the_series_are_counted(tmp_path: Path) -> None:
    status, output, errors = report(tmp_path, PLACES, "10\n40\nffffffff\n")
    assert (status, errors) == (0, "")
    table, _, never = output.partition("functions never entered:")
    rows = {row[0]: row[1:3] for row in map(str.split, table.splitlines())}
    assert rows["kernel/subcall/batch.c"] == ["1", "2"]
    assert rows["mm/memory.c"] == ["0", "1"]
    assert rows["all"] == ["1", "3"]
    assert "forward" in never
    assert "jump" not in never
    assert "do_swap_page" not in output


@pytest.mark.parametrize(
    ("places", "reached", "says"),
    [("", "10\n", "has no places"), ("10 a\n", "10\n", "places:1"), (PLACES, "x\n", "reached:1")],
)
def test_a_bad_file_is_named(tmp_path: Path, places: str, reached: str, says: str) -> None:
    status, _, errors = report(tmp_path, places, reached)
    assert status == 1
    assert says in errors
