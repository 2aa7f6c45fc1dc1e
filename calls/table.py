#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the tables of calls and wrappers, and writes what C and C++ have of them.

calls.c, wrappers.h, or <ferry/blocked.h>.
"""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

TABLE = Path(__file__).with_name("calls.txt")
WRAPPERS = Path(__file__).with_name("wrappers.txt")
HEADER = Path(__file__).parents[1] / "include/ferry/blocked.h"
LIMIT = 512  # SUBCALL_NR_LIMIT
FIRST_COMMON = 424  # from here on, all architectures have the same numbers
X86, GENERIC = 0, 1

LETTERS: dict[str | None, str] = {
    None: "n",
    **{"fd": "d", "path": "p", "address": "a", "fills": "r", "reads": "w", "pointer": "?"},
    **{"in": "t", "out": "s", "inout": "x", "iov-fills": "t", "iov-reads": "t"},
}
RESULTS = {"fd": "'d'", "length": "'l'", "address": "'a'", "other": "0"}
WAITS = {
    "never": "NEVER_WAITS",
    "disk": "WAITS_FOR_DISK",
    "fifo": "WAITS_FOR_FIFO",
    "file": "WAITS_FOR_FILE",
    "event": "WAITS_FOR_EVENT",
}
CLASSES = {
    "any": "ANY_RUNNER",
    "equal": "ALIKE_RUNNER",
    "caller": "CALLER_ONLY",
    "changes": "CHANGES_RIGHTS",
    "blocked": "IN_NO_BATCH",
}
ARGUMENT = re.compile(r"(\w+)(\?)?(?::([a-z-]+)(?:\[(\*?)(?:([a-z]\w*)\*?)?([\d/]*)\])?)?")


@dataclass(frozen=True)
class Who:
    """Who may make some calls."""

    name: str
    reason: str | None
    acts_on_others: bool
    order: int  # of its line


@dataclass(frozen=True)
class Argument:
    """An argument: SIZES of the structure or element, times what the argument LENGTH holds."""

    name: str
    letter: str
    is_optional: bool
    length: int | None
    sizes: tuple[int, int]


@dataclass(frozen=True)
class Call:
    """A row of the table."""

    numbers: tuple[int | None, int | None]  # on X86 and GENERIC
    name: str
    who: Who
    waits: str
    result: str
    arguments: tuple[Argument, ...]

    @property
    def least(self) -> int:
        """How many arguments have to be given."""
        return sum(not argument.is_optional for argument in self.arguments)


def read_arguments(words: list[str]) -> tuple[Argument, ...]:
    if words == ["..."]:
        return (Argument("unknown", "?", is_optional=True, length=None, sizes=(0, 0)),) * 6
    matches = [ARGUMENT.fullmatch(word) for word in words]
    names = [match[1] if match else None for match in matches]
    arguments = []
    for word, match in zip(words, matches, strict=True):
        if not match or match[3] not in LETTERS:
            raise ValueError(f"'{word}' is not an argument")
        name, optional, kind, at_address, length, size = match.groups()
        iovec = kind is not None and kind.startswith("iov-")
        sizes = (size or ("16" if iovec else "1" if length and not at_address else "0")).split("/")
        arguments.append(
            Argument(
                name,
                LETTERS[kind],
                bool(optional),
                names.index(length) if length and not at_address else None,
                (int(sizes[0]), int(sizes[-1])),
            )
        )
    byte_lengths = {a.length for a in arguments if a.letter in "rw" and a.sizes[0] == 1}
    return tuple(
        replace(argument, letter="l") if at in byte_lengths and argument.letter == "n" else argument
        for at, argument in enumerate(arguments)
    )


def read_who(order: int, line: str) -> tuple[str, Who]:
    _, word, kind, *reason = line.split(maxsplit=3)
    name = CLASSES[kind.rstrip("!")]
    return word, Who(name, reason[0] if reason else None, kind.endswith("!"), order)


def read_number(word: str) -> int | None:
    return None if word == "-" else int(word)


def read_table(text: str | None = None) -> list[Call]:
    lines = [line for line in (text or TABLE.read_text()).splitlines() if line and line[0] != "#"]
    who = dict(read_who(at, line) for at, line in enumerate(lines) if line.startswith("who "))
    calls = []
    for line in lines:
        if line.startswith("who "):
            continue
        x86, generic, name, word, waits, result, *arguments = line.split()
        numbers = (read_number(x86), read_number(generic))
        calls.append(Call(numbers, name, who[word], waits, result, read_arguments(arguments)))
    return calls


# ---- calls.c ----


def c_text(text: str | None) -> str:
    return f'"{text}"' if text else "NULL"


def row(call: Call, architecture: int) -> str:
    arguments = ", ".join(
        f"{{ '{argument.letter}', {-1 if argument.length is None else argument.length}, "
        f"{argument.sizes[architecture]} }}"
        for argument in call.arguments
    )
    who = call.who
    return (
        f"\t[{call.numbers[architecture]}] = {{ {c_text(call.name)}, {c_text(who.reason)}, "
        f"{{ {arguments or '{ 0 }'} }}, {len(call.arguments)}, {call.least}, "
        f"{RESULTS[call.result]}, {who.name}, {WAITS[call.waits]}, {int(who.acts_on_others)} }},\n"
    )


def rows(calls: list[Call], architecture: int) -> str:
    known = {call.numbers[architecture]: row(call, architecture) for call in calls}
    return "".join(known.get(nr, f"\t[{nr}] = {{ .who = CALLER_ONLY }},\n") for nr in range(LIMIT))


def c_table(calls: list[Call]) -> str:
    return (
        "/* SPDX-License-Identifier: MIT */\n"
        "/* Made by calls/table.py of calls/calls.txt. */\n"
        '#include "calls/calls.h"\n\n'
        "/* clang-format off */\n"
        "const struct call ferry__calls[SUBCALL_NR_LIMIT] = {\n"
        f"#if defined(__x86_64__)\n{rows(calls, X86)}"
        f"#elif defined(__aarch64__) || defined(__riscv)\n{rows(calls, GENERIC)}"
        '#else\n#error "calls/calls.txt has no numbers for this architecture"\n#endif\n'
        "};\n"
    )


# ---- <ferry/blocked.h> ----


def constant(call: Call) -> str:
    """The name of a blocked call's number."""
    x86, generic = call.numbers
    if x86 is not None and generic is not None and x86 < FIRST_COMMON:
        return f"__NR_{call.name}"
    return f"SUBCALL_NR_{call.name.upper()}"


def definition(call: Call) -> str:
    """What defines that name: headers may be older than the call, and numbers differ."""
    x86, generic = call.numbers
    name = constant(call)
    if name.startswith("__NR_"):
        return ""
    if x86 == generic:
        return f"#define {name} {x86}\n\n"
    return (
        f"#if defined(__x86_64__)\n#define {name} {x86}\n"
        f"#elif defined(__NR_{call.name})\n#define {name} __NR_{call.name}\n"
        f"#else\n#define {name} SUBCALL_NR_ABSENT\n#endif\n\n"
    )


def header(calls: list[Call], old: str) -> str:
    """The header OLD with the definitions and the rows of the table."""
    blocked = [call for call in calls if call.who.name == "IN_NO_BATCH"]
    blocked.sort(key=lambda call: call.who.order)
    lines = [
        f'\tX(ctx, {constant(call)}, "{call.name}", \\\n\t  "{call.who.reason}")'
        for call in blocked
    ]
    between = re.compile(r"(#define SUBCALL_NR_ABSENT .*?\n\n).*(/\* X\(context)", re.S)
    text = between.sub(lambda at: at[1] + "".join(map(definition, blocked)) + at[2], old)
    between = re.compile(r"(#define SUBCALL_BLOCKED_TABLE.*? \\\n).*?(\n/\* clang-format on)", re.S)
    return between.sub(lambda at: at[1] + " \\\n".join(lines) + at[2], text)


# ---- wrappers.h ----

PARAMETER = re.compile(r"(\d)(\?)?(u)?")


@dataclass(frozen=True)
class Operand:
    """An argument of the call that a wrapper makes."""

    parameter: int | None  # of the wrapper, from 0
    is_optional: bool
    is_unsigned: bool
    constant: str  # where there is no parameter
    of: Argument


@dataclass(frozen=True)
class Wrapper:
    """A row of the table of wrappers."""

    name: str
    call: Call
    is_quiet: bool
    is_cancellable: bool
    result: str
    needs: str
    operands: tuple[Operand, ...]

    def operand_text(self, operand: Operand) -> str:
        length = None if operand.of.length is None else self.operands[operand.of.length].parameter
        return (
            f"{{ '{operand.of.letter}', {or_none(operand.parameter)}, {int(operand.is_optional)}, "
            f"{int(operand.is_unsigned)}, {operand.constant}, "
            f"{operand.of.sizes[X86]}, {or_none(length)} }}"
        )

    @property
    def result_kind(self) -> str:
        return "descriptor" if self.result == "number" and self.call.result == "fd" else self.result

    @property
    def row(self) -> str:
        """WRAPPER(function, call, number, quiet, cancellable, result, needs, count, operand...)."""
        operands = "".join(f", {self.operand_text(operand)}" for operand in self.operands)
        return (
            f'WRAPPER("{self.name}", "{self.call.name}", {self.call.numbers[X86]}, '
            f"{int(self.is_quiet)}, {int(self.is_cancellable)}, {self.result_kind}, "
            f"{self.needs.replace('-', 'nothing')}, {len(self.operands)}{operands})\n"
        )


def or_none(parameter: int | None) -> int:
    return -1 if parameter is None else parameter


def read_operand(word: str, of: Argument) -> Operand:
    if word.startswith("="):
        return Operand(None, is_optional=False, is_unsigned=False, constant=word[1:], of=of)
    match = PARAMETER.fullmatch(word)
    if not match:
        raise ValueError(f"'{word}' is not an argument of a wrapper")
    return Operand(int(match[1]) - 1, bool(match[2]), bool(match[3]), constant="0", of=of)


def read_wrappers(calls: list[Call], text: str | None = None) -> list[Wrapper]:
    by_name = {call.name: call for call in calls}
    wrappers = []
    for line in (text or WRAPPERS.read_text()).splitlines():
        if not line or line[0] == "#":
            continue
        name, call_name, order, result, needs, *words = line.split()
        call = by_name[call_name]
        words = words or [str(at + 1) for at in range(len(call.arguments))]
        if order not in ("quiet", "orders", "cancel") or len(words) > len(call.arguments):
            raise ValueError(f"{name}: '{order}' is no order, or there are too many arguments")
        operands = tuple(map(read_operand, words, call.arguments))
        wrappers.append(
            Wrapper(name, call, order == "quiet", order == "cancel", result, needs, operands)
        )
    return wrappers


def wrappers_header(wrappers: list[Wrapper]) -> str:
    return (
        "/* SPDX-License-Identifier: MIT */\n"
        "/* Made by calls/table.py of calls/wrappers.txt and calls/calls.txt. */\n"
        + "".join(wrapper.row for wrapper in sorted(wrappers, key=lambda wrapper: wrapper.name))
    )


def main() -> None:
    calls = read_table()
    if sys.argv[1:] == ["--blocked"]:
        HEADER.write_text(header(calls, HEADER.read_text()))
    elif sys.argv[1:2] == ["--wrappers"] and len(sys.argv) == 3:
        Path(sys.argv[2]).write_text(wrappers_header(read_wrappers(calls)))
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        Path(sys.argv[1]).write_text(c_table(calls))
    else:
        sys.exit(
            "usage: table.py FILE.c | table.py --wrappers FILE.h | "
            "table.py --blocked, which rewrites blocked.h"
        )


if __name__ == "__main__":
    main()
