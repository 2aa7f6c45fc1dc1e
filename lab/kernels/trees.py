# SPDX-License-Identifier: MIT
"""The source tree with the series applied: hard links to Debian's, except for changed files.

A file whose content stays the same keeps its time stamp from one series to the next, so
make compiles only what a change of the series affects.
"""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from lab import LabError
from lab.cache import read_if_there
from lab.kernels.series import Files


def changed_list(tree: Path) -> Path:
    """The file, beside the tree, that lists the paths which differ from Debian's."""
    return tree.with_name(f"{tree.name}.changed")


def write_changed(tree: Path, names: set[str]) -> None:
    changed_list(tree).write_text("".join(f"{name}\n" for name in sorted(names)))


def link_tree(base: Path, tree: Path) -> None:
    done = subprocess.run(
        ["cp", "-al", str(base), str(tree)], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["cp failed"]
        raise LabError(f"cannot copy the kernel's source to {tree}: {last[0]}")


def replace_file(path: Path, content: bytes, mode: int) -> None:
    """Writes a new file: the old one may be a hard link into Debian's tree."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == content and path.stat().st_mode & 0o777 == mode:
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(content)
    temporary.chmod(mode)
    os.replace(temporary, path)


def sync_tree(base: Path, tree: Path, files: Files) -> None:
    """Makes TREE what the series makes of BASE.  The caller holds the lock of the trees."""
    if not tree.exists():
        changed_list(tree).unlink(missing_ok=True)
        partial = tree.with_name(f"{tree.name}.new")
        shutil.rmtree(partial, ignore_errors=True)
        link_tree(base, partial)
        os.replace(partial, tree)
    before, after = set(read_if_there(changed_list(tree)).splitlines()), set(files)
    # Listed before anything changes, so that an interrupted run can be taken up.
    write_changed(tree, before | after)
    for name in before - after:
        original = base / name
        if original.is_file():
            replace_file(tree / name, original.read_bytes(), original.stat().st_mode & 0o777)
        else:
            (tree / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not empty
                os.removedirs((tree / name).parent)
    for name, (content, mode) in files.items():
        replace_file(tree / name, content, mode)
    write_changed(tree, after)
