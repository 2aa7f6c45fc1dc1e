# SPDX-License-Identifier: MIT
"""The Debian mirrors that this machine's own package sources name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab import LabError

ETC = Path("/etc/apt")
DEBIAN = {"bookworm", "trixie", "forky", "sid", "oldstable", "stable", "testing", "unstable"}
POCKETS = {"", "updates", "proposed-updates", "backports", "security"}
ONE_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^]]*)\]\s+)?(?P<rest>.+)")


@dataclass(frozen=True)
class Entry:
    """One stanza or line of the package sources."""

    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str


def read_stanzas(text: str) -> Iterator[Entry]:
    """The entries of a .sources file."""
    text = re.sub(r"^#.*\n?", "", text, flags=re.M)
    for stanza in re.split(r"\n\s*\n", text):
        unfolded = re.sub(r"\n[ \t]+", " ", stanza)
        fields = {
            name.strip().lower(): value.strip()
            for name, colon, value in (line.partition(":") for line in unfolded.splitlines())
            if colon
        }
        if "deb" in fields.get("types", "").split() and fields.get("enabled", "yes") != "no":
            yield Entry(
                tuple(fields.get("uris", "").split()),
                tuple(fields.get("suites", "").split()),
                tuple(fields.get("components", "").split()),
                fields.get("signed-by", ""),
            )


def read_lines(text: str) -> Iterator[Entry]:
    """The entries of a .list file."""
    for line in text.splitlines():
        match = ONE_LINE.fullmatch(line.partition("#")[0].strip())
        if not match:
            continue
        uri, suite, *components = match["rest"].split()
        signed_by = re.search(r"signed-by=(\S+)", match["options"] or "")
        yield Entry((uri,), (suite,), tuple(components), signed_by[1] if signed_by else "")


def read_entries(etc: Path) -> Iterator[Entry]:
    for path in (etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))):
        if not path.is_file():
            continue
        if path.suffix == ".sources":
            yield from read_stanzas(path.read_text())
        elif path.suffix == ".list":
            yield from read_lines(path.read_text())


def is_debians(entry: Entry) -> bool:
    """Whether it is Debian's archive, not another that borrows the names of its suites."""
    signed_by_debian = not entry.signed_by or "debian-archive" in entry.signed_by
    return "main" in entry.components and signed_by_debian


def find_mirror(suite: str, etc: Path = ETC) -> str:
    """The address that holds SUITE; security suites have a mirror of their own."""
    wanted_security = suite.endswith("-security")
    for entry in filter(is_debians, read_entries(etc)):
        for configured in entry.suites:
            name, _, pocket = configured.partition("-")
            known = name in DEBIAN and pocket in POCKETS
            if known and (pocket == "security") == wanted_security:
                return entry.uris[0]
    kind = "security mirror" if wanted_security else "mirror"
    raise LabError(
        f"no Debian {kind} is among this machine's package sources in {etc},"
        f" and the lab needs the suite {suite}"
    )
