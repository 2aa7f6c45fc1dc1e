# SPDX-License-Identifier: MIT
"""Kernel sources: fetched from Debian, unpacked once per version."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from lab import LabError
from lab.cache import (
    cache_root,
    locked,
    make_directory,
    new_log,
    read_if_there,
    remove_contents,
    require_space,
)
from lab.debian.packages import downloaded, newest_file, version_of
from lab.process import run_to
from lab.targets import Source
from lab.tested import last_tested

UNPACK = """set -o pipefail
dpkg-deb --fsys-tarfile "$1" | tar -x --to-stdout "./usr/src/$2.tar.xz" |
	xz -dc -T0 | tar -x -C "$3" --strip-components=1
"""


def package_directory(source: Source) -> Path:
    return make_directory(cache_root() / "sources" / source.version)


def tree_directory(source: Source) -> Path:
    return cache_root() / "trees" / source.version


def fetched(source: Source) -> Path | None:
    """The newest package that was downloaded before."""
    packages = list(package_directory(source).glob("*.deb"))
    return max(packages, key=lambda path: path.stat().st_mtime) if packages else None


def available(source: Source) -> str:
    """The newest version that Debian offers."""
    return version_of(newest_file(source.package, source.suites, package_directory(source)))


def fetch(source: Source, refresh: bool = False) -> Path:
    """The package with the source; downloaded when there is none, or to look for a newer one."""
    with locked(f"source-{source.version}"):
        package = fetched(source)
        if package and not refresh:
            return package
        require_space(0.5, f"downloading {source.package}")
        print(f"ferry-lab: fetching {source.package} from Debian", file=sys.stderr)
        newest = downloaded(source.package, source.suites, package_directory(source))
        for older in set(package_directory(source).glob("*.deb")) - {newest}:
            older.unlink()
        return newest


def describe(source: Source, package: Path) -> str:
    """The package's name and version, and with which version the tests passed last."""
    return f"{source.package} {version_of(package)}; {last_tested(source)}"


def tree_lock(source: Source) -> str:
    """Shared while the trees of a version are read, exclusive while they are changed."""
    return f"tree-{source.version}"


@contextlib.contextmanager
def unpacked_base(source: Source, package: Path) -> Iterator[Path]:
    """The source as Debian ships it, which stays as it is within the with statement."""
    version = version_of(package)
    unpacked = tree_directory(source) / "base.version"  # written when the tree is whole
    while True:
        with locked(tree_lock(source), shared=True):
            if read_if_there(unpacked) == version:
                yield tree_directory(source) / "base"
                return
        with locked(tree_lock(source)):
            if read_if_there(unpacked) != version:
                unpack(source, package)


def unpack(source: Source, package: Path) -> None:
    """Replaces all trees of the version by a new `base`.  The caller holds their lock."""
    trees = make_directory(tree_directory(source))
    tree = trees / "base"
    version = version_of(package)
    require_space(3, f"unpacking {source.package}")
    print(f"ferry-lab: unpacking {source.package} {version}", file=sys.stderr)
    (trees / "base.version").unlink(missing_ok=True)
    remove_contents(trees)
    make_directory(tree)
    log = new_log(f"unpack-{source.version}")
    if run_to(log, ["bash", "-c", UNPACK, "unpack", str(package), source.package, str(tree)]):
        remove_contents(trees)
        raise LabError(explain_failure(package, log))
    (trees / "base.version").write_text(version)


def explain_failure(package: Path, log: Path) -> str:
    """Why PACKAGE was not unpacked.  A broken package is removed."""
    lines = log.read_text(errors="replace").strip().splitlines() or ["no message"]
    full = [line for line in lines if "No space left" in line]
    if full:
        return f"cannot unpack {package.name}: {full[0]}; see {log}"
    package.unlink()
    return f"cannot unpack {package.name}: {lines[0]}; see {log}. The next run fetches it again"
