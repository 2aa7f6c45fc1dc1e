# SPDX-License-Identifier: MIT
"""Write the table of the system headers' integer constants, asked of the C compiler."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Those that are missing are left out.
HEADERS = """
fcntl.h unistd.h sys/stat.h sys/mman.h sys/socket.h sys/un.h netinet/in.h netinet/tcp.h
netinet/udp.h poll.h sys/epoll.h sys/eventfd.h sys/timerfd.h signal.h sys/signalfd.h time.h
sys/resource.h sched.h sys/prctl.h sys/ptrace.h sys/inotify.h sys/fanotify.h dirent.h sys/uio.h
limits.h sys/wait.h sys/mount.h sys/random.h sys/ioctl.h sys/file.h sys/xattr.h sys/statfs.h
sys/statvfs.h sys/reboot.h sys/klog.h sys/personality.h sys/quota.h sys/swap.h sys/time.h
sys/timex.h sys/times.h sys/utsname.h sys/ipc.h sys/msg.h sys/sem.h sys/shm.h sys/sendfile.h
mqueue.h utime.h errno.h linux/stat.h linux/mman.h linux/memfd.h linux/mount.h linux/fs.h
linux/seccomp.h linux/futex.h linux/io_uring.h linux/close_range.h linux/openat2.h
linux/membarrier.h linux/landlock.h linux/pidfd.h linux/rseq.h linux/falloc.h linux/fadvise.h
linux/kcmp.h linux/userfaultfd.h linux/capability.h linux/reboot.h linux/keyctl.h linux/bpf.h
linux/perf_event.h linux/sched.h linux/fcntl.h linux/magic.h linux/errno.h
"""

# Upper case, so not a function or a type; no parameters; not reserved for the implementation.
MACRO = re.compile(r"^#define ([A-Z][A-Z0-9_]*) (.+)$", re.MULTILINE)

# What a function's assembly says about one constant.
VALUE = re.compile(r'"->([A-Z0-9_]+) (-?\d+) (-?\d+)"')

# An errno that is defined as another one is its alias.
ERRNO = re.compile(r"^#define (E[A-Z0-9]+) \d+$", re.MULTILINE)


class Compiler:
    """The C compiler, on sources of our own."""

    def __init__(self, command: list[str], directory: Path) -> None:
        """Take the compiler's COMMAND and a DIRECTORY for its sources."""
        self.command = [*command, "-std=gnu11", "-D_GNU_SOURCE", "-w", "-O0"]
        self.source = directory / "constants.c"
        if "clang" in self.run("", "--version").stdout:
            self.command.append("-ferror-limit=0")
        else:
            self.command.append("-ftrack-macro-expansion=0")

    def run(self, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Compile TEXT, with the messages in English."""
        self.source.write_text(text)
        command = [*self.command, *options, "-o", "-", "-x", "c", str(self.source)]
        environment = {**os.environ, "LC_ALL": "C"}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def preprocess(self, text: str) -> str | None:
        """Return every macro that TEXT defines, or None when a header is missing."""
        done = self.run(text, "-dM", "-E")
        return done.stdout if done.returncode == 0 else None

    def accepts(self, text: str) -> bool:
        """Tell whether TEXT compiles."""
        return self.run(text, "-fsyntax-only").returncode == 0

    def assemble(self, text: str) -> tuple[str, set[int]]:
        """Return the assembly of TEXT, or the lines that are wrong in it."""
        done = self.run(text, "-S")
        if done.returncode == 0:
            return done.stdout, set()
        wrong = re.findall(rf"{re.escape(str(self.source))}:(\d+)", done.stderr)
        if not wrong:
            sys.exit(f"constants.py: the compiler failed:\n{done.stderr}")
        return "", {int(line) for line in wrong}


def includes(headers: list[str]) -> str:
    """Return the lines that include HEADERS."""
    return "".join(f"#include <{header}>\n" for header in headers)


def compatible_groups(compiler: Compiler) -> list[list[str]]:
    """Divide the headers that are there into lists that can be included together."""
    groups: list[list[str]] = []
    for header in HEADERS.split():
        for group in groups:
            if compiler.accepts(includes([*group, header])):
                group.append(header)
                break
        else:
            if compiler.accepts(includes([header])):
                groups.append([header])
    return groups


def may_be_integer(body: str) -> bool:
    """Tell whether a macro's body could be an integer: no text, statement or half of a pair."""
    return not set('"{};') & set(body) and body.count("(") == body.count(")")


def question(name: str) -> str:
    """Return a line of C that makes the assembler text state both halves of NAME's value.

    Halves, because an immediate operand has 32 bits on some machines.  The variable is wrong for
    what is not constant, addresses included, and the selection for floating point, which would
    convert to an integer without complaint; all such lines are reported at once.
    """
    integer = f"_Generic(({name}), float: 0, double: 0, long double: 0, default: 1)"
    high, low = f"((long)({name}) >> 32)", f"(int)(long)({name})"
    return (
        f'_Static_assert({integer}, ""); const long v_{name} = {high}; '
        f"void f_{name}(void) {{ "
        f'__asm__ volatile(".ascii \\"->{name} %c0 %c1\\"" :: "i"({high}), "i"({low})); }}\n'
    )


def values_of(compiler: Compiler, headers: list[str]) -> dict[str, int]:
    """Return the integer constants among the macros of HEADERS."""
    macros = compiler.preprocess(includes(headers)) or ""
    names = sorted(name for name, body in MACRO.findall(macros) if may_be_integer(body))
    first = len(headers) + 1
    while True:
        text = includes(headers) + "".join(map(question, names))
        assembly, wrong = compiler.assemble(text)
        kept = [name for line, name in enumerate(names, first) if line not in wrong]
        if not wrong:
            return {
                name: int(high) << 32 | int(low) & 0xFFFFFFFF
                for name, high, low in VALUE.findall(assembly)
            }
        if len(kept) == len(names):
            sys.exit(f"constants.py: cannot include {', '.join(headers)} together")
        names = kept


def errno_names(compiler: Compiler) -> list[str]:
    """Return the names of errors, without aliases."""
    return ERRNO.findall(compiler.preprocess("#include <errno.h>\n") or "")


def literal(value: int) -> str:
    """Return VALUE as C; the lowest long has no literal of its own."""
    return "-0x7fffffffffffffffL - 1" if value == -(1 << 63) else f"{value}L"


def table(values: dict[str, int], errors: list[str]) -> str:
    """Return the C file."""
    lines = [
        "// SPDX-License-Identifier: MIT",
        "/* Made by constants.py from the system headers. */",
        '#include "lib/text/names.h"',
        "",
        "const struct constant constants[] = {",
        *(f'\t{{ "{name}", {literal(values[name])} }},' for name in sorted(values)),
        "};",
        f"const size_t constant_count = {len(values)};",
        "",
        "const struct constant errors[] = {",
        *(f'\t{{ "{name}", {literal(values[name])} }},' for name in errors),
        "};",
        f"const size_t error_count = {len(errors)};",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the table to the file named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="the C file to write")
    parser.add_argument("compiler", nargs="+", help="the C compiler's command")
    arguments = parser.parse_args()

    values: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as directory:
        compiler = Compiler(arguments.compiler, Path(directory))
        for group in compatible_groups(compiler):
            values = values_of(compiler, group) | values
        errors = sorted(errno_names(compiler), key=values.__getitem__)
    if not values or not errors:
        sys.exit("constants.py: the system headers define no constants")
    temporary = arguments.output.with_suffix(".tmp")
    temporary.write_text(table(values, errors))
    temporary.replace(arguments.output)


if __name__ == "__main__":
    main()
