# SPDX-License-Identifier: MIT
"""Builds kernel selftests, against the kernel's own headers: the series' and the kernel's."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab import LabError
from lab.cache import locked, made_whole, make_directory, new_log
from lab.kernels import series
from lab.kernels.build import Kernel, given_objects, prepared_tree, series_state
from lab.kernels.make import make_environment, run_logged
from lab.process import run_to
from lab.targets import Target
from lab.toolchain import FOREIGN, tools_prefix

SELFTESTS = "tools/testing/selftests"
PLACE = f"{SELFTESTS}/subcall"
# The tests of what kernels of other machines have.
FOREIGN_PROGRAMS = (
    "batch",
    "batch_raw",
    "flexsc",
    "flexsc_blocked",
    "flexsc_confined",
    "flexsc_signals",
    "flexsc_watchers",
    "null",
)
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
    target = kernel.target
    # A change of a test builds the tests anew, and not the kernel.
    programs = kernel.directory / f"selftests-{series_state(target)[:16]}"
    with locked(f"selftests-{target.name}"):
        if target.given and target.given.is_dir():
            # Its owner may have changed them, and not the kernel: make knows.
            programs = make_directory(given_objects(target) / "selftests")
            if (target.given / PLACE).is_dir():
                compile_them(kernel, target.given, {PLACE: programs})
            return programs
        if programs.is_dir():
            return programs
        if target.stock or target.given:
            return make_directory(programs)
        with (
            made_whole(programs) as partial,
            prepared_tree(target) as tree,
        ):
            places = {PLACE: partial} if (tree / PLACE).is_dir() else {}
            for name in added_selftests(target):
                places[f"{SELFTESTS}/{name}"] = make_directory(partial / name)
            if places:
                compile_them(kernel, tree, places)
    return programs


def added_selftests(target: Target) -> list[str]:
    """The directories of selftests that the user's patches add, beyond TARGET's own."""
    version = target.source.version
    given = [series.read_given(directory, version) for directory in target.patches]
    found = re.findall(rf"^{SELFTESTS}/([^/\n]+)/", "\n".join(series.touched(given)), re.M)
    return sorted({*found} - {"subcall"})


def compile_them(kernel: Kernel, tree: Path, places: Mapping[str, Path]) -> None:
    log = new_log(f"selftests-{kernel.target.name}")
    what = f"the selftests of {kernel.target.name}"
    includes = include_headers(kernel.target, tree, log)
    for place, output in places.items():
        make = ["make", "-s", "-C", place, f"OUTPUT={output}", *options(kernel.target), includes]
        goals = FOREIGN_PROGRAMS if kernel.target.arch in FOREIGN else ()
        run_logged(what, [*make, *(str(output / goal) for goal in goals)], tree, log)


def options(target: Target) -> list[str]:
    """User-mode Linux exports no headers; programs for it use the headers of x86."""
    if target.arch not in FOREIGN:
        return ["ARCH=x86"]
    return [f"ARCH={target.arch}", f"CROSS_COMPILE={tools_prefix(target.arch)}", "LDFLAGS=-static"]


def include_headers(target: Target, tree: Path, log: Path) -> str:
    headers = headers_of(target, tree)
    what = f"the headers of {target.name}"
    with locked(f"headers-{target.source.version}"):
        run_logged(what, ["make", "-s", f"O={headers}", *options(target), "headers"], tree, log)
    return f"KHDR_INCLUDES=-isystem {headers}/usr/include"


def headers_of(target: Target, tree: Path) -> Path:
    """Where the headers of TREE are made; its targets share them, but for other machines."""
    if not target.given:
        machine = f"-{target.arch}" if target.arch in FOREIGN else ""
        return make_directory(tree / f"objects-headers{machine}")
    return make_directory(given_objects(target) / "headers") if target.base_config else tree


def build_own_selftests(kernel: Kernel) -> Sequence[Path]:
    """The directories with the kernel's own programs, beside the image of KERNEL."""
    target = kernel.target
    output = kernel.directory / "own-selftests"
    with locked(f"selftests-{target.name}"):
        if not output.is_dir():
            log = new_log(f"own-selftests-{target.name}")
            with (
                made_whole(output) as partial,
                prepared_tree(target) as tree,
            ):
                includes = include_headers(target, tree, log)
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
