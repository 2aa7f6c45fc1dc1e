# SPDX-License-Identifier: MIT
"""The patch series: kept as directories, assembled into patches for one kernel version.

Each directory kernel/series/NNNN-name/ becomes one patch:

    message         the commit message
    files           lines "PATH-IN-TREE <- PATH-HERE": whole files that the patch adds
    VERSION.diff    hunks into existing files, or
    any.diff        hunks that fit every version

A directory with diffs for other versions only is no part of this version's series.
kernel/series/cover holds the subject and the text of the cover letter, kernel/series/author
who signs patches off whose message names nobody.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab import REPOSITORY, LabError

SERIES = REPOSITORY / "kernel" / "series"
SIGNED_OFF = re.compile(r"^Signed-off-by: (?P<name>.+?) <(?P<mail>[^>]+)>$", re.M)
# A date in the patches would make every assembly differ.
EPOCH = "2026-01-01T00:00:00+0000"


@dataclass(frozen=True)
class Patch:
    """One patch of the series, for one version."""

    name: str
    message: str
    added: dict[str, Path]  # path in the tree, file here
    diff: Path | None


@dataclass(frozen=True)
class Assembly:
    """The series as patches to mail, and as what it makes of the tree's files."""

    mails: dict[str, str]  # file name, text
    files: dict[str, tuple[bytes, int]]  # path in the tree, content and mode


def read_added(listing: Path) -> dict[str, Path]:
    """The whole files that a patch adds."""
    if not listing.exists():
        return {}
    added = {}
    for number, line in enumerate(listing.read_text().splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        target, arrow, here = (part.strip() for part in text.partition("<-"))
        if not (arrow and target and here):
            raise LabError(f"{listing}:{number}: not of the form 'PATH-IN-TREE <- PATH-HERE'")
        if not (REPOSITORY / here).is_file():
            raise LabError(f"{listing}:{number}: there is no file {here}")
        added[target] = REPOSITORY / here
    return added


def read_patch(directory: Path, version: str) -> Patch | None:
    """The patch in DIRECTORY, None if it is for other versions only."""
    diffs = {path.stem: path for path in directory.glob("*.diff")}
    diff = diffs.get(version) or diffs.get("any")
    if diffs and not diff:
        return None
    added = read_added(directory / "files")
    if not diff and not added:
        raise LabError(f"{directory} has neither a diff nor a list of files")
    try:
        message = (directory / "message").read_text()
    except FileNotFoundError:
        raise LabError(f"{directory}/message is missing: it holds the commit message") from None
    return Patch(directory.name, signed_off(message, directory.parent), added, diff)


def signed_off(message: str, series: Path) -> str:
    if SIGNED_OFF.search(message):
        return message
    try:
        author = (series / "author").read_text().strip()
    except FileNotFoundError:
        raise LabError(f"{series}/author is missing: it holds one line 'NAME <ADDRESS>'") from None
    return f"{message.rstrip()}\n\nSigned-off-by: {author}\n"


def read_series(version: str, series: Path = SERIES) -> list[Patch]:
    directories = sorted(path for path in series.glob("[0-9]*") if path.is_dir())
    patches = (read_patch(directory, version) for directory in directories)
    return [patch for patch in patches if patch]


def inputs(patches: list[Patch]) -> Iterator[tuple[str, bytes]]:
    """All that the series' effect on a tree depends on, by name."""
    for patch in patches:
        yield patch.name, patch.message.encode()
        if patch.diff:
            yield f"{patch.name} diff", patch.diff.read_bytes()
        for target, here in patch.added.items():
            yield f"{patch.name} {target} {here.stat().st_mode:o}", here.read_bytes()


def touched_by(diff: Path) -> set[str]:
    """The files that a diff changes or adds."""
    names = re.findall(r"^(?:---|\+\+\+) [ab]/([^\t\n]+)", diff.read_text(), re.M)
    return set(names)


class Scratch:
    """A git repository that holds only the files which the series touches."""

    def __init__(self, directory: Path, tree: Path, patches: list[Patch]) -> None:
        self.directory = directory
        self.touched: set[str] = set()
        self.git("init", "--quiet", "--initial-branch=series")
        for patch in patches:
            self.touched |= patch.added.keys()
            if patch.diff:
                self.touched |= touched_by(patch.diff)
        for name in self.touched:
            if (tree / name).is_file():
                self.write(name, tree / name)
        self.commit("Debian's source\n", "ferry", "ferry@localhost")
        self.git("tag", "base")

    def git(self, *arguments: str, who: tuple[str, str] = ("ferry", "ferry@localhost")) -> str:
        name, mail = who
        environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "HOME": str(self.directory),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": mail,
            "GIT_AUTHOR_DATE": EPOCH,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": mail,
            "GIT_COMMITTER_DATE": EPOCH,
        }
        settings = ("-c", "core.abbrev=12", "-c", "core.autocrlf=false", "-c", "gc.auto=0")
        done = subprocess.run(
            ["git", *settings, *arguments],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise LabError(done.stderr.strip() or f"git {arguments[0]} failed")
        return done.stdout

    def write(self, name: str, source: Path) -> None:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
        path.chmod(0o755 if os.access(source, os.X_OK) else 0o644)

    def commit(self, message: str, name: str, mail: str) -> None:
        self.git("add", "--all", "--force", ".")
        self.git(
            *("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message),
            who=(name, mail),
        )

    def apply(self, patch: Patch) -> None:
        for target, here in patch.added.items():
            self.write(target, here)
        if patch.diff:
            try:
                # Exact context; only line numbers may differ.
                self.git("apply", "--whitespace=nowarn", str(patch.diff.absolute()))
            except LabError as error:
                raise LabError(explain_failure(patch, str(error))) from None
        author = SIGNED_OFF.findall(patch.message)[-1]
        self.commit(patch.message, *author)

    def mails(self, cover: Path) -> dict[str, str]:
        output = self.directory / ".git" / "mails"
        options = ["--zero-commit", "--no-signature", "--no-renames", "--quiet"]
        if cover.exists():
            options.append("--cover-letter")
        author = SIGNED_OFF.findall(self.git("log", "-1", "--format=%B"))[-1]
        self.git("format-patch", *options, "-o", str(output), "base", who=author)
        texts = {path.name: without_date(path.read_text()) for path in sorted(output.iterdir())}
        if cover.exists():
            subject, _, blurb = cover.read_text().partition("\n")
            letter = "0000-cover-letter.patch"
            texts[letter] = (
                texts[letter]
                .replace("*** SUBJECT HERE ***", subject)
                .replace("*** BLURB HERE ***", blurb.strip())
            )
        return texts


def without_date(mail: str) -> str:
    head, blank, body = mail.partition("\n\n")
    return re.sub(r"^Date: .*\n", "", head, count=1, flags=re.M) + blank + body


def explain_failure(patch: Patch, output: str) -> str:
    """Git's complaint as one sentence that names the patch and the file."""
    assert patch.diff
    failed = re.search(r"patch failed: (\S+):(\d+)", output)
    if failed:
        where = f"{failed[1]}, line {failed[2]}: the text there differs from what the patch expects"
    else:
        where = output.splitlines()[0].removeprefix("error: ")
    return f"patch {patch.name} ({patch.diff.name}) does not apply to {where}"


def assemble(tree: Path, patches: list[Patch], cover: Path = SERIES / "cover") -> Assembly:
    """Applies PATCHES to the files of TREE, which is only read."""
    if not patches:
        return Assembly({}, {})
    with tempfile.TemporaryDirectory(prefix="ferry-series-") as directory:
        scratch = Scratch(Path(directory), tree, patches)
        for patch in patches:
            scratch.apply(patch)
        files = {}
        for name in sorted(scratch.touched):
            path = scratch.directory / name
            if path.is_file():
                files[name] = (path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
        return Assembly(scratch.mails(cover), files)
