# SPDX-License-Identifier: MIT
"""./release in a repository of its own, whose make check is a line."""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FILES = {
    "meson.build": "project('ferry', 'c',\n  version: '1.2.3',\n",
    "CHANGELOG.md": "# Changes\n\n## 1.2.3 - 2026-11-22\n\n### Added\n- All.\n",
    "debian/changelog": "ferry (1.2.3) unstable; urgency=medium\n",
    "Makefile": "check:\n\t@echo checked\n",
    ".gitignore": "/build*/\n",
}


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name, text in FILES.items():
            self.write(name, text)
        shutil.copy(REPOSITORY / "release", folder)
        self.git("init", "--quiet")
        self.commit()

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def git(self, *arguments: str) -> None:
        who = {
            f"GIT_{role}_{what}": "a@b"
            for role in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        when = {"GIT_AUTHOR_DATE": "1790000000 +0000", "GIT_COMMITTER_DATE": "1790000000 +0000"}
        subprocess.run(
            ["git", *arguments], cwd=self.folder, env=os.environ | who | when, check=True
        )

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "A change")

    def release(self, *results: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["./release", *results], cwd=self.folder, capture_output=True, text=True, check=False
        )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "one")


def test_the_same_commit_gives_the_same_archives(project: Project, tmp_path: Path) -> None:
    sums = []
    for one in (project, Project(tmp_path / "two")):
        done = one.release()
        assert done.returncode == 0, done.stderr
        assert "checked" in done.stdout
        sums.append((one.folder / "build/release/SHA256SUMS").read_text())
    assert sums[0] == sums[1]
    assert sums[0].count("ferry-1.2.3.tar.") == 2
    with tarfile.open(project.folder / "build/release/ferry-1.2.3.tar.xz") as archive:
        assert {f"ferry-1.2.3/{name}" for name in FILES} <= set(archive.getnames())


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("meson.build", "project('ferry')\n", "meson.build names no version"),
        ("CHANGELOG.md", "## Unreleased\n\n## 1.2.3 - 2026-11-22\n", "is 'Unreleased', and not"),
        ("debian/changelog", "ferry (1.2.2) unstable\n", "is 1.2.2, and not 1.2.3"),
        ("Makefile", "check:\n\t@false\n", "make check failed"),
    ],
)
def test_what_is_no_release_is_refused(project: Project, name: str, text: str, says: str) -> None:
    project.write(name, text)
    project.commit()
    done = project.release()
    assert done.returncode == 1
    assert says in done.stderr
    assert not (project.folder / "build").exists()


def test_changes_are_refused(project: Project) -> None:
    project.write("CHANGELOG.md", FILES["CHANGELOG.md"] + "- More.\n")
    assert "changes that are not committed" in project.release().stderr


def test_whole_documents_get_an_archive_of_their_own(project: Project, tmp_path: Path) -> None:
    document = tmp_path / "results" / "machine" / "crossing.json"
    document.parent.mkdir(parents=True)
    document.write_text("{}")
    done = project.release(tmp_path / "results")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ferry-1.2.3-results.tar.xz") == 1
    with tarfile.open(project.folder / "build/release/ferry-1.2.3-results.tar.xz") as archive:
        assert "ferry-1.2.3-results/machine/crossing.json" in archive.getnames()


def test_a_version_is_released_once(project: Project) -> None:
    project.git("tag", "v1.2.3")
    assert project.release().returncode == 0
    project.write("new", "")
    project.commit()
    assert "v1.2.3 is another commit" in project.release().stderr
