# SPDX-License-Identifier: MIT
"""A directory of results is read; a page is written whole or not at all."""

import errno
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .document import KINDS, SCHEMA, VERSION, BenchHeader, Header, Run
from .reader import Unfit, read
from .regions_document import SCHEMA as CC_SCHEMA
from .regions_document import VERSION as CC_VERSION
from .regions_document import Region
from .trace_document import SCHEMA as TRACE_SCHEMA
from .trace_document import VERSION as TRACE_VERSION
from .trace_document import Trace
from .words import counted, joined

CONCLUSION = "conclusion.json"  # conclusion.py makes it of the other files
VERSIONS = {SCHEMA: VERSION, TRACE_SCHEMA: TRACE_VERSION, CC_SCHEMA: CC_VERSION}


class BadInput(Exception):
    """A sentence for the user, or a line with one for each file."""


@dataclass(frozen=True)
class Measured:
    """A run and the name of the file that holds it."""

    file: str
    run: Run


@dataclass(frozen=True)
class Traced:
    """What ferry trace found, and the name of the file that holds it."""

    file: str
    trace: Trace


@dataclass(frozen=True)
class Explained:
    """What ferry cc found, and the name of the file that holds it."""

    file: str
    regions: list[Region]


@dataclass
class Folder:
    measured: list[Measured] = field(default_factory=list)  # oldest first
    traced: list[Traced] = field(default_factory=list)  # by file
    explained: list[Explained] = field(default_factory=list)  # by file
    left_out: list[str] = field(default_factory=list)  # a sentence for each file
    conclusions: list[Path] = field(default_factory=list)  # that make run left

    def counts(self) -> str:
        """How many runs and traces there are."""
        incomplete = sum(not each.run.complete for each in self.measured)
        runs = counted(len(self.measured), "run")
        runs += f", {incomplete} of them incomplete" if incomplete else ""
        traces = counted(len(self.traced), "trace")
        explained = f"{counted(len(self.explained), 'explanation')} of ferry cc"
        counts = {runs: self.measured, traces: self.traced, explained: self.explained}
        return joined([text for text, found in counts.items() if found])

    def summary(self) -> str:
        return self.counts() + (f"; left out: {len(self.left_out)}" if self.left_out else "")


def parse(path: Path) -> list[object]:
    """The documents in PATH: one, or one in each line, as ferry cc appends them."""
    try:
        text = path.read_bytes()
        with suppress(ValueError, RecursionError):
            if text.strip():
                return [json.loads(line) for line in text.splitlines()]
        return [json.loads(text)]
    except OSError as error:
        raise BadInput(f"{path}: cannot read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON, or cut short: {error}") from None


def read_file(path: Path) -> Measured | Traced | Explained | str:
    """The run, trace or explanation in PATH, or why it is left out."""
    documents = parse(path)
    content = documents[0]
    schema = str(content.get("schema")) if isinstance(content, dict) else ""
    if schema not in VERSIONS:
        return f"{path.name} is not from ferry bench."
    try:
        version = read(Header, content).version
        if version != VERSIONS[schema]:
            raise BadInput(
                f"{path}: version {version} of the format, but this ferry report reads version "
                f"{VERSIONS[schema]}"
            )
        if schema == CC_SCHEMA:
            return Explained(path.name, [read(Region, each) for each in documents])
        if schema == TRACE_SCHEMA:
            return Traced(path.name, read(Trace, content))
        bench = read(BenchHeader, content).bench
        if bench not in KINDS:
            return f"{path.name} is from the bench '{bench}', which this report lacks."
        return Measured(path.name, read(KINDS[bench], content))
    except Unfit as error:
        raise BadInput(f"{path}: {error}") from None


def json_files(directory: Path) -> list[Path]:
    try:
        files = directory.iterdir()
        return sorted(path for path in files if path.suffix == ".json" and path.name != CONCLUSION)
    except OSError as error:
        raise BadInput(f"{directory}: cannot read the directory: {error.strerror}") from None


def read_folder(directory: Path) -> Folder:
    """Every run in DIRECTORY.  BadInput names each file that is broken."""
    folder = Folder()
    broken = []
    for path in json_files(directory):
        try:
            found = read_file(path)
        except BadInput as error:
            broken.append(str(error))
            continue
        if isinstance(found, str):
            folder.left_out.append(found)
        elif isinstance(found, Traced):
            folder.traced.append(found)
        elif isinstance(found, Explained):
            folder.explained.append(found)
        else:
            folder.measured.append(found)
    if broken:
        raise BadInput("\n".join(broken))
    if not folder.measured and not folder.traced and not folder.explained:
        why = "; ".join(note.rstrip(".") for note in folder.left_out)
        raise BadInput(
            f"{directory}: no result of ferry bench in it"
            + (f" ({why})" if why else "; 'ferry bench BENCH --json FILE.json' makes one")
        )
    if (directory / CONCLUSION).exists():
        folder.conclusions.append(directory / CONCLUSION)
    folder.measured.sort(key=lambda measured: (measured.run.started, measured.file))
    return folder


def read_folders(directories: Sequence[Path]) -> Folder:
    """The runs of all DIRECTORIES; with several, files are named with theirs."""
    if len(directories) == 1:
        return read_folder(directories[0])
    whole = Folder()
    short = len({directory.name for directory in directories}) == len(directories)
    for directory in directories:
        folder = read_folder(directory)
        place = f"{directory.name if short else directory}/"
        whole.measured += [Measured(place + each.file, each.run) for each in folder.measured]
        whole.traced += [Traced(place + each.file, each.trace) for each in folder.traced]
        whole.explained += [Explained(place + each.file, each.regions) for each in folder.explained]
        whole.left_out += [place + note for note in folder.left_out]
    return whole


def replace(path: Path, content: bytes) -> None:
    """The new file has the permissions of the old one, or the default permissions."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    file = temporary.open("xb")
    try:
        with file:
            if path.exists():
                shutil.copymode(path, temporary)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_undisturbed(path: Path, content: bytes) -> None:
    """Ctrl-C waits until the new file is in place, or its temporary file is gone."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    try:
        replace(path, content)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def write_out(content: bytes) -> None:
    """Writes to standard output, which Python does not have if it was closed."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError:
        with suppress(OSError):
            sys.stdout.close()  # else Python writes the rest again when it ends
        raise


def write(name: str, content: bytes) -> None:
    """Writes CONTENT to the file NAME, or to standard output for "-"."""
    path = Path(name)
    try:
        if name == "-":
            write_out(content)
        elif path.exists() and not path.is_file():
            path.write_bytes(content)
        else:
            replace_undisturbed(Path(os.path.realpath(path)), content)
    except OSError as error:
        place = "standard output" if name == "-" else f"{name}: cannot write"
        raise BadInput(f"{place}: {error.strerror}") from None
