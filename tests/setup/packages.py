# SPDX-License-Identifier: MIT
"""Checks the packages in build/packages: their lint, that they are reproducible, and that they
work in minimal Debian roots, where tests/setup/exercise installs and uses them.  cross.py has used
those in build/packages-arm64, so only their lint is left."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from readme import block
from roots import CODENAMES, fresh_root, in_root, running

from lab import REPOSITORY, LabError
from lab.cache import cache_root, make_directory

PACKAGES = REPOSITORY / "build" / "packages"
FOLDER = "/root/packages"
LAST_LINES = 30


def copy_tree(tree: Path) -> None:
    """What git knows of this tree, as another user's settings would have it."""
    listed = subprocess.run(
        ["git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (REPOSITORY / name).exists():
            target = make_directory((tree / name).parent) / Path(name).name
            shutil.copy(REPOSITORY / name, target)
            target.chmod(target.stat().st_mode & 0o700)


def built_elsewhere(folder: Path) -> Path:
    """The packages of a copy of this tree: another path, another user's settings, no git."""
    tree = folder / "a tree of another name"
    copy_tree(tree)
    (tree / ".venv").symlink_to(REPOSITORY / ".venv")
    subprocess.run(
        [tree / "debian" / "build", folder / "packages"],
        env=os.environ | {"TZ": "Asia/Tokyo", "LC_ALL": "C", "HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        umask=0o077,
        check=True,
    )
    return folder / "packages"


def check_that_they_are_reproducible() -> None:
    with tempfile.TemporaryDirectory(prefix="packages-") as folder:
        second = built_elsewhere(Path(folder))
        names = sorted(path.name for path in PACKAGES.glob("*.deb"))
        assert names == sorted(path.name for path in second.glob("*.deb")) != []
        differ = [name for name in names if not same(PACKAGES / name, second / name)]
        if differ:
            raise LabError(f"another build gave other bytes: {', '.join(differ)}")


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def check_lint() -> None:
    command = ["lintian", "--allow-root", "--fail-on", "error,warning"]
    if subprocess.run([*command, *PACKAGES.parent.glob("packages*/*.deb")], check=False).returncode:
        raise LabError("lintian complains")


def missing_headers(source: Path) -> Iterator[str]:
    """What the module's source includes, and the package lacks."""
    for path in source.rglob("*.[ch]"):
        text = path.read_text()
        for name in re.findall(r'^#include "(.*)"', text, re.M):
            if not (path.parent / name).exists():
                yield name
        for name in re.findall(
            r"^#include <((?:uapi/)?(?:linux|asm)/(?:ferry|flexsc|subcall)\S*)>", text, re.M
        ):
            places = (source, source / "kernel/module/compat")
            if not any((place / name).exists() for place in places):
                yield name


def check_the_source_of_the_module() -> None:
    with tempfile.TemporaryDirectory(prefix="packages-") as folder:
        (package,) = PACKAGES.glob("ferry-dkms_*.deb")
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        (source,) = Path(folder, "usr/src").iterdir()
        kbuild = (source / "kernel/module/Kbuild").read_text()
        objects = re.search(r"^ferry-y := (.*)$", kbuild, re.M)
        assert objects
        files = [Path(name).with_suffix(".c") for name in objects[1].split()]
        lacking = [str(name) for name in files if not (source / "kernel/module" / name).exists()]
        lacking += missing_headers(source)
        if lacking:
            raise LabError(f"ferry-dkms lacks {', '.join(lacking)}")


def fill(folder: Path) -> None:
    """With what the exercise takes."""
    folder.mkdir()
    tests = REPOSITORY / "tests" / "setup"
    for path in (*PACKAGES.glob("*.deb"), tests / "exercise", tests / "cat.ferry"):
        shutil.copy(path, folder)
    copy_tree(folder / "ferry")
    (folder / "cat.c").write_text(block("#include"))
    names = re.findall(r"^\t\t(ferry_\w+);$", (REPOSITORY / "lib/libferry.map").read_text(), re.M)
    (folder / "functions").write_text("".join(f"{name}\n" for name in names))


def new_root_log(name: str, release: str) -> Path:
    log = make_directory(cache_root() / "logs") / f"{name}-debian-{release}.log"
    log.unlink(missing_ok=True)
    return log


def run_there(root: Path, program: str, log: Path, complaint: str) -> None:
    """Runs PROGRAM in FOLDER inside ROOT; when it fails, prints its last lines and raises."""
    with running(in_root(root, FOLDER, [program]), log) as process:
        status = process.wait()
    if status:
        print(*log.read_text(errors="replace").splitlines()[-LAST_LINES:], sep="\n")
        raise LabError(f"{complaint}; the whole log is {log}")


def exercise(release: str) -> None:
    log = new_root_log("packages", release)
    with fresh_root(release) as root:
        fill(root / FOLDER[1:])
        run_there(root, "./exercise", log, f"the packages do not work in Debian {release}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="check-packages", description=__doc__)
    parser.add_argument("--release", nargs="+", choices=CODENAMES, default=list(CODENAMES))
    releases = parser.parse_args().release
    check_lint()
    check_the_source_of_the_module()
    check_that_they_are_reproducible()
    print("check-packages: lintian is content, and another build gave the same bytes", flush=True)
    for release in releases:
        exercise(release)
        print(f"check-packages: they work in Debian {release}, and leave nothing there", flush=True)


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(f"check-packages: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
