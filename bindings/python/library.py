#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tells Meson where ferry's library is, and what of it the extension needs.

In a clone the library is above this folder; a source distribution has a copy in ferry-library.
"""

import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COPY = "ferry-library"
FOLDERS = ("include", "uapi", "lib/engine", "lib/files", "lib/program")
FILES = ("LICENSE", "meson.build", "lib/meson.build", "lib/kernel_calls.c")
SOURCE = re.compile(r"^  '((?:engine|files|program)/.*\.c|kernel_calls\.c)',$", re.M)


def folder() -> Path:
    return HERE / COPY if (HERE / COPY).is_dir() else HERE.parents[1]


def version() -> str:
    found = re.search(r"^  version: '(.+)',$", (folder() / "meson.build").read_text(), re.M)
    assert found
    return found[1]


def sources() -> list[str]:
    names = SOURCE.findall((folder() / "lib/meson.build").read_text())
    return [str(folder() / "lib" / name) for name in names]


def copy_to(target: Path) -> None:
    for name in FOLDERS:
        shutil.copytree(folder() / name, target / name)
    for name in FILES:
        shutil.copy(folder() / name, target / name)


def main() -> None:
    match sys.argv[1]:
        case "folder":
            print(os.path.relpath(folder(), HERE))
        case "version":
            print(version())
        case "sources":
            print("\n".join(sources()))
        case "dist":
            copy_to(Path(os.environ["MESON_DIST_ROOT"], COPY))


main()
