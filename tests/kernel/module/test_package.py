# SPDX-License-Identifier: MIT
"""The Debian package ferry-dkms: its contents, and that its build is reproducible."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
MODULE = REPOSITORY / "kernel" / "module"

pytestmark = pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="there is no dpkg-deb")


def make_package(directory: Path, date: str = "1790000000") -> Path:
    directory.mkdir()
    done = subprocess.run(
        [str(MODULE / "package"), str(directory)],
        env=os.environ | {"SOURCE_DATE_EPOCH": date},
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


def unpack(package: Path, directory: Path) -> Path:
    subprocess.run(["dpkg-deb", "-R", str(package), str(directory)], check=True)
    return directory


def test_the_same_tree_gives_the_same_package(tmp_path: Path) -> None:
    first, second = make_package(tmp_path / "a"), make_package(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [first.name]


def test_the_version_is_the_projects_everywhere(tmp_path: Path) -> None:
    version = re.search(r"version: '(.*)'", (REPOSITORY / "meson.build").read_text())
    assert version
    package = make_package(tmp_path / "made")
    assert package.name == f"ferry-dkms_{version[1]}_all.deb"
    root = unpack(package, tmp_path / "root")
    conf = (root / "usr/src" / f"ferry-{version[1]}" / "dkms.conf").read_text()
    assert f'PACKAGE_VERSION="{version[1]}"' in conf
    for path in (root / "DEBIAN").iterdir():
        assert "@VERSION@" not in path.read_text(), path.name


def test_every_header_that_the_source_names_is_in_it(tmp_path: Path) -> None:
    root = unpack(make_package(tmp_path / "made"), tmp_path / "root")
    source = next((root / "usr/src").glob("ferry-*"))
    kbuild = (source / "kernel/module/Kbuild").read_text().replace("\\\n", " ")
    objects = re.search(r"^ferry-y := (.*)$", kbuild, re.M)
    assert objects
    for name in objects[1].split():
        assert (source / "kernel/module" / name).with_suffix(".c").exists(), name
    for path in source.rglob("*.[ch]"):
        for include in re.findall(r'^#include "(.*)"', path.read_text(), re.M):
            assert (path.parent / include).exists(), f"{path}: {include}"
        for include in re.findall(
            r"^#include <((?:uapi/)?linux/ferry\S*)>", path.read_text(), re.M
        ):
            places = (source, source / "kernel/module/compat")
            assert any((place / include).exists() for place in places), f"{path}: {include}"


def test_a_version_that_differs_is_refused(tmp_path: Path) -> None:
    for name in ("kernel", "man", "doc", "uapi"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    (tmp_path / "meson.build").write_text("project('ferry', 'c',\n  version: '9.9.9',\n")
    done = subprocess.run(
        [str(tmp_path / "kernel/module/package"), str(tmp_path)],
        env=os.environ | {"SOURCE_DATE_EPOCH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "is not 9.9.9" in done.stderr
    assert not list(tmp_path.glob("*.deb"))


def test_a_missing_directory_is_named() -> None:
    done = subprocess.run(
        [str(MODULE / "package"), "/nonexistent"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "/nonexistent is not a directory" in done.stderr


@pytest.mark.skipif(not shutil.which("lintian"), reason="there is no lintian")
def test_lintian_has_no_complaint(tmp_path: Path) -> None:
    package = make_package(tmp_path / "made")
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", str(package)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
