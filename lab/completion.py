# SPDX-License-Identifier: MIT
"""What may follow on the command line of ferry-lab: cli/completion asks for it."""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lab.targets import SOURCES, TARGETS

WORDS: Mapping[str, Iterable[str]] = {"target": TARGETS, "version": SOURCES}


def candidates(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> Iterator[tuple[str, str | None]]:
    """What the last of WORDS may become, with its help; nothing where that is a file."""
    *before, word = words
    [commands] = (each for each in parser._actions if each.dest == "subcommand")
    assert isinstance(commands, argparse._SubParsersAction)
    if not before:
        yield from ((each.dest, each.help) for each in commands._choices_actions)
        yield "--help", None
        return
    command = commands.choices.get(before[0])
    if not command or "--" in before:
        return
    options = command._option_string_actions
    last = options.get(before[-1])
    if last and last.nargs != 0:
        return
    if word.startswith("-"):
        yield from ((name, each.help) for name, each in options.items() if name.startswith("--"))
    else:
        for each in command._actions:
            yield from ((name, None) for name in WORDS.get(each.dest, ()))


def show_candidates(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    for name, text in candidates(parser, words or [""]):
        print(name, text, sep="\t") if text else print(name)
