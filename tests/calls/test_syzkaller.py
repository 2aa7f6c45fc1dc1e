# SPDX-License-Identifier: MIT
"""The constants of the description for syzkaller are those of the headers."""

import platform
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTION = ROOT / "tests" / "kernel" / "syzkaller" / "sys" / "linux" / "batch.txt"
CONSTANT = re.compile(r"^(\w+) = (\d+)$", re.M)
CALL = re.compile(r"^(\w+)(?:\$\w+)?\(", re.M)
NAME = re.compile(r"\b(?:__NR_|BATCH_|FLEXSC_)\w+")

# What the C library's headers do not have, as the series numbers it.
SERIES = "".join(
    f"#define __NR_{name.lower()} FERRY_NR_{name}\n"
    for name in ("NULL", "BATCH", "MULTI_PAGE_ALLOC", "FLEXSC_REGISTER", "FLEXSC_SERVE")
)


def constants() -> dict[str, int]:
    text = DESCRIPTION.with_suffix(".txt.const").read_text()
    return {name: int(value) for name, value in CONSTANT.findall(text)}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="they are for amd64")
def test_the_constants_are_those_of_the_headers(tmp_path: Path) -> None:
    source = tmp_path / "values.c"
    values = "\n".join(
        f'_Static_assert({name} == {value}ull, "{name}");'
        for name, value in constants().items()
        if name != "BATCH_ABSENT"
    )
    source.write_text(
        "#include <asm/unistd.h>\n#include <linux/ferry.h>\n#include <linux/flexsc.h>\n"
        f"{SERIES}{values}\n"
    )
    command = ["cc", "-fsyntax-only", f"-I{ROOT}/uapi", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_each_constant_and_call_of_the_description_has_a_value() -> None:
    text = DESCRIPTION.read_text()
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    used = set(NAME.findall(body)) | {f"__NR_{name}" for name in CALL.findall(body)}
    assert used == set(constants())
