# SPDX-License-Identifier: MIT
"""Waste in real programs is named first or second: see real.py."""

from pathlib import Path

import pytest
from real import PROGRAMS, Absent, place, report_of


@pytest.mark.usefixtures("bpf")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_waste_of_a_real_program_is_named(ferry_path: Path, name: str, tmp_path: Path) -> None:
    try:
        program = PROGRAMS[name](tmp_path)
    except Absent as why:
        pytest.skip(str(why))
    report = report_of(ferry_path, program)
    assert place(report, program) in (1, 2), report["findings"]
