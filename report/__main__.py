# SPDX-License-Identifier: MIT
"""Called by `ferry report` as: python -m report OUTPUT DIRECTORY..."""

import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

OLDEST = (3, 11)
PACKAGES = ("matplotlib", "numpy", "jinja2", "markupsafe")
INSTALL = "python3 -m pip install matplotlib jinja2"


def complain(text: str) -> None:
    for line in text.splitlines():
        print(f"ferry: report: {line}", file=sys.stderr)


def end_on_ctrl_c() -> None:
    """At once and without a traceback.  The command has blocked the signal until here."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def report(output: str, directories: Sequence[str]) -> None:
    from .files import read_folders, write
    from .first import picture
    from .page import render

    folder = read_folders([Path(directory) for directory in directories])
    for note in folder.left_out:
        complain(note)
    made_by = shlex.join(["ferry", "report", *directories, "-o", output])
    if output.endswith(".svg"):
        made = picture(folder.measured)
    else:
        made = render(folder, made_by, compare=len(directories) > 1)
    write(output, made.encode("utf-8", errors="replace"))
    if output != "-":
        write("-", os.fsencode(f"{output}: {folder.summary()}\n"))


def run(output: str, directories: Sequence[str]) -> int:
    """The exit status: 0, 1 when a package is missing, or 2 for bad input."""
    try:
        from .files import BadInput

        report(output, directories)
    except BadInput as error:
        complain(str(error))
        return 2
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in PACKAGES:
            raise
        complain(
            f"{sys.executable} lacks the package '{package}'; '{INSTALL}' installs what is needed"
        )
        return 1
    return 0


def main() -> int:
    end_on_ctrl_c()
    if sys.version_info < OLDEST:
        complain(f"{sys.executable} is Python {sys.version.split()[0]}; 3.11 or later is needed")
        return 1
    return run(sys.argv[1], sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
