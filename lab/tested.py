# SPDX-License-Identifier: MIT
"""The versions of Debian's packages with which all tests of a target passed last."""

import tomllib

from lab import REPOSITORY
from lab.cache import read_if_there, write_whole
from lab.targets import TARGETS, Source

TESTED = REPOSITORY / "kernel" / "series" / "tested.toml"
HEAD = """\
# SPDX-License-Identifier: MIT
# The version of Debian's package with which all tests of a target passed last.
# `ferry-lab test --record` writes this file.
"""


def read_tested() -> dict[str, str]:
    """The versions by the names of the targets."""
    return tomllib.loads(read_if_there(TESTED))


def versions_tested(source: Source) -> list[str]:
    """The versions with which targets of SOURCE were tested, without repetition."""
    tested = read_tested()
    targets = [name for name, target in TARGETS.items() if target.source == source]
    return sorted({tested[name] for name in targets if name in tested})


def last_tested(source: Source) -> str:
    """The same as words for a message."""
    versions = versions_tested(source)
    return f"last tested {', '.join(versions)}" if versions else "never tested"


def record(target: str, version: str) -> None:
    versions = sorted((read_tested() | {target: version}).items())
    write_whole(TESTED, HEAD + "".join(f'"{name}" = "{text}"\n' for name, text in versions))
