# SPDX-License-Identifier: MIT
"""calls/wrappers.txt says which calls this machine's C library makes, as strace sees them."""

import platform
import re
import subprocess
from itertools import pairwise

import pytest

from calls.table import Operand, Wrapper, read_table, read_wrappers

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="for x86-64 only")

WRAPPERS = read_wrappers(read_table())
# Where any number would do harm, or have the function do something else.
VALUES = {
    ("fcntl", 1): "1 /* F_GETFD */",
    ("mmap", 0): "0",
    ("mmap", 3): "2 /* MAP_PRIVATE */",
    ("open", 1): "0100 /* O_CREAT */",
    ("openat", 2): "0100 /* O_CREAT */",
    ("mmap", 5): "4096",
    ("kill", 0): "0x7ffffff0",
    ("rt_sigaction", 0): "10",
    ("rt_sigaction", 1): "0",
    ("rt_sigaction", 2): "0",
}


def value(wrapper: Wrapper, operand: Operand) -> str:
    """An argument that no other argument equals: strings by their contents, as strace sees them."""
    at = operand.parameter or 0
    name = wrapper.needs if wrapper.needs in ("open", "openat") else wrapper.call.name
    if (name, at) in VALUES:
        return VALUES[name, at]
    if operand.of.letter == "p":
        return f'"/nonexistent/{at}"'
    if operand.of.letter in "nld":
        return str(1001 + at)
    return f"(void *){17 + at}L"


def c_call(wrapper: Wrapper) -> str:
    used = {o.parameter: value(wrapper, o) for o in wrapper.operands if o.parameter is not None}
    return f"\t{wrapper.name}({', '.join(used[at] for at in sorted(used))});\n"


HEADERS = "#define _GNU_SOURCE\n" + "".join(
    f"#include <{name}.h>\n"
    for name in [
        *("fcntl", "signal", "stdio", "sys/epoll", "sys/eventfd", "sys/file", "sys/inotify"),
        *("sys/mman", "sys/resource", "sys/socket", "sys/stat", "sys/syscall", "sys/timerfd"),
        "unistd",
    ]
)
PROGRAM = (
    HEADERS
    + "int main(void)\n{\n"
    + "".join(
        f'\tsyscall(SYS_write, -1, "{wrapper.name}", {len(wrapper.name)});\n{c_call(wrapper)}'
        for wrapper in WRAPPERS
    )
    + "}\n"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, list[str]]]:
    """For each function, the call that it made and its arguments."""
    folder = tmp_path_factory.mktemp("wrappers")
    (folder / "all.c").write_text(PROGRAM)
    subprocess.run(["cc", "-w", "-o", folder / "all", folder / "all.c"], check=True)
    trace = folder / "trace"
    command = ["strace", "-e", "raw=!write", "-e", "trace=all", "-o", trace, folder / "all"]
    subprocess.run([*map(str, command)], check=False, timeout=60)
    lines = trace.read_text().splitlines()
    calls = {}
    for marker, line in pairwise(lines):
        name = re.match(r'write\(-1, "(\w+)"', marker)
        call = re.match(r"(\w+)\((.*?)\)", line)
        if name and call:
            calls[name[1]] = (call[1], [word for word in call[2].split(", ") if word])
    return calls


def expected(operand: Operand, wrapper: Wrapper) -> int | None:
    """The lowest 32 bits of an argument; None: an address that only the program knows."""
    text = operand.constant if operand.parameter is None else value(wrapper, operand)
    text = text.split(" /*")[0].removeprefix("(void *)").removesuffix("L")
    if text.startswith('"'):
        return None
    number = int(text, 8) if re.fullmatch(r"0[0-7]+", text) else int(text, 0)
    return number & 0xFFFFFFFF


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda wrapper: wrapper.name)
def test_the_function_makes_this_call(
    made: dict[str, tuple[str, list[str]]], wrapper: Wrapper
) -> None:
    call, arguments = made[wrapper.name]
    if wrapper.call.name == "fstat" and call == "newfstatat":
        return  # of glibc 2.33 to 2.38: the run time of batches asks which it is
    assert call == wrapper.call.name
    for operand, argument in zip(wrapper.operands, arguments, strict=False):
        number = expected(operand, wrapper)
        if number is not None and not (operand.is_optional and wrapper.needs == "fcntl"):
            assert int(argument, 0) & 0xFFFFFFFF == number, f"{wrapper.name}: {arguments}"
