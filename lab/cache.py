# SPDX-License-Identifier: MIT
"""The directory of what the lab downloads and builds, and its locks.

    apt/                 a private package state
    sources/VERSION/     the source package
    trees/VERSION/base   the source as Debian ships it
    trees/VERSION/series the same with the series applied; unchanged files are hard links
    builds/TARGET/KEY/   finished kernels; a directory here is always complete
    objects/TARGET/      what is compiled of a tree that is not the lab's
    roots/MACHINE-KEY/   Debian's libraries and programs for another machine
    programs/MACHINE/    what the lab compiles for guests of that machine
    kvm/                 whether KVM boots a kernel here
    tidy/KEY             an empty file: clang-tidy has no complaint about a C file as it was
    ccache/ logs/ runs/ locks/

Objects are in trees/VERSION/*/objects-TARGET.  The compiler then sees the same relative
paths for every tree, so that ccache serves one tree with what it compiled for another.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab import LabError

KEPT_BUILDS = 2


def cache_root() -> Path:
    """$FERRY_CACHE, else ferry/ in the user's cache directory; made if missing."""
    chosen = os.environ.get("FERRY_CACHE")
    if chosen:
        root = Path(chosen).absolute()
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        root = Path(home).absolute() / "ferry"
    if any(c in str(root) for c in " :\n\t"):
        raise LabError(
            f"the cache '{root}' has a space or colon in its name, which make cannot use"
        )
    make_directory(root)
    return root


def make_directory(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(
            f"cannot make {path}: {error.strerror}; FERRY_CACHE can name another place"
        ) from None
    return path


def read_if_there(path: Path) -> str:
    """What is in a file; "" when there is none."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text()
    return ""


def write_whole(path: Path, text: str) -> None:
    """Writes a file that is either complete or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text)
    os.replace(temporary, path)


@contextlib.contextmanager
def made_whole(path: Path) -> Iterator[Path]:
    """An empty directory, which becomes PATH when the with statement ends well."""
    partial = path.with_name(f".{path.name}")
    shutil.rmtree(partial, ignore_errors=True)
    yield make_directory(partial)
    os.replace(partial, path)


def log_file(name: str) -> Path:
    path = cache_root() / "logs" / f"{name}.log"
    make_directory(path.parent)
    return path


def new_log(name: str) -> Path:
    """The same file, without what an earlier run left in it."""
    path = log_file(name)
    path.unlink(missing_ok=True)
    return path


def holders(path: Path) -> str:
    """The runs that hold the lock PATH, as far as the kernel tells: process and command line."""
    inode, found = path.stat().st_ino, []
    for fields in map(str.split, read_if_there(Path("/proc/locks")).splitlines()):
        # A request that waits is "1: -> FLOCK ...".
        if fields[1] == "FLOCK" and fields[5].endswith(f":{inode}"):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{fields[4]}/cmdline").read_bytes().decode().split("\0")
                lab = ["ferry-lab", *words[words.index("lab") + 1 :]] if "lab" in words else words
                found.append(f"{fields[4]}, {' '.join(lab).strip()}")
    return "; ".join(found)


@contextlib.contextmanager
def locked(name: str, shared: bool = False) -> Iterator[None]:
    """Holds the lock NAME against other runs of the lab; says for whom it has to wait."""
    path = make_directory(cache_root() / "locks") / name
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with path.open("a") as file:
        try:
            fcntl.flock(file, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            who = holders(path) or "hidden from here"
            waits = f"waiting for another run that works on {name} (process {who})"
            print(f"ferry-lab: {waits}", file=sys.stderr)
            fcntl.flock(file, mode)
        yield


def require_space(gigabytes: float, purpose: str) -> None:
    """Fails early and clearly when PURPOSE would fill the disk."""
    root = cache_root()
    free = shutil.disk_usage(root).free / 1e9
    if free < gigabytes:
        raise LabError(
            f"{root} has {free:.1f} GB free, and {purpose} takes {gigabytes:g} GB:"
            " free some, or let FERRY_CACHE name another place"
        )


def prune_builds(name: str) -> None:
    """Keeps the most recent finished builds in the directory NAME."""
    builds = [path for path in (cache_root() / "builds" / name).iterdir() if path.is_dir()]
    builds.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in builds[KEPT_BUILDS:]:
        shutil.rmtree(path, ignore_errors=True)


def remove_contents(directory: Path, keep: str = "") -> None:
    """Removes what is in DIRECTORY, but for KEEP; this takes a while for a kernel tree."""
    for path in directory.iterdir():
        if path.name != keep:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def size_on_disk(path: Path) -> int:
    """Bytes that removing PATH gives back; hard links count once."""
    command = ["du", "--summarize", "--block-size=1", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return int(done.stdout.split()[0])
