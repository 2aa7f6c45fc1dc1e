# SPDX-License-Identifier: MIT
"""Builds kernel selftests, against the kernel's own headers: the series' and the kernel's."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab import LabError
from lab.cache import locked, made_whole, make_directory, new_log
from lab.debian.sources import fetch
from lab.kernels import series
from lab.kernels.build import Kernel, prepared_tree
from lab.kernels.make import make_environment, run_logged
from lab.process import run_to
from lab.targets import Target

SELFTESTS = "tools/testing/selftests"
PLACE = f"{SELFTESTS}/ferry"
# The kernel's own tests of what the series touches.
OWN = (
    "clone3",
    "futex/functional",
    "mm",
    "pidfd",
    "ptrace",
    "rseq",
    "seccomp",
    "sigaltstack",  # in 6.12, where there is no signal
    "signal",
    "x86",
)
# Programs that need arguments, run for minutes, or take memory and devices that guests lack.
LEFT_OUT = re.compile(
    r".*(benchmark|stress|param_test|hugetlb|memory-failure|hmm|gup_|compaction|khugepaged"
    r"|migration|transhuge|split_huge_page|helper|ksm_tests|random|race|\.so).*"
)


def build_selftests(kernel: Kernel) -> Path:
    """The directory with the programs, beside the kernel's image; empty if there are none."""
    programs = kernel.directory / "selftests"
    target = kernel.target
    with locked(f"selftests-{target.name}"):
        if programs.is_dir():
            return programs
        if target.stock:
            return make_directory(programs)
        with (
            made_whole(programs) as partial,
            prepared_tree(target, fetch(target.source)) as tree,
        ):
            places = {PLACE: partial} if (tree / PLACE).is_dir() else {}
            for name in added_selftests(target):
                places[f"{SELFTESTS}/{name}"] = make_directory(partial / name)
            if places:
                compile_them(kernel, tree, places)
    return programs


def added_selftests(target: Target) -> list[str]:
    """The directories of selftests that the user's patches add to those of TARGET."""
    version = target.source.version
    given = [series.read_given(directory, version) for directory in target.patches]
    found = re.findall(rf"^{SELFTESTS}/([^/\n]+)/", "\n".join(series.touched(given)), re.M)
    return sorted({*found} - {"ferry"})


def compile_them(kernel: Kernel, tree: Path, places: Mapping[str, Path]) -> None:
    log = new_log(f"selftests-{kernel.target.name}")
    what = f"the selftests of {kernel.target.name}"
    includes = include_headers(what, tree, log)
    for place, output in places.items():
        make = ["make", "-s", "-C", place, f"OUTPUT={output}", "ARCH=x86", includes]
        run_logged(what, make, tree, log)


def include_headers(what: str, tree: Path, log: Path) -> str:
    """User-mode Linux exports no headers; programs for it use those of x86."""
    headers = make_directory(tree / "objects-headers")
    run_logged(what, ["make", "-s", f"O={headers}", "ARCH=x86", "headers"], tree, log)
    return f"KHDR_INCLUDES=-isystem {headers}/usr/include"


def build_own_selftests(kernel: Kernel) -> Sequence[Path]:
    """The directories with the kernel's own programs, beside the image of KERNEL."""
    target = kernel.target
    output = kernel.directory / "own-selftests"
    with locked(f"selftests-{target.name}"):
        if not output.is_dir():
            log = new_log(f"own-selftests-{target.name}")
            with (
                made_whole(output) as partial,
                prepared_tree(target, fetch(target.source)) as tree,
            ):
                includes = include_headers(f"the selftests of {target.name}", tree, log)
                for name in OWN:
                    if (tree / SELFTESTS / name).is_dir():
                        compile_own(tree, name, partial / name, includes, log)
    return [output / name for name in OWN if (output / name).is_dir()]


def compile_own(tree: Path, name: str, output: Path, includes: str, log: Path) -> None:
    """Some programs of a directory may need what this machine does not have."""
    make = ["make", "-k", "-s", f"-j{os.cpu_count() or 1}", "-C", f"{SELFTESTS}/{name}"]
    command = ["nice", *make, f"OUTPUT={make_directory(output)}", "ARCH=x86", includes]
    run_to(log, command, env=make_environment(), cwd=tree)
    if not programs_in(output):
        raise LabError(f"building the kernel's own selftests in {name} failed; see {log}")


def programs_in(directory: Path) -> list[str]:
    """The programs in there that run by themselves."""
    return sorted(
        path.name
        for path in directory.iterdir()
        if path.is_file() and os.access(path, os.X_OK) and not LEFT_OUT.fullmatch(path.name)
        if path.suffix != ".sh"
    )
