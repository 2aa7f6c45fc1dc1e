# SPDX-License-Identifier: MIT
"""ferry du counts what the machine's du counts, to the byte."""

import json
import os
import pty
import random
import subprocess
from pathlib import Path

import pytest
from conftest import Ferry, read_terminal

# Root reads whatever it likes, unless it has no capabilities.
WITHOUT_PRIVILEGES = ["setpriv", "--bounding-set=-all"] if os.getuid() == 0 else []


def fill(folder: Path, seed: int) -> None:
    """Files, sparse ones, symbolic links, FIFOs, odd names, and hard links within a directory."""
    chance = random.Random(seed)
    folders = [folder]
    for number in range(300):
        place = chance.choice(folders)
        names = [f"f{number}", f"new\nline{number}", f"öäü {number}", "é" * 99]
        path = place / chance.choice(names)
        if path.exists() or path.is_symlink():
            continue
        kind = chance.randrange(8)
        if kind == 0:
            path.mkdir()
            folders.append(path)
        elif kind == 1:
            path.symlink_to(chance.choice(["..", "nowhere", "/usr"]))
        elif kind == 2:
            with path.open("wb") as file:
                file.truncate(chance.randrange(1 << 30))
        elif kind == 3:
            os.mkfifo(path)
        else:
            path.write_bytes(bytes(chance.randrange(20000)))
            if kind == 4:
                os.link(path, place / f"link{number}")


def link_across(folder: Path) -> None:
    for number, path in enumerate([p for p in folder.rglob("f*") if p.is_file()][:40]):
        (folder / f"other{number % 3}").mkdir(exist_ok=True)
        os.link(path, folder / f"other{number % 3}" / str(number))


def du(*args: str | Path, sep: bytes = b"\n", **more: object) -> list[bytes]:
    done = subprocess.run(
        ["du", *args],
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        **more,  # type: ignore[call-overload]
    )
    return sorted(done.stdout.split(sep))


def counts_directories(tmp_path: Path) -> bool:
    """Later releases of du leave directories out of apparent sizes."""
    empty = tmp_path / "empty"
    empty.mkdir()
    size = du("-sb", empty)[-1].split()[0]
    empty.rmdir()
    return size != b"0" or empty.parent.stat().st_size == 0


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    fill(folder, 1)
    return folder


@pytest.mark.parametrize(
    "options",
    [
        "", "-s", "-h", "-b", "-l", "-x", "-d0", "-d1", "-d 2", "-bh", "-sb", "-hs", "-ld1",
        "--apparent-size", "--apparent-size -h", "--max-depth=1", "-al", "-alb", "-alh", "-ald1",
        "--exclude=f1*", "--exclude=*\n*", "--exclude=tree/f*", "--exclude=tree", "--exclude=*e*/*",
    ],
)  # fmt: skip
def test_lines_are_those_of_du(ferry: Ferry, tree: Path, tmp_path: Path, options: str) -> None:
    apparent = "b" in options.split("=")[0] or "apparent" in options
    if apparent and not counts_directories(tmp_path):
        pytest.skip("this du leaves directories out of apparent sizes")
    args = [*options.split(" "), "-0"] if options else ["-0"]
    for path in ("tree", "tree/", "tree///", "./tree", "."):
        ours = ferry("du", *args, path, cwd=tmp_path)
        assert (ours.returncode, ours.stderr) == (0, b"")
        assert sorted(ours.stdout.split(b"\0")) == du(*args, path, sep=b"\0", cwd=tmp_path)


EXCLUDED = ["", "x\\", "\\x\\", "x\\\\", "*\\", "x\\/y", "x\\*", "\\[", "[x]\\\\", "/y", "/*"]


@pytest.mark.parametrize("pattern", EXCLUDED)
def test_backslashes_in_patterns(ferry: Ferry, tmp_path: Path, pattern: str) -> None:
    for name in ("x", "x\\", "\\x", "x*", "[", "*\\"):
        (tmp_path / "a" / name).mkdir(parents=True)
        (tmp_path / "a" / name / "y").write_bytes(bytes(5000))
    for path in ("a", "a/", ".//a"):
        ours = ferry("du", "-a0", f"--exclude={pattern}", path, cwd=tmp_path).stdout
        theirs = du("-a0", f"--exclude={pattern}", path, sep=b"\0", cwd=tmp_path)
        assert sorted(ours.split(b"\0")) == theirs


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_random_trees(ferry: Ferry, tmp_path: Path, seed: int) -> None:
    fill(tmp_path, seed)
    link_across(tmp_path)
    for options in ("-s", "-ls", "-sh"):
        assert sorted(ferry("du", options, tmp_path).stdout.split(b"\n")) == du(options, tmp_path)


def test_the_same_sums_on_every_run(ferry: Ferry, tree: Path) -> None:
    """Hard links count where they come first by name, not where a thread happens to be first."""
    link_across(tree)
    outputs = {ferry("du", "-a", tree).stdout for _ in range(10)}
    assert len(outputs) == 1


def test_hard_links_count_once(ferry: Ferry, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "x").write_bytes(bytes(8192))
    os.link(tmp_path / "b" / "x", tmp_path / "a" / "y")
    listed = ferry("du", "-a", "-b", ".", cwd=tmp_path).stdout.decode()
    assert "./a/y" in listed
    assert "./b/x" not in listed
    listed = ferry("du", "-a", "-l", ".", cwd=tmp_path).stdout.decode()
    assert "./b/x" in listed


def test_several_arguments_as_du(ferry: Ferry, tree: Path, tmp_path: Path) -> None:
    folder = next(path for path in tree.iterdir() if path.is_dir() and not path.is_symlink())
    file = next(path for path in tree.iterdir() if path.is_file() and not path.is_symlink())
    for args in ([tree, folder], [folder, tree], [tree, tree], [tree, file], [file, tree]):
        ours = ferry("du", "-s", *args)
        assert ours.stdout.splitlines() == subprocess.check_output(["du", "-s", *args]).splitlines()


def test_nothing_but_files(ferry: Ferry, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(5000))
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        assert ferry("du", name, cwd=tmp_path).stdout.split(b"\n")[:1] == du(name, cwd=tmp_path)[1:]


def test_what_cannot_be_read_is_named(ferry_path: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "file").write_bytes(bytes(9000))
    ours, theirs = (
        subprocess.run(
            [*WITHOUT_PRIVILEGES, *program, "."], cwd=tmp_path, capture_output=True, check=False
        )
        for program in ([ferry_path, "du"], ["du"])
    )
    assert ours.returncode == 1
    message = "ferry: du: cannot read directory './closed': Permission denied\n"
    assert ours.stderr.decode() == message
    assert sorted(ours.stdout.split(b"\n")) == sorted(theirs.stdout.split(b"\n"))


def test_a_missing_argument_affects_no_other(ferry: Ferry, tmp_path: Path) -> None:
    done = ferry("du", "missing", ".", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == b"ferry: du: cannot look at 'missing': No such file or directory\n"
    assert done.stdout.endswith(b"\t.\n")


def run_with_mounts(script: str, folder: Path) -> None:
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    if done.returncode == 77 or b"unshare" in done.stderr:
        pytest.skip("no mounts here")
    assert done.returncode == 0, done


def test_other_file_systems_are_left_out_on_request(ferry_path: Path, tmp_path: Path) -> None:
    (tmp_path / "mount").mkdir()
    (tmp_path / "file").write_bytes(bytes(5000))
    script = f"""
        mount -t tmpfs none mount && head -c 100000 /dev/zero > mount/file || exit 77
        for options in -x "" -ax; do
            '{ferry_path}' du $options . | sort > ours
            du $options --exclude ours --exclude theirs . | sort > theirs
            '{ferry_path}' du $options --exclude ours --exclude theirs . | sort > ours
            cmp ours theirs || exit 1
        done
    """
    run_with_mounts(script, tmp_path)


def test_a_directory_mounted_in_itself_counts_once(ferry_path: Path, tmp_path: Path) -> None:
    (tmp_path / "outer" / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "outer" / "again").mkdir()
    script = f"""
        mount --bind outer outer/again && mount --bind outer/a outer/a/b/c || exit 77
        for options in -a -s -l -d1 -d2; do
            for paths in outer "outer outer/a" "outer/a outer"; do
                du $options $paths | sort > theirs
                '{ferry_path}' du $options $paths > unsorted 2>&1 || exit 1
                sort unsorted | cmp - theirs || exit 1
            done
        done
    """
    run_with_mounts(script, tmp_path)


def test_json_and_sorting(ferry: Ferry, tree: Path) -> None:
    shown = json.loads(ferry("du", "--json", "-a", tree).stdout)
    assert shown["version"] == 1
    assert shown["complete"]
    entries = {entry["path"]: entry["bytes"] for entry in shown["entries"]}
    assert entries[str(tree)] == 512 * sum(
        {(p.lstat().st_ino): p.lstat().st_blocks for p in [tree, *tree.rglob("*")]}.values()
    )
    for entry in shown["entries"]:
        path = Path(entry["path"])
        assert entry["directory"] == (path.is_dir() and not path.is_symlink())
    sizes = [
        entry["bytes"]
        for entry in json.loads(ferry("du", "--json", "-a", "--sort", "size", tree).stdout)[
            "entries"
        ]
    ]
    assert sizes == sorted(sizes, reverse=True)


def test_json_keeps_names_that_are_not_utf8(ferry: Ferry, tmp_path: Path) -> None:
    names = [b"./caf\xe9", b"./caf\xe8", "./é".encode(), b"./ascii"]
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).touch()
    entries = json.loads(ferry("du", "--json", "-a", ".", cwd=tmp_path).stdout)["entries"]
    found = {
        bytes.fromhex(entry["path_hex"]) if "path_hex" in entry else entry["path"].encode()
        for entry in entries
    }
    assert found == {b".", *names}
    assert sum("path_hex" in entry for entry in entries) == 2


def test_names_are_sorted_and_directories_come_after_their_contents(
    ferry: Ferry, tmp_path: Path
) -> None:
    for name in ("b", "a", "a/z", "a/c"):
        (tmp_path / name).mkdir()
    lines = ferry("du", ".", cwd=tmp_path).stdout.decode().splitlines()
    assert [line.split("\t")[1] for line in lines] == ["./a/c", "./a/z", "./a", "./b", "."]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-d", "x"], "the depth 'x'"),
        (["-d", "-1"], "the depth '-1'"),
        (["--sort", "colour"], "unknown sort key 'colour' (use name or size)"),
        (["-s", "-a"], "--summarize and --all"),
        (["-s", "-d", "1"], "--summarize and --max-depth"),
        (["-d"], "option"),
    ],
)
def test_bad_options(ferry: Ferry, args: list[str], words: str) -> None:
    done = ferry("du", *args)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert done.stderr.startswith(b"ferry: du: ")
    assert done.stdout == b""


def test_a_terminal_shows_progress_and_keeps_none_of_it(ferry_path: Path) -> None:
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [ferry_path, "du", "-s", "/usr/share"],
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env=os.environ | {"TERM": "xterm"},
    ):
        os.close(terminal)
        assert read_terminal(controller).endswith(b"\r\033[K")
