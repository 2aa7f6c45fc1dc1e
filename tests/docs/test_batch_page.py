# SPDX-License-Identifier: MIT
"""batch(2) says what the headers say: the slot, the blocked calls, the constants."""

import platform
import re
import subprocess
from pathlib import Path

import pytest
from conftest import INCLUDE, UAPI, Compile
from manual_page import plain, tables, without_comments

PRINT_SLOT = """
#include <stddef.h>
#include <stdio.h>
#include <linux/batch.h>
#define ROW(f, g) printf("%zu\\t%zu\\t%s\\t%s\\n", offsetof(struct batch_slot, f), \\
	sizeof(((struct batch_slot *)0)->f), #f, #g)
#define SAME(f, g) _Static_assert(offsetof(struct batch_slot, f) == offsetof(syscall_t, g), #f)
SAME(nr, nr); SAME(jump_fail, jumpFail); SAME(jump_zero, jump0);
SAME(jump_pos, jumpPos); SAME(argc, argc); SAME(arg, arg);
int main(void)
{
	ROW(nr, nr); ROW(jump_fail, jumpFail); ROW(jump_zero, jump0); ROW(jump_pos, jumpPos);
	ROW(argc, argc); ROW(from,); ROW(reserved,); ROW(arg, arg);
}
"""

PRINT_BLOCKED = """
#include <stdio.h>
#include <ferry/blocked.h>
#define ROW(ctx, nr, name, reason) printf("%s\\t%ld\\t%s\\n", name, (long)(nr), reason);
int main(void) { SUBCALL_BLOCKED_TABLE(ROW,) }
"""


def printed_rows(program: Path) -> list[list[str]]:
    done = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_the_slot_is_laid_out_as_the_page_says(compile_c: Compile) -> None:
    slot = tables("batch.2")[0]
    assert [row[:4] for row in slot[1:]] == printed_rows(compile_c(PRINT_SLOT))


def test_the_page_lists_the_blocked_calls_with_their_reasons(compile_c: Compile) -> None:
    page = tables("batch.2")[1][1:]
    table = printed_rows(compile_c(PRINT_BLOCKED))
    assert [(name, reason) for name, _, reason in page] == [
        (name, reason) for name, _, reason in table
    ]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the page gives x86-64's numbers")
def test_the_page_gives_the_numbers_of_the_blocked_calls(compile_c: Compile) -> None:
    page = tables("batch.2")[1][1:]
    table = printed_rows(compile_c(PRINT_BLOCKED))
    assert [(name, nr) for name, nr, _ in page] == [(name, nr) for name, nr, _ in table]


def test_the_constants_that_the_page_names_exist() -> None:
    folders = {"batch.h": INCLUDE, "ferry.h": UAPI, "subcall.h": UAPI}
    headers = "".join((folder / "linux" / name).read_text() for name, folder in folders.items())
    named = set(re.findall(r"\b(?:FERRY|BATCH)_[A-Z_]+\b", plain(without_comments("batch.2"))))
    assert named
    assert named <= set(re.findall(r"\w+", headers)) | {"FERRY_ENGINE"}
