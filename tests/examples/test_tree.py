# SPDX-License-Identifier: MIT
"""mdu and ftw: totals and names of trees, also of trees that change or cannot be read."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Run, du_blocks, du_bytes, output

FEW_DESCRIPTORS = 'ulimit -n 16; exec "$@"'
NOBODY = 65534


def python_totals(root: bytes) -> tuple[int, int]:
    """Apparent bytes and blocks of everything, as Python sees it."""
    size = blocks = 0
    paths = [root]
    for directory, directories, files in os.walk(root):
        paths += [directory + b"/" + name for name in directories + files]
    for path in paths:
        stat = os.lstat(path)
        size += stat.st_size
        blocks += stat.st_blocks
    return size, blocks


# ---- totals ----


def test_totals_are_those_of_du(run: Run, tree: bytes) -> None:
    size, blocks = python_totals(tree)
    assert (size, blocks) == (du_bytes(tree), du_blocks(tree))
    done = run("mdu", tree)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"%d\t%d\t%s\n" % (size, blocks, tree)
    assert run("mdu", "-b", tree).stdout == b"%d\t%s\n" % (size, tree)
    assert run("mdu", "-s", tree).stdout == b"%d\t%s\n" % (blocks, tree)


def test_current_directory_unless_named(run: Run, tree: bytes) -> None:
    assert run("mdu", "-b", cwd=tree).stdout == b"%d\t.\n" % du_bytes(tree)


@pytest.mark.parametrize(
    "name", [b"directory", b"directory/", b"a/", b"a//", b"sparse", b"fifo", b"empty"]
)
def test_a_path_means_what_it_means_to_du(run: Run, tree: bytes, name: bytes) -> None:
    path = tree + b"/" + name
    assert run("mdu", "-b", path).stdout == b"%d\t%s\n" % (du_bytes(path), path)


def test_every_argument_has_its_line(run: Run, tree: bytes) -> None:
    a, many = tree + b"/a", tree + b"/many"
    done = run("mdu", "-b", a, b"/nowhere", many, a)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == b"%d\t%s" % (du_bytes(a), a)
    assert done.stdout.splitlines()[-2:] == [
        b"%d\t%s" % (du_bytes(many), many),
        b"%d\t%s" % (du_bytes(a), a),
    ]
    assert done.stderr == b"mdu: cannot stat '/nowhere': No such file or directory\n"


def test_one_file_system_leaves_out_the_others(run: Run) -> None:
    """/dev/shm is a file system of its own."""
    root = "/dev"
    assert os.lstat("/dev/shm").st_dev != os.lstat(root).st_dev
    assert int(run("mdu", "-b", "-x", root).stdout.split()[0]) == du_bytes(root, "-x")
    names = run("ftw", "-0", "-x", root).stdout.split(b"\0")
    assert not [name for name in names if name.endswith(b"\t/dev/shm")]


# ---- names ----


def test_ftw_prints_what_find_prints(run: Run, tree: bytes) -> None:
    done = run("ftw", "-0", tree)
    assert (done.returncode, done.stderr) == (0, b"")
    found = output(("find", tree, "-printf", r"%s\t%p\0"))
    assert sorted(done.stdout.split(b"\0")) == sorted(found.split(b"\0"))
    assert run("ftw", tree).stdout == done.stdout.replace(b"\0", b"\n")


def test_ftw_prints_a_directory_before_its_entries(run: Run, tree: bytes) -> None:
    seen = set()
    for line in run("ftw", "-0", tree).stdout.split(b"\0")[:-1]:
        path = line.split(b"\t", 1)[1]
        assert path == tree or path.rpartition(b"/")[0] in seen
        seen.add(path)


def test_slash_at_the_end_is_not_doubled(run: Run, tree: bytes) -> None:
    done = run("ftw", b"a/", cwd=tree)
    found = output(("find", "a/", "-printf", r"%s\t%p\n"), cwd=tree)
    assert sorted(done.stdout.splitlines()) == sorted(found.splitlines())


# ---- depth ----


DEEP = 3000
STEP = 50


def names_at(level: int) -> list[str]:
    """Some levels have directories that are visited after the walk came back to them."""
    return ["a", "down", "z"] if level % STEP == 0 else ["down"]


@pytest.fixture(scope="module")
def deep() -> Iterator[tuple[bytes, int, int]]:
    """Many nested directories, and their total bytes and blocks."""
    # In memory where it can be: to remove directories from a disk may take seconds.
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    root = Path(tempfile.mkdtemp(prefix="ferry-deep-", dir=place))
    stats = []
    fd = os.open(root, os.O_RDONLY)
    for level in range(DEEP):
        for name in names_at(level):
            os.mkdir(name, dir_fd=fd)
        # Only now: on tmpfs a directory's size grows with its entries.
        stats.append(os.fstat(fd))
        stats += [os.stat(name, dir_fd=fd) for name in names_at(level) if name != "down"]
        below = os.open("down", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    stats.append(os.fstat(fd))
    yield (
        os.fsencode(root),
        sum(stat.st_size for stat in stats),
        sum(stat.st_blocks for stat in stats),
    )
    for level in reversed(range(DEEP)):
        above = os.open("..", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = above
        for name in names_at(level):
            os.rmdir(name, dir_fd=fd)
    os.close(fd)
    root.rmdir()


@pytest.mark.parametrize("shell", ["", FEW_DESCRIPTORS], ids=["as-is", "16-descriptors"])
def test_any_depth_is_walked(run: Run, deep: tuple[bytes, int, int], shell: str) -> None:
    root, size, blocks = deep
    done = run("mdu", root, shell=shell)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"%d\t%d\t%s\n" % (size, blocks, root)


def test_too_few_descriptors_is_an_error(run: Run, tree: bytes) -> None:
    done = run("mdu", tree, shell='ulimit -n 4; exec "$@"', env_more={"FERRY_ENGINE": "loop"})
    assert done.returncode != 0
    assert b"Too many open files" in done.stderr


# ---- what cannot be read ----


def test_unreadable_directories_are_named_and_counted(examples: Path, env: dict[str, str]) -> None:
    """Run as nobody when root, whom no permission stops, and so from a place open to all."""
    place = Path(tempfile.mkdtemp(prefix="ferry-unreadable-"))
    try:
        place.chmod(0o755)
        mdu = place / "mdu"
        shutil.copy(examples / "mdu", mdu)
        for name, mode in (("closed", 0o700), ("unsearchable", 0o744), ("open", 0o755)):
            (place / "tree" / name / "below").mkdir(parents=True)
            (place / "tree" / name / "file").write_bytes(b"12345")
            (place / "tree" / name).chmod(
                mode if os.geteuid() == 0 else mode & 0o077 | mode >> 6 << 6
            )
        if os.geteuid() != 0:
            (place / "tree/closed").chmod(0)
            (place / "tree/unsearchable").chmod(0o400)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run([mdu, "-b", "tree"], cwd=place, env=env, capture_output=True, **user)  # type: ignore[call-overload]
        du = subprocess.run(["du", "-sbl", "tree"], cwd=place, env=env, capture_output=True, **user)  # type: ignore[call-overload]
        assert (done.returncode, du.returncode) == (1, 1)
        expected = sum(
            os.lstat(place / name).st_size
            for name in (
                "tree",
                "tree/closed",
                "tree/unsearchable",
                "tree/open",
                "tree/open/below",
                "tree/open/file",
            )
        )
        assert done.stdout == b"%d\ttree\n" % expected
        assert sorted(done.stderr.decode().splitlines()) == [
            "mdu: cannot open directory 'tree/closed': Permission denied",
            "mdu: cannot stat 'tree/unsearchable/below': Permission denied",
            "mdu: cannot stat 'tree/unsearchable/file': Permission denied",
        ]
    finally:
        for name in ("closed", "unsearchable"):
            (place / "tree" / name).chmod(0o755)
        shutil.rmtree(place)


# ---- what changes meanwhile ----


@pytest.mark.parametrize("shell", ["", FEW_DESCRIPTORS], ids=["as-is", "16-descriptors"])
def test_vanishing_directories_are_no_error(run: Run, tmp_path: Path, shell: str) -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            (tmp_path / "/".join("churning")).mkdir(parents=True, exist_ok=True)
            (tmp_path / "c/h/file").touch()
            shutil.rmtree(tmp_path / "c/h")
            (tmp_path / "c/h").symlink_to("/usr")
            (tmp_path / "c/h").unlink()

    churner = threading.Thread(target=churn)
    churner.start()
    try:
        for _ in range(50):
            done = run("mdu", "-b", tmp_path, shell=shell)
            assert (done.returncode, done.stderr) == (0, b"")
            # Nothing of /usr, where the symbolic link leads, is in it.
            assert int(done.stdout.split()[0]) < 1_000_000
    finally:
        stop.set()
        churner.join()


LEVELS = 60
REACHED = 50
BESIDE = 4


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """Nested directories whose lowest levels have more names than a pipe holds."""
    level = tmp_path / "tree"
    level.mkdir()
    for depth in range(LEVELS):
        # Before and after "down", in whatever order the file system lists them.
        for i in range(BESIDE):
            if i == BESIDE // 2:
                (level / "down").mkdir()
            (level / f"beside-{i}").mkdir()
            (level / f"beside-{i}" / "inside").touch()
        for i in range(8 if depth >= REACHED else 0):
            (level / f"{i}-{'n' * 250}").touch()
        level /= "down"
    return tmp_path


def at(depth: int) -> str:
    return "tree" + "/down" * depth


def inside(names: list[str], depth: int) -> int:
    return sum(
        name.startswith(f"{at(depth)}/beside-") and name.endswith("/inside") for name in names
    )


def names_after(
    examples: Path, env: dict[str, str], chain: Path, change: str, few: bool
) -> tuple[list[str], bytes]:
    """What ftw prints of the chain when it changes once the walk is REACHED levels deep."""
    limit = FEW_DESCRIPTORS if few else 'exec "$@"'
    command = ["sh", "-c", limit, "sh", str(examples / "ftw"), "tree"]
    process = subprocess.Popen(
        command, cwd=chain, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pipesize=4096
    )
    assert process.stdout and process.stderr
    text = b""
    while os.fsencode(at(REACHED) + "/") not in text:
        text += os.read(process.stdout.fileno(), 4096)
    subprocess.run(["sh", "-ec", change], cwd=chain, check=True)
    text += process.stdout.read()
    errors = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert process.wait() == 0
    return [line.split("\t")[1] for line in text.decode().splitlines()], errors


def test_every_level_is_named_with_its_path(run: Run, chain: Path) -> None:
    done = run("ftw", "tree", cwd=chain, shell=FEW_DESCRIPTORS)
    assert (done.returncode, done.stderr) == (0, b"")
    found = output(("find", "tree", "-printf", r"%s\t%p\n"), cwd=chain)
    assert sorted(done.stdout.splitlines()) == sorted(found.splitlines())


@pytest.mark.parametrize("few", [False, True], ids=["as-is", "16-descriptors"])
def test_a_directory_moved_away_is_come_back_from(
    examples: Path, env: dict[str, str], chain: Path, few: bool
) -> None:
    change = f"mv {at(10)} elsewhere; ln -s elsewhere {at(10)}"
    names, errors = names_after(examples, env, chain, change, few)
    assert errors == b""
    for depth in range(LEVELS):
        assert inside(names, depth) == BESIDE
    assert len(names) == len(set(names))


def test_directories_moved_apart_are_left_out_below_the_first(
    examples: Path, env: dict[str, str], chain: Path
) -> None:
    change = f"mv {at(10)} elsewhere; mv {at(5)} too; ln -s ../../../../../elsewhere {at(5)}"
    names, errors = names_after(examples, env, chain, change, few=True)
    assert errors == b""
    for depth in (*range(5), *range(10, LEVELS)):
        assert inside(names, depth) == BESIDE
    # Those that come before "down" in the directory's order were visited on the way there.
    assert sum(inside(names, depth) for depth in range(5, 10)) < 5 * BESIDE
    assert len(names) == len(set(names))
