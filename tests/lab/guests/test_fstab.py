# SPDX-License-Identifier: MIT
"""What a guest mounts."""

import subprocess
from pathlib import Path

import pytest

from lab.guests.fstab import escape, fstab


def test_nine_p_tags_are_numbered_in_order() -> None:
    lines = fstab(False, Path("/cache/run"), [Path("/one"), Path("/two")]).splitlines()
    assert [line.split()[:3] for line in lines[-3:]] == [
        ["virtme.initmount0", "/run/root/run/ferry", "9p"],
        ["virtme.initmount1", "/run/root/one", "9p"],
        ["virtme.initmount2", "/run/root/two", "9p"],
    ]


def test_hostfs_names_the_directory() -> None:
    last = fstab(True, Path("/cache/run"), [Path("/a b")]).splitlines()[-1]
    assert last.split()[:4] == ["host", r"/run/root/a\040b", "hostfs", r"/a\040b,X-mount.mkdir"]


@pytest.mark.parametrize("uml", [True, False])
def test_mount_can_read_it(uml: bool, tmp_path: Path) -> None:
    (tmp_path / "fstab").write_text(fstab(uml, Path("/cache/run"), [Path("/a b")]))
    done = subprocess.run(
        ["findmnt", "--tab-file", tmp_path / "fstab", "--noheadings", "--raw", "-o", "TARGET"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 13


def test_backslashes_are_escaped() -> None:
    assert escape("a\\ b") == r"a\134\040b"
