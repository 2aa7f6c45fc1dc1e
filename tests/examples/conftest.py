# SPDX-License-Identifier: MIT
"""What the tests of the examples share: the programs, the engines, trees to walk."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ENGINES = os.environ.get("FERRY_ENGINES", "loop,auto").split(",")
PROGRAMS = ("ahead", "ftw", "mdu", "pathsearch", "rw", "sigset", "total", "unimpl")

Result = subprocess.CompletedProcess[bytes]
Run = Callable[..., Result]


@pytest.fixture(scope="session")
def examples() -> Path:
    build = os.environ.get("FERRY_BUILD")
    assert build, "set FERRY_BUILD to the build directory"
    return Path(build).absolute() / "examples"


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def env(engine: str) -> dict[str, str]:
    return dict(os.environ, FERRY_ENGINE=engine, LC_ALL="C")


@pytest.fixture
def run(examples: Path, env: dict[str, str]) -> Run:
    """Runs an example on the engine; `shell` is a prefix such as ulimit, run by sh."""

    def run_it(
        program: str,
        *args: str | bytes | Path,
        shell: str = "",
        env_more: dict[str, str] | None = None,
        **more: object,
    ) -> Result:
        command: list[str | bytes | Path] = [examples / program, *args]
        if shell:
            command = ["sh", "-c", shell, "sh", *command]
        options: dict[str, object] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "timeout": 20,
            "env": env | (env_more or {}),
        }
        return subprocess.run(command, **(options | more))  # type: ignore[call-overload, no-any-return]

    return run_it


def output(command: Sequence[str | bytes | Path], **more: object) -> bytes:
    """The standard output of another program, which must succeed."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **more).stdout  # type: ignore[call-overload, no-any-return]


def du_bytes(path: str | bytes | Path, *options: str) -> int:
    """What `mdu -b` must print: du -sbl's, with the directories' bytes that newer du leaves out."""
    total = int(output(("du", "-sbl", *options, "--", path)).split()[0])
    if du_counts_directories():
        return total
    directories = output(("find", path, "-type", "d", "-printf", r"%D %s\n")).splitlines()
    device = os.stat(path).st_dev if "-x" in options else None
    sizes = [tuple(map(int, line.split())) for line in directories]
    return total + sum(size for place, size in sizes if device in (None, place))


def du_counts_directories() -> bool:
    """Since coreutils 9.2, du -b counts regular files and symbolic links only."""
    version = output(("du", "--version")).split()[3]
    return tuple(map(int, version.split(b".")[:2])) < (9, 2)


def du_blocks(path: str | bytes | Path) -> int:
    return int(output(("du", "-sl", "--block-size=512", "--", path)).split()[0])


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Everything that a file system may hold, as a path of bytes, to be read only."""
    root = tmp_path_factory.mktemp("tree")

    def make(name: str, size: int) -> None:
        (root / name).write_bytes(b"x" * size)

    not_utf8 = os.fsdecode(b"not \xff UTF-8")
    for name in ("empty", "a", "a/b", "a/b/c", "line\nfeed", not_utf8, "many", ".hidden"):
        (root / name).mkdir()
    for i in range(3000):
        make(f"many/{i}-{'n' * (i % 200)}", i % 7)
    for i in range(300):
        (root / f"many/directory-{i}").mkdir()
        make(f"many/directory-{i}/file", i)
    make("a/b/c/large", 100_000)
    make("line\nfeed/in\nside", 1234)
    make(not_utf8 + os.fsdecode(b"/\xfe\t\x80"), 4321)
    make(".hidden/...", 1)
    make("sparse", 0)
    os.truncate(root / "sparse", 1 << 32)
    for name in ("a/hard", "a/b/hard", "hard"):
        (root / name).hardlink_to(root / "a/b/c/large")
    for name, target in (("dangling", "no"), ("directory", "a"), ("loop", "."), ("a/up", "..")):
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    return os.fsencode(root)
