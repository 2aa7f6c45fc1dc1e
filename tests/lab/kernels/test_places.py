# SPDX-License-Identifier: MIT
"""The places of a kernel with KCOV are read from its disassembly and debug information."""

import subprocess
from pathlib import Path

import pytest

from lab.kernels.places import addresses, describe, frames, variables
from lab.targets import COVERED, TARGETS

DISASSEMBLY = """\
ffffffff81000010:\te8 0b 00 00 00       \tcall   ffffffff81000020 <__sanitizer_cov_trace_pc>
ffffffff81000015:\te8 06 00 00 00       \tcall   ffffffff81000030 <other>
    6000001a:\te9 01 00 00 00       \tjmp    60000020 <__sanitizer_cov_trace_pc>
"""
SYMBOLS = """\
0xffffffff81000014
jump
/tree/kernel/subcall/batch.c:190
step
/tree/objects/../kernel/subcall/batch.c:300 (discriminator 2)
0x000000006000001e
run
/tree/kernel/other.c:5
"""


def test_a_place_is_named_by_the_return_address() -> None:
    assert addresses(DISASSEMBLY) == [0xFFFFFFFF81000015, 0x6000001F]


def test_a_place_has_its_line_and_the_functions_around_it() -> None:
    first, second = frames(SYMBOLS)
    line = describe(0x15, first, Path("/tree"), ["kernel/subcall/batch.c"])
    assert line == "15 kernel/subcall/batch.c jump kernel/subcall/batch.c:190 step\n"
    assert not describe(0x1F, second, Path("/tree"), ["kernel/subcall/batch.c"])


# Like a kernel's, it runs itself for each directory.
MAKEFILE = """\
ifndef obj
all: ; @for obj in $(DIRECTORIES); do $(MAKE) -s --no-print-directory obj=$$obj; done
else
all: ; @echo $(obj)/$(FILE).o=$(KCOV_INSTRUMENT_$(FILE).o)
endif
"""


def test_only_the_files_of_the_fuzzer_are_instrumented(tmp_path: Path) -> None:
    given = variables(TARGETS["x86-7.3-kcov"])
    assert len(given) == len(COVERED) + 1
    assert not variables(TARGETS["x86-7.3"])
    (tmp_path / "Makefile").write_text(MAKEFILE)
    own = ["FILE=memory", "DIRECTORIES=mm arch/x86/boot mm/kasan"]
    said = subprocess.check_output(["make", "-s", *given, *own], cwd=tmp_path, text=True)
    assert said.split() == ["mm/memory.o=y", "arch/x86/boot/memory.o=", "mm/kasan/memory.o="]


@pytest.mark.parametrize("name", ["uml-7.3", "x86-7.3"])
def test_nothing_else_differs(name: str) -> None:
    plain, covered = TARGETS[name], TARGETS[f"{name}-kcov"]
    assert covered.fragments == (*plain.fragments, "kcov.config")
    assert covered.series and not covered.checked
