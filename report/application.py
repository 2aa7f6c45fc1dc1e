# SPDX-License-Identifier: MIT
"""From a directory of results to a file with the page."""

import shlex
import sys
from pathlib import Path

from .folder import BadInput, Folder, read_folder
from .output import write
from .page import render
from .words import counted


def summary(folder: Folder, output: str) -> str:
    incomplete = sum(not each.run.complete for each in folder.measured)
    text = f"{output}: {counted(len(folder.measured), 'run')}"
    text += f", {incomplete} of them incomplete" if incomplete else ""
    return text + (f"; left out: {len(folder.left_out)}" if folder.left_out else "")


def report(directory: str, output: str) -> None:
    folder = read_folder(Path(directory))
    for note in folder.left_out:
        print(f"ferry: report: {note}", file=sys.stderr)
    made_by = shlex.join(["ferry", "report", directory, "-o", output])
    page = render(folder, made_by)
    write(output, page.encode("utf-8", errors="replace"))
    if output != "-":
        print(summary(folder, output))


def run(directory: str, output: str) -> int:
    """The exit status: 0, or 2 for bad input."""
    try:
        report(directory, output)
    except BadInput as error:
        for line in str(error).splitlines():
            print(f"ferry: report: {line}", file=sys.stderr)
        return 2
    return 0
