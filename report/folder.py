# SPDX-License-Identifier: MIT
"""Reads a directory of results: which files are runs, which are left out, which are broken."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from .schema import ABSENT, BENCHES, MEASURED, SCHEMA, VERSION, AnyRun, Header


class BadInput(Exception):
    """One sentence for the user."""


@dataclass(frozen=True)
class Measured:
    """A run and the name of the file that holds it."""

    file: str
    run: AnyRun


@dataclass
class Folder:
    measured: list[Measured] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # a sentence for each file


def place(error: ErrorDetails) -> str:
    """The field that ERROR is about, such as rows[3].mean."""
    text = ""
    for part in error["loc"]:
        if part in (MEASURED, ABSENT):
            continue
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def sentence(path: Path, error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] == "missing":
        where = place(first)
        return f"{path}: the field '{where}' is missing; ferry-bench(5) lists what must be there"
    if first["type"].startswith("union_tag"):
        return f"{path}: the field '{place(first)}.available' is neither true nor false"
    where, message = place(first), first["msg"]
    return f"{path}: the field '{where}' is not as ferry-bench(5) has it: {message}"


def parse(path: Path) -> dict[str, object] | None:
    """The JSON object in PATH, or None when it is something else than a run of ferry bench."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: cannot read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON, or cut short: {error}") from None
    return content if isinstance(content, dict) and content.get("schema") == SCHEMA else None


def read(path: Path) -> Measured | str:
    """The run in PATH, or why it is left out."""
    content = parse(path)
    if content is None:
        return f"{path.name} is not of ferry bench."
    try:
        header = Header.model_validate(content)
        if header.version != VERSION:
            raise BadInput(
                f"{path}: version {header.version} of the format, but this ferry report "
                f"reads version {VERSION}"
            )
        if header.bench not in BENCHES:
            return f"{path.name} is of the bench '{header.bench}', which this report does not know."
        # As JSON again: only there are lists of two allowed for pairs.
        run = BENCHES[header.bench].model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise BadInput(sentence(path, error)) from None
    return Measured(path.name, run)


def json_files(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.suffix == ".json")
    except OSError as error:
        raise BadInput(f"{directory}: cannot read the directory: {error.strerror}") from None


def read_folder(directory: Path) -> Folder:
    """Every run in DIRECTORY, oldest first.  BadInput names each file that is broken."""
    folder = Folder()
    broken = []
    for path in json_files(directory):
        try:
            found = read(path)
        except BadInput as error:
            broken.append(str(error))
            continue
        if isinstance(found, str):
            folder.left_out.append(found)
        else:
            folder.measured.append(found)
    if broken:
        raise BadInput("\n".join(broken))
    if not folder.measured:
        why = "; ".join(note.rstrip(".") for note in folder.left_out)
        raise BadInput(
            f"{directory}: there is no result of ferry bench in it"
            + (f" ({why})" if why else "; 'ferry bench BENCH --json FILE.json' makes one")
        )
    folder.measured.sort(key=lambda measured: (measured.run.started, measured.file))
    return folder
