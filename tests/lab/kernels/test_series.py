# SPDX-License-Identifier: MIT
"""The series: patches are assembled, the same each time, and refused by name."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import write_patch

from lab import LabError
from lab.kernels import series
from lab.kernels.steps import steps
from lab.targets import find_target

AUTHOR = ("A Tester", "tester@example.org")
MANIFEST = """
[[series]]
name = "toy"
patches = ["0001-toy", "0002-second"]
[[series]]
name = "new"
patches = ["0003-new-only"]
after = ["toy"]
experimental = true
"""
HUNK = """\
--- a/kernel/sys.c
+++ b/kernel/sys.c
@@ -{at},5 +{at},6 @@
 line {a}
 line {b}
+added
 line {c}
 line {d}
 line {e}
"""


def hunk(at: int) -> str:
    return HUNK.format(at=at, a=at, b=at + 1, c=at + 2, d=at + 3, e=at + 4)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A series of two patches for both versions, and one for 7.3 only."""
    here = tmp_path / "repository"
    (here / "kernel").mkdir(parents=True)
    (here / "kernel" / "toy.c").write_text("int toy;\n")
    monkeypatch.setattr(series, "REPOSITORY", here)
    made = here / "series"
    write_patch(made, "0001-toy", files="kernel/toy.c <- kernel/toy.c\n", any_diff=hunk(10))
    second = write_patch(made, "0002-second", any_diff=hunk(20))
    (second / "6.12.diff").write_text(hunk(30) + hunk(36).partition("sys.c\n@")[2].join(["@", ""]))
    (second / "7.3.diff").write_text(hunk(30))
    third = write_patch(made, "0003-new-only")
    (third / "7.3.diff").write_text(hunk(2))
    (made / "series.toml").write_text(MANIFEST)
    (made / "cover-toy").write_text("toy: a series\n\nWhat all of it is for.\n")
    return made


def assemble(toy: Path, tree: Path, base: str = "this tree") -> series.Files:
    return series.assemble(tree, series.read_series("6.12", toy), base)


def mails(
    toy: Path, tree: Path, author: tuple[str, str] | None, name: str = "toy", version: str = "6.12"
) -> dict[str, str]:
    wanted = next(row for row in series.read_manifest(toy) if row.name == name)
    patches = series.read_series(version, toy)
    return series.mails(tree, wanted, patches, author, upstream="v6.12.1", directory=toy)


def test_files_and_hunks_arrive(toy: Path, tree: Path) -> None:
    files = assemble(toy, tree)
    assert files["kernel/toy.c"] == (b"int toy;\n", 0o644)
    assert files["kernel/sys.c"][0].count(b"added\n") == 4
    assert set(files) == {"kernel/toy.c", "kernel/sys.c"}
    assert "added" not in (tree / "kernel" / "sys.c").read_text()


def test_a_folder_stands_for_its_c_files(toy: Path, tree: Path) -> None:
    folder = toy.parent / "tests"
    folder.mkdir()
    for name in ("one.c", "one.h", "one.c~"):
        (folder / name).write_text(name)
    (toy / "0001-toy" / "files").write_text("tools/toy <- tests\n")
    assert {name for name in assemble(toy, tree) if name.startswith("tools/")} == {
        "tools/toy/one.c",
        "tools/toy/one.h",
    }


def test_a_patch_for_another_version_is_left_out(toy: Path) -> None:
    names = {
        version: [p.name for p in series.read_series(version, toy)] for version in ("6.12", "7.3")
    }
    assert names["6.12"] == ["0001-toy", "0002-second"]
    assert names["7.3"] == ["0001-toy", "0002-second", "0003-new-only"]


def test_mails_are_the_same_each_time_and_can_be_applied(
    toy: Path, tree: Path, tmp_path: Path
) -> None:
    files = assemble(toy, tree)
    made = mails(toy, tree, AUTHOR)
    assert made == mails(toy, tree, AUTHOR)
    assert list(made) == [
        "0000-cover-letter.patch",
        "0001-toy-0001-toy.patch",
        "0002-toy-0002-second.patch",
    ]
    letter = made["0000-cover-letter.patch"]
    assert "Subject: [PATCH 0/2] toy: a series" in letter
    assert "What all of it is for." in letter
    assert "2 files changed" in letter
    assert letter.endswith("\n\nbase-commit: v6.12.1\n")
    for mail in made.values():
        assert "From: A Tester <tester@example.org>" in mail
        assert "\nDate:" not in mail
        assert series.NOT_FOR_MAILING not in mail
    assert git_am(made, tree, tmp_path).count("Signed-off-by: A Tester <tester@example.org>") == 2
    for name, (content, _) in files.items():
        assert (tree / name).read_bytes() == content


def test_git_mails_no_draft_but_applies_it(toy: Path, tree: Path, tmp_path: Path) -> None:
    made = mails(toy, tree, None)
    for mail in made.values():
        # git send-email looks for these words in the line of the subject.
        assert f"\nSubject: [PATCH DRAFT {series.NOT_FOR_MAILING} " in mail
        assert "Signed-off-by" not in mail
    assert "*** 0/2] toy: a series\n" in made["0000-cover-letter.patch"]
    log = git_am(made, tree, tmp_path)
    assert "Draft toy: 0002-second\n" in log


def git_am(mails: dict[str, str], tree: Path, folder: Path) -> str:
    """The log of a repository of TREE after MAILS were applied there."""
    patches = []
    for name, mail in mails.items():
        (folder / name).write_text(mail)
        patches += [str(folder / name)] if not name.startswith("0000-") else []
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "base"]):
        subprocess.run([*git, *arguments], cwd=tree, check=True)
    subprocess.run([*git, "am", "-q", *patches], cwd=tree, check=True)
    log = [*git, "log", "-2", "--format=%an %B"]
    return subprocess.run(log, cwd=tree, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_a_series_applies_after_those_that_it_needs(toy: Path, tree: Path) -> None:
    assert mails(toy, tree, AUTHOR, "new") == {}  # for 7.3 only
    ((name, mail),) = mails(toy, tree, AUTHOR, "new", "7.3").items()
    assert name == "0001-toy-0003-new-only.patch"
    assert "\nSubject: [RFC PATCH] toy: 0003-new-only\n" in mail
    assert re.search(
        r"\n\nbase-commit: v6\.12\.1\n(prerequisite-patch-id: [0-9a-f]{40}\n){2}\Z", mail
    )


def test_who_mails_is_in_the_diffs(toy: Path, tree: Path) -> None:
    maintainers = toy / "0001-toy" / "any.diff"
    maintainers.write_text(maintainers.read_text().replace("+added", "+M:\t@AUTHOR@"))
    patch = mails(toy, tree, AUTHOR)["0001-toy-0001-toy.patch"]
    assert "\n+M:\tA Tester <tester@example.org>\n" in patch
    assert b"M:\tDraft <draft@ferry.invalid>\n" in assemble(toy, tree)["kernel/sys.c"][0]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('"0001-toy", ', "", "0001-toy is in 0 series, not in one"),
        ('"0003-new-only"', '"0003-new-only", "0001-toy"', "0001-toy is in 2 series, not in one"),
        ('"0001-toy"', '"0001-toy", "0009-none"', "there is no patch 0009-none"),
        ('after = ["toy"]', 'after = ["newer"]', "new needs newer, which is not before it"),
        ('name = "new"', "", "'name'"),
        ("[[series]]", "[[series", "series.toml: "),
    ],
)
def test_bad_manifest(toy: Path, before: str, after: str, says: str) -> None:
    (toy / "series.toml").write_text(MANIFEST.replace(before, after))
    with pytest.raises(LabError, match=re.escape(says)):
        series.read_manifest(toy)


def test_every_real_patch_is_mailed() -> None:
    names = {row.name for row in series.read_manifest()}
    assert {"batch", "flexsc"} <= names
    covers = {path.name.removeprefix("cover-") for path in series.SERIES.glob("cover-*")}
    assert {"batch", "flexsc"} <= covers <= names


def test_a_step_has_the_patches_that_it_needs_and_no_others() -> None:
    target = find_target("uml-7.3")
    found = {name: step.only for name, step in steps(target, ["batch", "batch-um"])}
    batch = next(row.patches for row in series.read_manifest() if row.name == "batch")
    assert [*found.values()][: len(batch)] == [
        tuple(batch[:count]) for count in range(1, len(batch) + 1)
    ]
    assert found["batch-um: 0015-um"] == ("0009-um-words", *batch, "0015-um")


def test_steps_name_the_series() -> None:
    with pytest.raises(LabError, match="there is no series 'none'; the series are um-words, "):
        list(steps(find_target("uml-7.3"), ["none"]))
    with pytest.raises(LabError, match="debian-6.12 has no series"):
        list(steps(find_target("debian-6.12"), []))


def test_an_author_has_a_name_and_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert series.find_author("A Tester <tester@example.org>") == AUTHOR
    for wrong in ("A Tester", "<tester@example.org>", "A <tester>", "A <a@b> c"):
        with pytest.raises(LabError, match="is not of the form 'NAME <ADDRESS>'"):
            series.find_author(wrong)


def test_the_author_is_gits_else_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\nname = A Tester\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)
    assert series.find_author(None) is None
    config.write_text("[user]\nname = A Tester\nemail = tester@example.org\n")
    assert series.find_author(None) == AUTHOR


def test_moved_lines_do_not_matter(toy: Path, tree: Path) -> None:
    source = tree / "kernel" / "sys.c"
    source.write_text("new line of a newer Debian revision\n" * 7 + source.read_text())
    assert assemble(toy, tree)["kernel/sys.c"][0].count(b"added\n") == 4


def test_the_hunk_that_does_not_apply_is_named(toy: Path, tree: Path) -> None:
    source = tree / "kernel" / "sys.c"
    source.write_text(source.read_text().replace("line 37\n", "line thirty-seven\n"))
    with pytest.raises(LabError) as error:
        assemble(toy, tree, "linux-source-6.12 6.12.120-1; last tested 6.12.117-1")
    assert str(error.value) == (
        "series/0002-second/6.12.diff: hunk 2 (kernel/sys.c:36) does not apply to"
        " linux-source-6.12 6.12.120-1; last tested 6.12.117-1"
    )


def test_missing_file_of_the_tree_is_named(toy: Path, tree: Path) -> None:
    (tree / "kernel" / "sys.c").unlink()
    with pytest.raises(LabError, match=r"0001-toy/any\.diff does not apply to .*: kernel/sys\.c"):
        assemble(toy, tree)


@pytest.mark.parametrize(
    ("listing", "says"),
    [
        ("kernel/toy.c\n", "PATH-IN-TREE <- PATH-HERE"),
        ("kernel/toy.c <- kernel/none.c\n", "there is no file kernel/none.c"),
    ],
)
def test_bad_list_of_files(toy: Path, listing: str, says: str) -> None:
    (toy / "0001-toy" / "files").write_text(listing)
    with pytest.raises(LabError, match=says):
        series.read_series("6.12", toy)


def test_patch_without_message(toy: Path) -> None:
    (toy / "0001-toy" / "message").unlink()
    with pytest.raises(LabError, match="0001-toy/message is missing"):
        series.read_series("6.12", toy)


def test_patch_without_content(toy: Path) -> None:
    write_patch(toy, "0004-nothing")
    with pytest.raises(LabError, match="0004-nothing has neither"):
        series.read_series("6.12", toy)


@pytest.mark.parametrize("version", ["6.12", "7.3"])
def test_the_real_series_can_be_read(version: str) -> None:
    patches = series.read_series(version)
    assert patches
    assert not any("Signed-off-by" in patch.message for patch in patches)


def test_no_hunk_of_the_real_series_is_there_once_for_each_version() -> None:
    for any_diff in series.SERIES.glob("*/6.12.diff"):
        hunks = [
            set(re.split(r"^@@.*@@.*\n", path.read_text(), flags=re.M)[1:])
            for path in (any_diff, any_diff.with_name("7.3.diff"))
        ]
        assert not hunks[0] & hunks[1], f"{any_diff} and 7.3.diff share hunks: any.diff is for them"
