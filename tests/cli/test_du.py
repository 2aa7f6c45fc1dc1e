# SPDX-License-Identifier: MIT
"""ferry du counts what the machine's du counts, to the byte."""

import json
import os
import pty
import random
import subprocess
import tempfile
from collections.abc import Sequence
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
    assert (
        ours.stderr == theirs.stderr == b"du: cannot read directory './closed': Permission denied\n"
    )
    assert sorted(ours.stdout.split(b"\n")) == sorted(theirs.stdout.split(b"\n"))


def test_sums_that_exceed_64_bits(ferry: Ferry) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        try:
            for name in "abc":
                with (Path(folder) / name).open("wb") as file:
                    file.truncate((1 << 63) - 4096)
        except OSError:
            pytest.skip("no file of 8 EiB here")
        for options in ("-ab", "-abh", "-sbl"):
            ours = ferry("du", options, ".", cwd=folder)
            assert sorted(ours.stdout.split(b"\n")) == du(options, ".", cwd=folder)
        entry = json.loads(ferry("du", "-bj", ".", cwd=folder).stdout)["entries"][0]
        assert entry["bytes"] >= 3 * ((1 << 63) - 4096)


def test_a_missing_argument_affects_no_other(ferry: Ferry, tmp_path: Path) -> None:
    done = ferry("du", "missing", ".", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == b"du: cannot access 'missing': No such file or directory\n"
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


def both(
    ferry: Ferry, args: Sequence[str | Path], folder: Path, **more: object
) -> tuple[tuple[int, list[bytes], bytes], ...]:
    """Exit status, sorted lines and messages of ferry du and of du."""
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"} | more.pop("env", {})  # type: ignore[operator]
    sep = b"\0" if any(str(arg).startswith("-0") for arg in args) else b"\n"
    done = (
        ferry("du", *args, cwd=folder, env=env, **more),
        subprocess.run(
            ["du", *args],
            cwd=folder,
            env=env,
            capture_output=True,
            check=False,
            **({"stdin": subprocess.DEVNULL} | more if "input" not in more else more),  # type: ignore[call-overload]
        ),
    )
    return tuple((d.returncode, sorted(d.stdout.split(sep)), d.stderr) for d in done)


OPTIONS = [
    "-c", "-S", "-cS", "-acS", "-D", "-H", "-P", "-DP", "--si", "-k", "-m", "-B1", "-BK", "-BkB",
    "-BKiB", "-B1K", "-BMiB", "-BG", "-B 1000", "-B'1", "-Bhuman", "-Bsi", "--block-size=0x400",
    "-t 5000", "-t -20000", "-at 8K", "-St 9000", "-cat 1M", "--inodes", "-a --inodes",
    "--inodes -BkB", "--inodes -h", "--inodes -t 3", "--inodes -S", "--inodes -l", "--inodes -b",
    "--time", "--time=ctime", "--time=status", "-a --time --time-style=full-iso",
    "--time --time-style=iso", "--time --time-style=+%s.%N%%n", "-S --time", "-c --time -d1",
    "-s -d 0", "-d 0x1", "-ab -k", "-k -b", "-Sd1", "-Sd0", "-Scd1", "--exclude=f* -c",
    "--inodes -d0 -cS",
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS)
def test_all_else_is_as_du(ferry: Ferry, tree: Path, tmp_path: Path, options: str) -> None:
    if "b" in options.replace("inodes -b", "").split("=")[0] and not counts_directories(tmp_path):
        pytest.skip("this du leaves directories out of apparent sizes")
    (tmp_path / "link").symlink_to("tree")
    for number, path in enumerate(sorted(tree.rglob("*"))):
        if not path.is_symlink():
            os.utime(path, ns=(number * 10**16, number * 10**15 + 7))
    for paths in (["tree"], ["link"], ["link/"], ["tree", "link"], ["missing", "tree/"]):
        first, second = both(ferry, ["-0", *options.split(" "), *paths], tmp_path)
        if "-a" in options and first != second:  # of hard links, any may be listed
            assert len(first[1]) == len(second[1])
            first, second = (
                (s, [n.split(b"\t")[0] for n in lines], e) for s, lines, e in (first, second)
            )
        assert first == second


def test_links_are_followed_as_du_follows_them(ferry: Ferry, tmp_path: Path) -> None:
    (tmp_path / "outside" / "sub").mkdir(parents=True)
    (tmp_path / "outside" / "file").write_bytes(bytes(30000))
    (tmp_path / "tree" / "a").mkdir(parents=True)
    (tmp_path / "tree" / "a" / "b").write_bytes(bytes(9000))
    (tmp_path / "tree" / "loop").symlink_to(".")
    (tmp_path / "tree" / "out").symlink_to("../outside")
    (tmp_path / "dangling").symlink_to("nowhere")
    for options in ("-L", "-aL", "-lL", "-LP", "-PL", "-LD", "-xL", "-SL", "--inodes -L"):
        for path in ("tree", "tree/out"):
            first, second = both(ferry, [*options.split(" "), path], tmp_path)
            assert [n for n in first if n != b""] == [n for n in second if n != b""]
    for option in ("-L", "-D"):
        done = ferry("du", option, "dangling", cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr == b"du: cannot access 'dangling': No such file or directory\n"


@pytest.mark.parametrize(
    "value", ["512", "1K", "MiB", "human-readable", "si", "'1", "nonsense", "0"]
)
def test_the_unit_of_the_environment(ferry: Ferry, tree: Path, value: str) -> None:
    for name in ("BLOCKSIZE", "BLOCK_SIZE", "DU_BLOCK_SIZE"):
        first, second = both(ferry, ["-s", "."], tree, env={name: value})
        assert first == second
    many = {"BLOCKSIZE": "1", "BLOCK_SIZE": "7", "DU_BLOCK_SIZE": value, "POSIXLY_CORRECT": "1"}
    while many:
        first, second = both(ferry, ["-s", "."], tree, env=many)
        assert first == second
        many.popitem() if len(many) > 1 and "POSIXLY_CORRECT" not in many else many.pop(
            next(iter(many))
        )


NAMES = [
    "it's", "a b", 'a"b', "new\nline", "tab\t'", "é", "$x", "back\\slash", "'\n'", "bell\a\x01",
    "!x'",
]  # fmt: skip


def test_the_time_of_access(ferry: Ferry, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(10))
    os.utime(tmp_path / "file", (86400, 0))
    first, second = both(ferry, ["--time=use", "--time-style=iso", "file"], tmp_path)
    assert first == second
    assert b"\t1970-01-02\tfile" in first[1][1]


def test_names_in_messages_are_quoted_as_du_quotes_them(ferry: Ferry, tmp_path: Path) -> None:
    for locale in ("C", "C.UTF-8"):
        first, second = both(ferry, NAMES, tmp_path, env={"LC_ALL": locale})
        assert first == second
        assert first[0] == 1
        first, second = both(ferry, ["-X", "a b"], tmp_path, env={"LC_ALL": locale})
        assert first == second


@pytest.mark.parametrize(
    "names", ["", "x\0", "x", "x\0y\0", "x\0x\0", "\0", "\0x\0", "missing\0x", "-\0x", "x//\0"]
)
def test_names_from_a_file(ferry: Ferry, tmp_path: Path, names: str) -> None:
    for name in ("x", "y"):
        (tmp_path / name).write_bytes(bytes(9000))
    (tmp_path / "list").write_text(names)
    for options in ("", "-c", "-l"):
        args = [*options.split(), "--files0-from"]
        first, second = both(ferry, [*args, "list"], tmp_path)
        assert first == second
        first, second = both(ferry, [*args, "-"], tmp_path, input=names.encode())
        if first != second:  # later releases name the file in this message
            assert b"no file name of '-' allowed" in first[2]


def test_patterns_from_a_file(ferry: Ferry, tree: Path) -> None:
    (tree / "patterns").write_text("f1*\n\n  \n*2  \n*é*")
    for source in ("patterns", "missing", "."):
        first, second = both(ferry, ["-c", "-X", source], tree)
        assert first == second
    first, second = both(ferry, ["--exclude-from=-"], tree, input=b"f1*\n")
    assert first == second


WRONG = [
    "-d x", "-d -1", "-d", "-s -a", "-s -d1", "-B x", "-B 0", "--block-size=1x", "-B 1KX", "-B 99Y",
    "--block-size=", "-t x", "-t -0", "-t -0K", "--threshold=", "--threshold=99Z", "-t 1x",
    "--th=-0", "--no-such", "--max", "-Y", "--time=colour", "--time= ", "--time --time-style=x",
    "--files0-from=x y", "--files0-from=missing", "-X missing", "-d x -B x", "-d x --no-such",
]  # fmt: skip


@pytest.mark.parametrize("options", WRONG)
def test_what_is_wrong_is_said_in_the_words_of_du(
    ferry: Ferry, tmp_path: Path, options: str
) -> None:
    first, second = both(ferry, options.split(" "), tmp_path)
    assert first[0] == second[0] == 1
    assert first[1] == second[1]
    # ferry du takes more words, so a list of possible ones may differ.
    assert first[2].splitlines()[0] == second[2].splitlines()[0]
    assert first[2].splitlines()[-1] == second[2].splitlines()[-1]


def test_sort_keys(ferry: Ferry) -> None:
    done = ferry("du", "--sort", "colour")
    assert done.returncode == 1
    assert done.stderr.startswith(b"du: invalid argument 'colour' for '--sort'\n")


def test_json_has_what_options_ask_for(ferry: Ferry, tree: Path) -> None:
    shown = json.loads(ferry("du", "-jc", "--inodes", "--time", tree).stdout)
    assert shown["total"] == max(entry["inodes"] for entry in shown["entries"])
    assert shown["total"] == len({p.lstat().st_ino for p in [tree, *tree.rglob("*")]})
    latest = max(p.lstat().st_mtime for p in [tree, *tree.rglob("*")])
    assert max(entry["time"] for entry in shown["entries"]) == int(latest)


def test_a_time_without_a_year(ferry: Ferry) -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        if subprocess.run(["touch", "-d", f"@{2**63 - 1}", file.name], check=False).returncode:
            pytest.skip("no such time here")
        first, second = both(ferry, ["--time", file.name], Path("/"))
        assert first == second


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
