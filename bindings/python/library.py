#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tells Meson the place of ferry's library, and the parts of it that the extension needs.

In a clone the library is above this folder; a source distribution has a copy in ferry-library.
"""

import os
import re
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).resolve().parent
COPY = "ferry-library"
FOLDERS = ("include", "uapi", "lib/engine", "lib/files", "lib/prefault", "lib/program")
FILES = ("LICENSE", "meson.build", "lib/meson.build", "lib/kernel_calls.c")
SOURCE = re.compile(r"^  '((?:engine|files|prefault|program)/.*\.c|kernel_calls\.c)',$", re.M)


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


def notices(nanobind: Path) -> str:
    """The licences of what is linked into the extension; NANOBIND has that library's headers."""
    own = distribution("nanobind").read_text("licenses/LICENSE")
    assert own
    hash_map = (nanobind / "../ext/robin_map/include/tsl/robin_map.h").read_text()
    comment = hash_map.partition("*/")[0].removeprefix("/**")
    texts = {"nanobind": own, "robin_map": re.sub("^ [*] ?", "", comment, flags=re.M)}
    return "\n".join(
        f"{name}\n{'=' * len(name)}\n\n{text.strip()}\n" for name, text in texts.items()
    )


def main() -> None:
    match sys.argv[1]:
        case "folder":
            print(os.path.relpath(folder(), HERE))
        case "version":
            print(version())
        case "sources":
            print("\n".join(sources()))
        case "notices":
            print(notices(Path(sys.argv[2])))
        case "dist":
            copy_to(Path(os.environ["MESON_DIST_ROOT"], COPY))


main()
