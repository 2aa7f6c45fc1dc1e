# SPDX-License-Identifier: MIT
"""The Debian mirrors that this machine's own package sources name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from lab import LabError

ETC = Path("/etc/apt")
DEBIAN = {"bookworm", "trixie", "forky", "sid", "oldstable", "stable", "testing", "unstable"}
POCKETS = {"", "updates", "proposed-updates", "backports", "security"}
ONE_LINE = re.compile(
    r"\s*deb\s+(?:\[(?P<options>[^]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)(?P<components>[^#]*)"
)


@dataclass(frozen=True)
class Entry:
    """One stanza or line of the package sources."""

    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str


def read_stanzas(text: str) -> Iterator[Entry]:
    """The entries of a .sources file, whose stanzas are folded as the head of a mail is."""
    for stanza in re.split(r"\n\s*\n", re.sub(r"^#.*\n?", "", text, flags=re.M)):
        fields = HeaderParser().parsestr(stanza.lstrip())
        uris, suites, components = (
            tuple(fields.get(name, "").split()) for name in ("URIs", "Suites", "Components")
        )
        if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes") != "no":
            yield Entry(uris, suites, components, fields.get("Signed-By", ""))


def read_lines(text: str) -> Iterator[Entry]:
    """The entries of a .list file."""
    for found in filter(None, map(ONE_LINE.match, text.splitlines())):
        signed_by = re.search(r"signed-by=(\S+)", found["options"] or "")
        components = tuple(found["components"].split())
        key = signed_by[1] if signed_by else ""
        yield Entry((found["uri"],), (found["suite"],), components, key)


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
