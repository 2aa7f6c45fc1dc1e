# SPDX-License-Identifier: MIT
"""The series: patches are assembled, the same each time, and refused by name."""

import subprocess
from pathlib import Path

import pytest
from conftest import write_patch

from lab import LabError
from lab.kernels import series

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
    write_patch(made, "0002-second", v6_v12_diff="")
    (made / "0002-second" / "6.12.diff").write_text(hunk(30).replace("+30,6", "+31,6"))
    (made / "0002-second" / "7.3.diff").write_text(hunk(30).replace("+30,6", "+31,6"))
    third = write_patch(made, "0003-new-only")
    (third / "7.3.diff").write_text(hunk(20).replace("+20,6", "+21,6"))
    return made


def test_files_and_hunks_arrive(toy: Path, tree: Path) -> None:
    made = series.assemble(tree, series.read_series("6.12", toy), toy / "cover")
    assert made.files["kernel/toy.c"] == (b"int toy;\n", 0o644)
    assert made.files["kernel/sys.c"][0].count(b"added\n") == 2
    assert set(made.files) == {"kernel/toy.c", "kernel/sys.c"}
    assert "added" not in (tree / "kernel" / "sys.c").read_text()


def test_a_patch_for_another_version_is_left_out(toy: Path) -> None:
    names = {
        version: [p.name for p in series.read_series(version, toy)] for version in ("6.12", "7.3")
    }
    assert names["6.12"] == ["0001-toy", "0002-second"]
    assert names["7.3"] == ["0001-toy", "0002-second", "0003-new-only"]


def test_assembly_is_the_same_each_time(toy: Path, tree: Path) -> None:
    patches = series.read_series("6.12", toy)
    first, second = (series.assemble(tree, patches, toy / "cover") for _ in range(2))
    assert first == second


def test_mails_can_be_applied(toy: Path, tree: Path, tmp_path: Path) -> None:
    (toy / "cover").write_text("toy: a series\n\nWhat all of it is for.\n")
    made = series.assemble(tree, series.read_series("6.12", toy), toy / "cover")
    assert list(made.mails) == [
        "0000-cover-letter.patch",
        "0001-toy-0001-toy.patch",
        "0002-toy-0002-second.patch",
    ]
    letter = made.mails["0000-cover-letter.patch"]
    assert "Subject: [PATCH 0/2] toy: a series" in letter
    assert "What all of it is for." in letter
    assert "2 files changed" in letter
    for name, mail in made.mails.items():
        assert "From: A Tester <tester@example.org>" in mail
        assert "\nDate:" not in mail
        (tmp_path / name).write_text(mail)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-qm", "base"],
        ["am", "-q", *sorted(str(p) for p in tmp_path.glob("000[1-9]*.patch"))],
    ):
        subprocess.run([*git, *arguments], cwd=tree, check=True)
    for name, (content, _) in made.files.items():
        assert (tree / name).read_bytes() == content
    log = subprocess.run(
        ["git", "log", "-2", "--format=%an %B"],
        cwd=tree,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert log.count("Signed-off-by: A Tester <tester@example.org>") == 2


def test_moved_lines_do_not_matter(toy: Path, tree: Path) -> None:
    source = tree / "kernel" / "sys.c"
    source.write_text("new line of a newer Debian revision\n" * 7 + source.read_text())
    made = series.assemble(tree, series.read_series("6.12", toy), toy / "cover")
    assert made.files["kernel/sys.c"][0].count(b"added\n") == 2


def test_changed_context_names_patch_and_file(toy: Path, tree: Path) -> None:
    source = tree / "kernel" / "sys.c"
    source.write_text(source.read_text().replace("line 31\n", "line thirty-one\n"))
    with pytest.raises(LabError, match=r"0002-second \(6\.12\.diff\).*kernel/sys\.c, line 30"):
        series.assemble(tree, series.read_series("6.12", toy), toy / "cover")


def test_missing_file_of_the_tree_is_named(toy: Path, tree: Path) -> None:
    (tree / "kernel" / "sys.c").unlink()
    with pytest.raises(LabError, match=r"0001-toy \(any\.diff\).*kernel/sys\.c"):
        series.assemble(tree, series.read_series("6.12", toy), toy / "cover")


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
    assert all(series.SIGNED_OFF.search(patch.message) for patch in patches)
