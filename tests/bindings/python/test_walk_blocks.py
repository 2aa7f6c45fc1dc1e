# SPDX-License-Identifier: MIT
"""walk_blocks() against walk(), and what both leave out."""

import errno
import itertools
import os
import random
import resource
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ferry
import pytest


def paths_of(blocks: Iterator[ferry.Block]) -> list[str]:
    return [path for block in blocks for path in block.paths()]


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("wide")
    root.chmod(0o755)
    for i in range(120):
        (root / f"{i}").mkdir()
        for j in range(100):
            (root / f"{i}" / f"{j}").touch()
    return root


@pytest.mark.parametrize("sort", [False, True])
def test_the_same_entries(wide: Path, sort: bool) -> None:
    whole = ferry.walk(wide, stat=["size", "ino"], sort=sort)
    blocks = list(ferry.walk_blocks(wide, stat=["size", "ino"], sort=sort))
    assert len(blocks) > 2 and all(len(block) < 8192 for block in blocks)
    rows = [row for block in blocks for row in block]
    expected = sorted((row.path, row.ino, row.depth, row.type) for row in whole)
    assert sorted((row.path, row.ino, row.depth, row.type) for row in rows) == expected
    if sort:
        assert [row.path for row in rows] == whole.paths().tolist()
    seen: set[str] = set()
    for row in rows:
        assert row.depth == 0 or os.path.dirname(row.path) in seen
        seen.add(row.path)


def test_it_ends_with_the_iterator(wide: Path) -> None:
    before = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        reading = ferry.walk_blocks(wide)
        next(reading)
        reading.close()  # type: ignore[attr-defined]
    for _ in range(20):
        next(ferry.walk_blocks(wide))
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == before
    assert len(paths_of(ferry.walk_blocks(wide))) == 120 * 101 + 1


def test_it_waits_for_its_caller(tree: Path) -> None:
    reading = ferry.walk_blocks("/usr")
    first = next(reading)
    time.sleep(0.2)
    assert len(first) and len(next(reading))


def test_errors(tree: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        next(ferry.walk_blocks(tree / "missing"))
    assert caught.value.filename == str(tree / "missing")
    with pytest.raises(IndexError):
        list(ferry.walk_blocks(tree, prune=lambda path: [][len(path)]))
    with pytest.raises(ZeroDivisionError):
        for _ in ferry.walk_blocks("/", progress=lambda done: 1 // 0, max_depth=60):
            time.sleep(0.05)


def test_a_directory_that_cannot_be_read(tree: Path) -> None:
    (tree / "folder" / "up").symlink_to("..")
    blocks = list(ferry.walk_blocks(tree, follow_symlinks=True))
    [failed] = [error for block in blocks for error in block.failed]
    assert (failed.errno, failed.filename) == (errno.ELOOP, str(tree / "folder" / "up"))


def test_control_c(wide: Path) -> None:
    def work() -> None:
        while True:
            list(ferry.walk_blocks(wide, stat=True))

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGALRM, before)


def count_without_threads(directory: int) -> int:
    if os.geteuid() == 0:  # root has no limit of processes
        os.setgid(65534)
        os.setuid(65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    with pytest.raises(RuntimeError):
        threading.Thread(target=print).start()
    with pytest.raises(ZeroDivisionError):
        list(ferry.walk_blocks(".", directory=directory, prune=lambda path: 1 // 0))
    return len(paths_of(ferry.walk_blocks(".", directory=directory)))


def recurse(levels: int) -> int:
    """Through C, which takes stack of the thread's."""
    return levels and next(map(recurse, [levels - 1]))


def test_a_callback_may_use_much_stack(tree: Path) -> None:
    assert list(ferry.walk_blocks(tree, prune=lambda path: bool(recurse(400))))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_where_there_can_be_no_thread(wide: Path) -> None:
    directory = os.open(wide, os.O_RDONLY)
    child = os.fork()
    if not child:
        try:
            os._exit(0 if count_without_threads(directory) == 120 * 101 + 1 else 1)
        finally:
            os._exit(2)
    os.close(directory)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork(wide: Path) -> None:
    reading = ferry.walk_blocks(wide)
    first = next(reading)
    child = os.fork()
    if not child:
        try:
            next(reading)
        except RuntimeError as error:
            os._exit(0 if "fork" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert len(first) + len(paths_of(reading)) == 120 * 101 + 1


def below(root: Path, **how: Any) -> list[str]:  # noqa: ANN401 (of walk())
    """The same from both functions."""
    found = [os.path.relpath(path, root) for path in ferry.walk(root, **how).paths()]
    blocks = [os.path.relpath(path, root) for path in paths_of(ferry.walk_blocks(root, **how))]
    assert sorted(found) == sorted(blocks)
    return sorted(found)


FILES = ("a.py", "b.txt", ".hidden", "src/a.py", "src/.git/config", "src/deep/er/c.py", "build/x.o",
         "src/build/y.o", "src/new\nline.py")  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    return tmp_path


def test_depth_and_hidden(project: Path) -> None:
    everything = below(project)
    for depth in range(5):
        expected = [path for path in everything if path == "." or path.count("/") < depth]
        assert below(project, max_depth=depth) == expected
    shown = [p for p in everything if p == "." or not any(x[0] == "." for x in p.split("/"))]
    assert below(project, hidden=False) == shown
    hidden = project / ".root"
    (hidden / "x").mkdir(parents=True)
    assert below(hidden, hidden=False) == [".", "x"]
    for wrong in (-1, 1.5, "1"):
        with pytest.raises((ValueError, TypeError), match="max_depth"):
            ferry.walk(project, max_depth=wrong)  # type: ignore[arg-type]


def files_of(found: list[str]) -> set[str]:
    return set(found) & set(FILES)


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["*.py"], {"a.py", "src/a.py", "src/deep/er/c.py", "src/new\nline.py"}),
        (["/*.py"], {"a.py"}),
        (["src/*.py"], {"src/a.py", "src/new\nline.py"}),
        (["src/**/*.py"], {"src/a.py", "src/deep/er/c.py", "src/new\nline.py"}),
        (["**/deep/**"], {"src/deep/er/c.py"}),
        (["**/a.py"], {"a.py", "src/a.py"}),
        (["?.[pt]*"], {"a.py", "b.txt", "src/a.py", "src/deep/er/c.py"}),
        (["a.py/"], set()),
        ([b"*.o", Path("b.txt")], {"build/x.o", "src/build/y.o", "b.txt"}),
    ],
)
def test_include_and_exclude(project: Path, patterns: list[Any], expected: set[str]) -> None:
    assert files_of(below(project, include=patterns)) == expected
    assert files_of(below(project, exclude=patterns)) == set(FILES) - expected


def test_excluded_directories_are_not_entered(project: Path) -> None:
    asked: list[str] = []
    found = below(project, exclude=["build/", ".git"], prune=lambda path: asked.append(path))
    assert not [path for path in found if "build" in path or ".git" in path]
    assert not [path for path in asked if "build" in path]
    assert "src/build" in below(project, exclude=["/build"])
    assert below(project, exclude=["*"]) == ["."]
    with pytest.raises(TypeError, match="list of patterns"):
        ferry.walk(project, exclude="*.py")


def test_ignore_files(project: Path) -> None:
    (project / ".gitignore").write_bytes(b"*.o\n!y.o\n")
    (project / "src" / ".gitignore").write_bytes(b"/a.py\ndeep/\n")
    found = files_of(below(project, ignore_file=".gitignore"))
    assert found == set(FILES) - {"build/x.o", "src/a.py", "src/deep/er/c.py"}


def test_columns_of_what_is_left(project: Path) -> None:
    found = ferry.walk(project, stat=["size", "ino"], include=["*.py"], exclude=["deep"])
    for row in found:
        info = os.lstat(row.path)
        assert (row.ino, row.size) == (info.st_ino, info.st_size)
        assert row.parent == -1 or found[row.parent].path == os.path.dirname(row.path)


def plain_match(pattern: str, path: str) -> bool:
    """** and * tried out one by one; parts have the letters a and b only."""
    parts, names = pattern.strip("/").split("/"), path.split("/")
    if "/" not in pattern.rstrip("/"):
        parts.insert(0, "**")
    for counts in itertools.product(range(len(names) + 1), repeat=parts.count("**")):
        spread: list[str] = []
        left = list(counts)
        for part in parts:
            spread += ["*"] * left.pop(0) if part == "**" else [part]
        least = 1 if parts[-1] == "**" else 0
        fits = len(spread) == len(names) and (not least or counts[-1] >= least)
        if fits and all(part in ("*", name) for part, name in zip(spread, names, strict=True)):
            return True
    return False


def test_random_patterns(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    for parts in itertools.product("ab", repeat=4):
        (tmp_path / "/".join(parts)).mkdir(parents=True)
    everything = [os.path.relpath(p, tmp_path) for p in ferry.walk(tmp_path).paths()][1:]
    for _ in range(100):
        chosen = chance.choices(["a", "b", "*", "**"], k=chance.randint(1, 4))
        pattern = chance.choice(["", "/"]) + "/".join(chosen)
        gone = [path for path in everything if plain_match(pattern, path)]
        left = [p for p in everything if not any(p == g or p.startswith(f"{g}/") for g in gone)]
        assert below(tmp_path, exclude=[pattern])[1:] == sorted(left), pattern
