# SPDX-License-Identifier: MIT
"""Builds the kernel selftests that the series adds, against the patched kernel's own headers."""

import os
import shutil
from pathlib import Path

from lab.cache import locked, log_file, make_directory
from lab.debian.sources import fetch
from lab.kernels.build import Kernel, prepared_tree
from lab.kernels.make import run_logged

PLACE = "tools/testing/selftests/ferry"


def build_selftests(kernel: Kernel) -> Path:
    """The directory with the programs, beside the kernel's image; empty if there are none."""
    programs = kernel.directory / "selftests"
    target = kernel.target
    with locked(f"selftests-{target.name}"):
        if programs.is_dir():
            return programs
        partial = kernel.directory / ".selftests"
        shutil.rmtree(partial, ignore_errors=True)
        make_directory(partial)
        if target.stock:
            return partial
        with prepared_tree(target, fetch(target.source)) as tree:
            if (tree / PLACE).is_dir():
                compile_them(kernel, tree, partial)
        os.replace(partial, programs)
    return programs


def compile_them(kernel: Kernel, tree: Path, output: Path) -> None:
    """User-mode Linux exports no headers; programs for it use those of x86."""
    headers = make_directory(tree / "objects-headers")
    log = log_file(f"selftests-{kernel.target.name}")
    log.unlink(missing_ok=True)
    what = f"the selftests of {kernel.target.name}"
    run_logged(what, ["make", "-s", f"O={headers}", "ARCH=x86", "headers"], tree, log)
    includes = f"KHDR_INCLUDES=-isystem {headers}/usr/include"
    run_logged(
        what, ["make", "-s", "-C", PLACE, f"OUTPUT={output}", "ARCH=x86", includes], tree, log
    )
