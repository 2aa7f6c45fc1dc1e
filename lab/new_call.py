# SPDX-License-Identifier: MIT
"""ferry-lab new-call: a patch that adds a system call, made from the files of lab/new-call/.

@NAME@ and @NUMBER@ stand for the call's, in the files and in their names, and @LINE@
underlines the name.
"""

import re
from pathlib import Path

from lab import LabError
from lab.cache import make_directory

TEMPLATE = Path(__file__).with_name("new-call")
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
# The series has the numbers from 500 to 507, `ferry bench` takes 511 to be no call's, and
# x32's begin with 512.
NUMBERS = range(508, 511)


def write_call(name: str, number: int, directory: Path) -> list[Path]:
    """Writes the patch into DIRECTORY, which must not exist; the files of it."""
    if not NAME.fullmatch(name):
        raise LabError(
            f"'{name}' cannot be the name of a call: it is lower case letters, digits and"
            " underscores, up to 40, and begins with a letter"
        )
    if number not in NUMBERS:
        raise LabError(
            f"the number {number} is not free: a new call has one from {NUMBERS[0]} to"
            f" {NUMBERS[-1]}"
        )
    if directory.exists():
        raise LabError(f"{directory} exists already; -o names another directory")

    def filled(text: str) -> str:
        for word, value in (("NAME", name), ("NUMBER", str(number)), ("LINE", "=" * len(name))):
            text = text.replace(f"@{word}@", value)
        return text

    written = []
    for path in (path for path in TEMPLATE.rglob("*") if path.is_file()):
        new = directory / filled(str(path.relative_to(TEMPLATE)))
        make_directory(new.parent)
        new.write_text(filled(path.read_text()))
        written.append(new)
    return sorted(written)
