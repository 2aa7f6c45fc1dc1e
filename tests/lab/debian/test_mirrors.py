# SPDX-License-Identifier: MIT
"""The Debian mirror is found among the machine's package sources, in both of their forms."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from lab import LabError
from lab.debian import mirrors, packages
from lab.debian.mirrors import find_mirror
from lab.targets import SOURCES

STANZAS = """\
Types: deb deb-src
# A comment in the middle.
URIs: http://mirror.example/debian
Suites: bookworm
 bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main
"""
LINES = """\
# deb http://commented.example/debian trixie main
deb-src http://source.example/debian trixie main
deb [arch=amd64 signed-by=/usr/share/debian-archive-keyring.gpg] http://m.example/d trixie main
deb http://s.example/d trixie-security main contrib
"""
OTHERS = """\
deb [signed-by=/etc/other.gpg] http://other.example/debian bookworm main
deb http://tools.example/apt bookworm stable
deb http://pg.example/apt bookworm-pgdg main
"""


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_stanzas(etc: Path) -> None:
    (etc / "sources.list.d" / "debian.sources").write_text(STANZAS)
    assert find_mirror("trixie-backports", etc) == "http://mirror.example/debian"
    assert find_mirror("bookworm-security", etc) == "http://security.example/debian-security"


def test_lines(etc: Path) -> None:
    (etc / "sources.list").write_text(LINES)
    assert find_mirror("bookworm", etc) == "http://m.example/d"
    assert find_mirror("bookworm-security", etc) == "http://s.example/d"


def test_other_archives_are_not_debians(etc: Path) -> None:
    (etc / "sources.list.d" / "a-others.list").write_text(OTHERS)
    (etc / "sources.list.d" / "debian.sources").write_text(STANZAS)
    assert find_mirror("bookworm", etc) == "http://mirror.example/debian"


def test_disabled_stanzas_do_not_count(etc: Path) -> None:
    (etc / "sources.list.d" / "debian.sources").write_text(f"Enabled: no\n{STANZAS}")
    with pytest.raises(LabError, match=r"no Debian mirror.*needs the suite bookworm"):
        find_mirror("bookworm", etc)


def test_no_security_mirror(etc: Path) -> None:
    (etc / "sources.list").write_text("deb http://m.example/d bookworm main\n")
    with pytest.raises(LabError, match="no Debian security mirror"):
        find_mirror("bookworm-security", etc)


def test_no_network(etc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens on that port, which is what no network looks like to apt."""
    monkeypatch.setattr(packages, "find_mirror", lambda _suite: "http://127.0.0.1:9/debian")
    monkeypatch.setattr(packages, "transport_options", lambda: 'Acquire::Retries "0";\n')
    from lab.debian.sources import fetch, fetched

    with pytest.raises(
        LabError, match=r"cannot fetch linux-source-6\.12: .*127\.0\.0\.1.*log"
    ) as e:
        fetch(SOURCES["6.12"])
    assert "\n" not in str(e.value)
    assert fetched(SOURCES["6.12"]) is None


def test_only_how_to_reach_mirrors_is_taken_from_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dump = (
        'Acquire "";\nAcquire::http::Proxy "http://proxy.example:3128";\nAcquire::Retries "3";\n'
        'Acquire::IndexTargets::deb::DEP-11 "";\nAcquire::Languages "en";\n'
    )
    done = subprocess.CompletedProcess([], 0, stdout=dump)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    assert packages.transport_options() == (
        'Acquire::http::Proxy "http://proxy.example:3128";\nAcquire::Retries "3";\n'
    )


def test_our_tree_names_no_mirror() -> None:
    for path in (ROOT / "lab").rglob("*.py"):
        assert "debian.org" not in path.read_text()


def test_the_machines_configuration_is_not_touched(tmp_path: Path) -> None:
    """Fetching with an unreachable mirror writes below the cache only."""
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from lab.debian import packages\n"
        "packages.find_mirror = lambda _: 'http://127.0.0.1:9/debian'\n"
        "from lab.command_line import main\n"
        "sys.exit(main(['fetch', '7.3']))\n"
    )
    trace = tmp_path / "trace"
    done = subprocess.run(
        [
            *("strace", "-f", "-qq", "-e", "trace=open,openat,rename,unlink", "-o", trace),
            *(sys.executable, "-c", script),
        ],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 125, done.stderr
    assert done.stderr.count("\n") == 2
    for line in trace.read_text().splitlines():
        written = "O_WRONLY" in line or "O_RDWR" in line or "rename(" in line or "unlink(" in line
        outside = ('"/etc/', '"/var/lib/apt', '"/var/lib/dpkg', '"/var/cache/apt')
        assert not (written and any(place in line for place in outside)), line


def test_mirrors_are_read_from_etc() -> None:
    assert Path("/etc/apt") == mirrors.ETC
