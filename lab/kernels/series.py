# SPDX-License-Identifier: MIT
"""The patches: kept as directories, assembled into series for one kernel version.

Each directory kernel/series/NNNN-name/ becomes one patch:

    message         the commit message, without a sign-off
    files           lines "PATH-IN-TREE <- PATH-HERE": whole files that the patch adds, or
                    folders of C files
    any.diff        hunks that apply to every version
    VERSION.diff    hunks that apply to one version only

A directory that has diffs for other versions only is left out for a version.  The lab's
kernels have all patches, in the order of their numbers.

kernel/series/series.toml says which patches are mailed together.  Such a series applies to
the kernel's source after those that it names, without the others.  cover-SERIES holds the
subject and the text of its cover letter, and @AUTHOR@ in a diff is who mails it.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import REPOSITORY, LabError
from lab.cache import read_if_there

SERIES = REPOSITORY / "kernel" / "series"
MANIFEST = "series.toml"
Files = dict[str, tuple[bytes, int]]  # path in the tree, content and mode

# git am drops what is in brackets before the subject; git send-email refuses this text.
NOT_FOR_MAILING = "*** SUBJECT HERE ***"
NOBODY = ("Draft", "draft@ferry.invalid")
DATE = "2026-01-01T00:00:00+0000"  # the same each time
COMMIT = ("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m")


@dataclass(frozen=True)
class Patch:
    """One patch of the series, for one version."""

    name: str
    message: str
    added: dict[str, Path]  # path in the tree, file here
    diffs: list[Path]


def read_added(listing: Path, root: Path) -> dict[str, Path]:
    """The whole files that a patch adds; PATH-HERE is below ROOT."""
    added: dict[str, Path] = {}
    for number, line in enumerate(read_if_there(listing).splitlines(), 1):
        target, arrow, here = (part.strip() for part in line.partition("<-"))
        if not (arrow and target and here):
            raise LabError(f"{listing}:{number}: not of the form 'PATH-IN-TREE <- PATH-HERE'")
        path = root / here
        if path.is_dir():
            added |= {f"{target}/{file.name}": file for file in sorted(path.glob("*.[ch]"))}
        elif path.is_file():
            added[target] = path
        else:
            raise LabError(f"{listing}:{number}: there is no file {here}")
    return added


def read_patch(directory: Path, version: str, root: Path | None = None) -> Patch | None:
    """The patch in DIRECTORY, None if it is for other versions only."""
    stems = {path.stem for path in directory.glob("*.diff")}
    if stems - {"any"} and version not in stems:
        return None
    diffs = [directory / f"{stem}.diff" for stem in ("any", version) if stem in stems]
    added = read_added(directory / "files", root or REPOSITORY)
    if not diffs and not added:
        raise LabError(f"{directory} has neither a diff nor a list of files")
    if not (directory / "message").exists():
        raise LabError(f"{directory}/message is missing: it holds the commit message")
    return Patch(directory.name, (directory / "message").read_text(), added, diffs)


def read_series(version: str, series: Path = SERIES) -> list[Patch]:
    directories = sorted(path for path in series.glob("[0-9]*") if path.is_dir())
    patches = (read_patch(directory, version) for directory in directories)
    return [patch for patch in patches if patch]


def read_given(directory: Path, version: str) -> Patch:
    """The patch of a user in DIRECTORY: one like the series' own, or a series of *.patch.

    PATH-HERE in its list of files is below DIRECTORY.
    """
    if mails := sorted(directory.glob("*.patch")):
        return Patch(directory.name, "", {}, mails)
    patch = read_patch(directory, version, directory)
    if not patch:
        raise LabError(f"--patch {directory}: it has no diff for {version}")
    return patch


@dataclass(frozen=True)
class Series:
    """What is mailed together."""

    name: str
    patches: Sequence[str]  # directories
    after: Sequence[str] = ()  # other series, whose patches it needs
    experimental: bool = False


def read_manifest(directory: Path = SERIES) -> list[Series]:
    """The series that every patch is in exactly one of, each after those that it needs."""
    file = directory / MANIFEST
    try:
        rows = tomllib.loads(file.read_text())["series"]
        found = [Series(**row) for row in rows]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise LabError(f"{file}: {error}") from None
    listed = [patch for row in found for patch in row.patches]
    there = {path.name for path in directory.glob("[0-9]*") if path.is_dir()}
    for patch in sorted({*listed, *there}):
        if patch not in there:
            raise LabError(f"{file}: there is no patch {patch}")
        if listed.count(patch) != 1:
            raise LabError(f"{file}: {patch} is in {listed.count(patch)} series, not in one")
    for number, row in enumerate(found):
        for other in set(row.after) - {earlier.name for earlier in found[:number]}:
            raise LabError(f"{file}: {row.name} needs {other}, which is not before it")
    return found


def needed(wanted: Series, manifest: list[Series]) -> list[str]:
    """The patches that must be applied before WANTED."""
    names: set[str] = set()
    for row in reversed(manifest):
        if row.name in wanted.after or row.name in names:
            names |= {row.name, *row.after}
    return [patch for row in manifest if row.name in names for patch in row.patches]


def inputs(patches: list[Patch], leave_out: tuple[str, ...] = ()) -> Iterator[tuple[str, bytes]]:
    """Everything that the series' effect on a tree depends on, by name.

    LEAVE_OUT are beginnings of paths in the tree, whose whole files do not count.
    """
    for patch in patches:
        for diff in patch.diffs:
            yield f"{patch.name} {diff.name}", diff.read_bytes()
        for target, here in patch.added.items():
            if target.startswith(leave_out):
                continue
            yield f"{patch.name} {target} {mode_of(here):o}", here.read_bytes()


def mode_of(path: Path) -> int:
    return 0o755 if os.access(path, os.X_OK) else 0o644


def copy(source: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, path)
    path.chmod(mode_of(source))


def touched(patches: list[Patch]) -> set[str]:
    """The files that PATCHES add or change."""
    diffs = "".join(diff.read_text() for patch in patches for diff in patch.diffs)
    names = {name for patch in patches for name in patch.added}
    return names | set(re.findall(r"^(?:---|\+\+\+) [ab]/([^\t\n]+)", diffs, re.M))


@contextlib.contextmanager
def scratch(tree: Path, patches: list[Patch]) -> Iterator[Path]:
    """A directory with only those files of TREE that PATCHES touch."""
    with tempfile.TemporaryDirectory(prefix="ferry-series-") as name:
        for file in touched(patches):
            if (tree / file).is_file():
                copy(tree / file, Path(name) / file)
        yield Path(name)


def git(
    directory: Path, *arguments: str, who: tuple[str, str] = NOBODY, stdin: str | None = None
) -> str:
    """What git prints, unaffected by the user's configuration; WHO commits."""
    environment = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(directory.parent),
    }
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": who[0], f"GIT_{role}_EMAIL": who[1]}
        environment[f"GIT_{role}_DATE"] = DATE
    settings = ("-c", "core.abbrev=12", "-c", "core.autocrlf=false", "-c", "gc.auto=0")
    command = ["git", *settings, *arguments]
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LabError(done.stderr.strip() or f"git {arguments[0]} failed")
    return done.stdout


def apply(patch: Patch, directory: Path, base: str, who: tuple[str, str] = NOBODY) -> None:
    for target, here in patch.added.items():
        copy(here, directory / target)
    for diff in patch.diffs:
        try:
            # All lines of context have to match; only line numbers may differ.
            text = diff.read_text().replace("@AUTHOR@", f"{who[0]} <{who[1]}>")
            git(directory, "apply", "--whitespace=nowarn", "-", stdin=text)
        except LabError as error:
            raise LabError(explain_failure(diff, str(error), base)) from None


def explain_failure(diff: Path, complaint: str, base: str) -> str:
    """One sentence that names the hunk of DIFF which git did not apply to BASE."""
    name = diff.relative_to(REPOSITORY) if diff.is_relative_to(REPOSITORY) else diff
    failed = re.search(r"patch failed: (\S+):(\d+)", complaint)
    if not failed:
        reason = complaint.splitlines()[0].removeprefix("error: ")
        return f"{name} does not apply to {base}: {reason}"
    file, line = failed.groups()
    hunks = re.findall(r"^(?:--- \S+\n\+\+\+ b/(\S+)\n)?@@ -(\d+)", diff.read_text(), re.M)
    current = ""
    for number, (header, start) in enumerate(hunks, 1):
        current = header or current
        if (current, start) == (file, line):
            return f"{name}: hunk {number} ({file}:{line}) does not apply to {base}"
    return f"{name} ({file}:{line}) does not apply to {base}"


def assemble(tree: Path, patches: list[Patch], base: str = "this tree") -> Files:
    """What PATCHES make of the files of TREE, which is only read; BASE names it."""
    with scratch(tree, patches) as directory:
        for patch in patches:
            apply(patch, directory, base)
        paths = {name: directory / name for name in sorted(touched(patches))}
        return {n: (p.read_bytes(), mode_of(p)) for n, p in paths.items() if p.is_file()}


def mails(
    tree: Path,
    wanted: Series,
    patches: list[Patch],
    author: tuple[str, str] | None,
    base: str = "this tree",
    upstream: str = "this-tree",
    directory: Path = SERIES,
) -> dict[str, str]:
    """The series WANTED by file name, as git mails it, signed off by AUTHOR.

    PATCHES are all there are, and UPSTREAM is the tag of the kernel that they apply to.  AUTHOR
    is a name and an address.  Without, the mails are drafts, which git am takes and git
    send-email refuses.
    """
    who = author or NOBODY
    before = needed(wanted, read_manifest(directory))
    there = {patch.name: patch for patch in patches}  # a version may lack some
    cover = directory / f"cover-{wanted.name}"
    with scratch(tree, patches) as place:
        git(place, "init", "--quiet", "--initial-branch=series")
        git(place, "add", "--all", "--force", ".")
        git(place, *COMMIT, "Debian's source\n")
        git(place, "tag", "source")
        for tag, names in (("base", before), ("end", wanted.patches)):
            for patch in (there[name] for name in names if name in there):
                apply(patch, place, base, who)
                git(place, "add", "--all", "--force", ".")
                git(place, *COMMIT, f"{patch.message.rstrip()}\n", who=who)
            git(place, "tag", tag)
        if cover.exists():
            git(place, "config", "branch.series.description", cover.read_text())
        output = place / ".git" / "mails"
        options = format_options(wanted, author is None, cover.exists())
        git(place, "format-patch", *options, "-o", str(output), "base", who=who)
        texts = {path.name: without_date(path.read_text()) for path in sorted(output.iterdir())}
        if not texts:
            return {}
        first = min(texts)
        # Debian's source is not in the kernel's history; the release that it is based on is.
        texts[first] = re.sub(r"(?m)^base-commit: .*", f"base-commit: {upstream}", texts[first])
    return texts


def format_options(wanted: Series, draft: bool, letter: bool) -> list[str]:
    words = [*(["RFC"] if wanted.experimental else []), "PATCH"]
    if draft:
        words += ["DRAFT", NOT_FOR_MAILING]
    return [
        *([] if draft else ["--signoff"]),
        *("--zero-commit", "--no-signature", "--no-renames", "--quiet", "--base=source"),
        *(["--cover-letter", "--cover-from-description=subject"] if letter else []),
        f"--subject-prefix={' '.join(words)}",
    ]


def without_date(mail: str) -> str:
    head, blank, body = mail.partition("\n\n")
    return re.sub(r"^Date: .*\n", "", head, count=1, flags=re.M) + blank + body


def find_author(given: str | None) -> tuple[str, str] | None:
    """Who signs off: as GIVEN, 'NAME <ADDRESS>', else as git's configuration says."""
    if given is None:
        read = [
            subprocess.run(["git", "config", f"user.{key}"], capture_output=True, text=True)
            for key in ("name", "email")
        ]
        name, mail = (done.stdout.strip() for done in read)
        return (name, mail) if name and mail else None
    if not (match := re.fullmatch(r"\s*([^<>]*[^<>\s])\s*<([^<>@\s]+@[^<>@\s]+)>\s*", given)):
        raise LabError(f"the author '{given}' is not of the form 'NAME <ADDRESS>'")
    return match[1], match[2]
