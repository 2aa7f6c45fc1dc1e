# SPDX-License-Identifier: MIT
"""`ferry cc` as a compiler: its options, its remarks, and that explaining changes no code."""

import subprocess
from pathlib import Path

import pytest
from conftest import FerryCc, regions

COPY = """\
#include <fcntl.h>
#include <unistd.h>
extern void other(void);
long head(const char *path, char *to)
{
    long n;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    n = read(fd, to, 512);
    close(fd);
    other();
    return n + fsync(1);
}
"""
CXX = """\
#include <fcntl.h>
#include <unistd.h>
long head(const char *path, char *to)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    long n = read(fd, to, 512);
    close(fd);
    return n;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "copy.c"
    path.write_text(COPY)
    return path


def test_remarks_name_the_region_its_end_and_its_program(ferry_cc: FerryCc, source: Path) -> None:
    done = ferry_cc(["--explain", "--crossing=100"], "-O2", "-c", source.name)
    assert done.returncode == 0
    assert done.stdout == ""
    assert (
        "copy.c:7:14: remark: 3 calls, 3 in a row if none fails: open read close; "
        "2 crossings fewer, about 0.2 us here [-Rpass=ferry]\n"
    ) in done.stderr
    assert (
        "copy.c:12:5: remark: the region of line 7 ends: other() may do anything; to extend it, "
        "call it before the first or after the last of these calls [-Rpass-analysis=ferry]\n"
    ) in done.stderr
    assert "    s1: openat(AT_FDCWD, path1, 0, 0)  fail -> end\n" in done.stderr
    assert "alone" not in done.stderr


def test_calls_alone_are_shown_on_request(ferry_cc: FerryCc, source: Path) -> None:
    done = ferry_cc(["--explain"], "-Rpass-missed=ferry", "-O2", "-c", source.name)
    assert "copy.c:13:16: remark: fsync stays alone: the function ends" in done.stderr


def test_the_crossing_is_measured(ferry_cc: FerryCc, source: Path) -> None:
    (region, _) = regions(ferry_cc(["--explain=json"], "-O2", "-c", source.name).stdout)
    assert 2 < region["saved_ns"] < 200_000


@pytest.mark.parametrize("options", [["--explain"], ["--explain=json"]])
@pytest.mark.parametrize("debug", [[], ["-g"]])
def test_explaining_leaves_the_code_as_it_is(
    ferry_cc: FerryCc, source: Path, tmp_path: Path, llvm: str, options: list[str], debug: list[str]
) -> None:
    compile_it = ["-O2", *debug, "-c", source.name, "-o"]
    assert ferry_cc(options, *compile_it, "explained.o").returncode == 0
    subprocess.run([f"clang-{llvm}", *compile_it, "plain.o"], cwd=tmp_path, check=True)
    assert (tmp_path / "explained.o").read_bytes() == (tmp_path / "plain.o").read_bytes()


def test_json_is_appended_to_a_file(ferry_cc: FerryCc, source: Path, tmp_path: Path) -> None:
    for _ in range(2):
        done = ferry_cc(["--explain=json:all.json"], "-O2", "-c", source.name)
        assert (done.stdout, done.stderr) == ("", "")
    assert len(regions((tmp_path / "all.json").read_text())) == 4


def test_a_file_that_cannot_be_written_is_named(ferry_cc: FerryCc, source: Path) -> None:
    done = ferry_cc(["--explain=json:/nonexistent/all.json"], "-O2", "-c", source.name)
    assert "ferry: cc: cannot write to /nonexistent/all.json" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["-O0"],
        ["-O2", "-fno-builtin"],
        ["-O2", "-fsanitize=address"],
        ["-O2", "-fsanitize=thread"],
        ["-O2", "-m32", "-ffreestanding", "-Dopen(...)=0", "-fsyntax-only"],
    ],
)
def test_where_calls_may_be_others_none_is_explained(
    ferry_cc: FerryCc, source: Path, words: list[str]
) -> None:
    done = ferry_cc(["--explain"], *words, "-Werror", "-Wno-everything", "-c", source.name)
    assert "in a row" not in done.stderr


def test_linking_gives_no_warning(ferry_cc: FerryCc, source: Path, tmp_path: Path) -> None:
    source.write_text(COPY + "void other(void) {}\nint main(void) { return 0; }\n")
    assert ferry_cc(["--explain=json:all.json"], "-O2", "-c", source.name).returncode == 0
    linked = ferry_cc(["--explain"], "-Werror", "copy.o", "-o", "program")
    assert (linked.returncode, linked.stderr) == (0, "")
    subprocess.run([tmp_path / "program"], check=True)


def test_cxx_is_compiled_too(ferry_cc: FerryCc, tmp_path: Path) -> None:
    (tmp_path / "copy.cc").write_text(CXX)
    done = ferry_cc(["--explain=json"], "-O2", "-c", "copy.cc", command="c++")
    assert done.returncode == 0
    assert [region["calls"] for region in regions(done.stdout)] == [["open", "read", "close"]]


def test_clang_answers_what_is_not_ferrys(ferry_cc: FerryCc, llvm: str) -> None:
    done = ferry_cc(["--explain"], "--version")
    assert f"clang version {llvm}." in done.stdout
    assert ferry_cc(["--explain"], "-c", "nothing.c").returncode == 1
    assert ferry_cc([], "-v").returncode == 0
    assert "no input files" in ferry_cc([], "-O2").stderr


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--explain=xml", "--explain may be followed by =json or =json:FILE, not 'xml'"),
        ("--explain=json:", "--explain may be followed by =json or =json:FILE, not 'json:'"),
        ("--crossing=0", "--crossing is a number of ns above 0, not '0'"),
        ("--crossing", "--crossing is a number of ns above 0, not ''"),
        ("--llvm=3", "--llvm is a version from 14 to 19, not '3'"),
    ],
)
def test_bad_options_are_named(ferry_cc: FerryCc, option: str, message: str) -> None:
    done = ferry_cc([option])
    assert (done.returncode, done.stderr) == (2, f"ferry: cc: {message}\n")
