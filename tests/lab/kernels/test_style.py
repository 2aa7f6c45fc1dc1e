# SPDX-License-Identifier: MIT
"""Style: complaints are excused by kind and file, and excuses have to excuse something."""

import re
from pathlib import Path

import pytest

from lab import LabError
from lab.kernels.style import PATCHES, SPARSE, Judge, added_sources
from lab.targets import find_target

FROM_CHECKPATCH = """\
kernel/toy.c:3: WARNING:ENOSYS: ENOSYS means 'invalid syscall nr' and nothing else
kernel/toy.c:9: ERROR:SPACING: space required after that ','
total: 1 errors, 1 warnings, 0 checks, 59 lines checked
"""
FROM_THE_BUILD = """\
make[1]: Entering directory 'objects'
../kernel/toy.c:60:31: warning: incorrect type in argument 1 (different address spaces)
../kernel/toy.c:60:31:    expected struct spinlock *lock
../include/linux/other.h:1:1: error: cannot size expression
../kernel/toy.c:42:39: warning: initialized field overwritten [-Woverride-init]
"""


def judge(folder: Path, *rows: tuple[str, str]) -> Judge:
    path = folder / "style.toml"
    path.write_text("".join(f'[{kind}]\n"{files}" = "a reason"\n' for kind, files in rows))
    return Judge(path)


def test_an_excuse_covers_its_kind_in_its_files(tmp_path: Path) -> None:
    complaints = list(PATCHES.finditer(FROM_CHECKPATCH))
    assert [c["type"] for c in complaints] == ["ENOSYS", "SPACING"]
    left = judge(tmp_path, ("ENOSYS", "kernel/*")).without_excuse(complaints)
    assert left == [complaints[1][0]]
    assert len(judge(tmp_path, ("ENOSYS", "mm/*")).without_excuse(complaints)) == 2


def test_an_excuse_of_nothing_is_named(tmp_path: Path) -> None:
    strict = judge(tmp_path, ("ENOSYS", "*"), ("LONG_LINE", "*"))
    strict.without_excuse(PATCHES.finditer(FROM_CHECKPATCH))
    assert strict.idle() == ["style.toml: LONG_LINE in * excuses nothing"]


def test_what_sparse_and_the_compiler_say_is_found(tmp_path: Path) -> None:
    found = [(c["file"], c["type"]) for c in SPARSE.finditer(FROM_THE_BUILD)]
    assert found == [
        ("kernel/toy.c", "incorrect type in argument 1 (different address spaces)"),
        ("include/linux/other.h", "cannot size expression"),
        ("kernel/toy.c", "initialized field overwritten [-Woverride-init]"),
    ]


def test_an_excuse_needs_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "style.toml"
    path.write_text('[ENOSYS]\n"*" =\n')
    with pytest.raises(LabError, match=re.escape(str(path))):
        Judge(path)
    path.write_text('[ENOSYS]\n"*" = ""\n')
    assert not Judge(path).excuses


def test_sparse_sees_what_the_series_adds() -> None:
    added = added_sources(find_target("x86-6.12"))
    assert "kernel/subcall/batch.c" in added
    assert not [name for name in added if name.startswith("tools/")]
