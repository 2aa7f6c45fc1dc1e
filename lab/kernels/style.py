# SPDX-License-Identifier: MIT
"""The kernel's own style checks: checkpatch.pl over patches, sparse and W=1 over sources."""

import fnmatch
import itertools
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import REPOSITORY, LabError
from lab.cache import locked, new_log
from lab.debian.sources import describe, fetch, unpacked_base
from lab.kernels import series
from lab.kernels.build import Kernel, build, compiled, make_command
from lab.kernels.make import run_logged
from lab.new_call import NUMBERS, write_call
from lab.targets import SOURCES, Source, Target, find_target
from lab.toolchain import require_commands

EXCEPTIONS = REPOSITORY / "lab" / "style.toml"
PATCHES = re.compile(r"^(?P<file>[^:\s]+):\d+: \w+:(?P<type>[A-Z_]+): .*$", re.M)
SPARSE = re.compile(r"^(?:\.\./)*(?P<file>[^:\s]+):\d+:\d+: (?:warning|error): (?P<type>.*)$", re.M)
# Newer kernels do not run the sparse of Debian's stable release, which is older.
SPARSE_TARGET = "x86-6.12"


@dataclass(frozen=True)
class Excuse:
    """A kind of complaint that is not followed in the files of a pattern."""

    type: str
    files: str

    def covers(self, complaint: re.Match[str]) -> bool:
        return self.type in complaint["type"] and fnmatch.fnmatch(complaint["file"], self.files)


class Judge:
    """Tells complaints with an excuse from those without, and finds excuses of nothing."""

    def __init__(self, path: Path = EXCEPTIONS) -> None:
        self.path = path
        self.used: set[Excuse] = set()
        try:
            kinds = tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError as error:
            raise LabError(f"{path}: {error}") from None
        self.excuses = [
            Excuse(kind, files)
            for kind, rows in kinds.items()
            for files, why in rows.items()
            if why
        ]

    def without_excuse(self, complaints: Iterable[re.Match[str]]) -> list[str]:
        left = []
        for complaint in complaints:
            covering = {excuse for excuse in self.excuses if excuse.covers(complaint)}
            self.used |= covering
            if not covering:
                left.append(complaint[0])
        return left

    def idle(self) -> list[str]:
        return [
            f"{self.path.name}: {excuse.type} in {excuse.files} excuses nothing"
            for excuse in self.excuses
            if excuse not in self.used
        ]


def checkpatch(base: Path, name: str, text: str) -> list[re.Match[str]]:
    """What checkpatch.pl of the tree BASE says of the patch NAME."""
    options = ("--strict", "--terse", "--showfile", "--show-types", "-q", "-")
    done = subprocess.run(
        ["perl", "scripts/checkpatch.pl", *options],
        cwd=base,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    complaints = list(PATCHES.finditer(done.stdout))
    if done.returncode and not complaints:
        raise LabError(f"checkpatch.pl failed on {name}: {done.stdout.strip()}")
    return complaints


def check_patches(source: Source, judge: Judge) -> list[str]:
    """What checkpatch.pl of SOURCE says of the series."""
    with unpacked_base(source, fetch(source)) as base:
        patches = series.read_series(source.version)
        complaints = [
            complaint
            for wanted in series.read_manifest()
            for name, mail in series.mails(base, wanted, patches, series.NOBODY).items()
            if not name.startswith("0000-")
            for complaint in checkpatch(base, name, mail)
        ]
    return [f"checkpatch, {source.version}: {text}" for text in judge.without_excuse(complaints)]


def added_sources(target: Target) -> set[str]:
    """The files that the series adds to what TARGET is compiled from."""
    names = (name for patch in series.read_series(target.source.version) for name in patch.added)
    return {name for name in names if not name.startswith(("tools/", "Documentation/"))}


def check_sources(kernel: Kernel, judge: Judge) -> list[str]:
    """What sparse and W=1 say of the files that the series adds to KERNEL."""
    require_commands({"sparse": "sparse"})
    target = kernel.target
    log = new_log(f"sparse-{target.name}")
    added = added_sources(target)
    goals = sorted(f"{name[:-1]}o" for name in added if name.endswith(".c"))
    with locked(f"build-{target.name}"), compiled(kernel, log) as (tree, objects):
        # The robots of the kernel's lists build with W=1, too.
        command = make_command(target, objects, "-s", "W=1", "C=2", "CHECK=sparse", *goals)
        run_logged("what sparse checks", command, tree, log)
    output = log.read_text(errors="replace")
    complaints = [c for c in SPARSE.finditer(output) if c["file"] in added]
    return [f"sparse, {target.name}: {text}" for text in judge.without_excuse(complaints)]


def check_given(source: Source, directory: Path, judge: Judge) -> list[str]:
    """What checkpatch.pl of SOURCE says of a user's patch, which must apply after the series."""
    patches = series.read_series(source.version)
    given = series.read_given(directory, source.version)
    with unpacked_base(source, fetch(source)) as base:
        series.assemble(base, [*patches, given], describe(source, fetch(source)))
        mails = {path.name: path.read_text() for path in given.diffs}
        if given.message:
            alone = series.Series(given.name, (given.name,))
            mails = series.mails(base, alone, [given], series.NOBODY)
        complaints = [c for name, mail in mails.items() for c in checkpatch(base, name, mail)]
    return [f"{directory}, {source.version}: {text}" for text in judge.without_excuse(complaints)]


def check_style(given: Sequence[Path] = ()) -> list[str]:
    """All that is wrong with the style of the patches GIVEN, or else of the series."""
    judge = Judge()
    if given:
        pairs = itertools.product(SOURCES.values(), given)
        return [line for source, path in pairs for line in check_given(source, path, judge)]
    wrong = [line for source in SOURCES.values() for line in check_patches(source, judge)]
    wrong += check_sources(build(find_target(SPARSE_TARGET)), judge)
    return wrong + judge.idle() + check_template()


def check_template() -> list[str]:
    """The same for what new-call writes."""
    with tempfile.TemporaryDirectory(prefix="ferry-new-call-") as name:
        write_call("example", NUMBERS[0], Path(name) / "example")
        return check_style([Path(name) / "example"])
