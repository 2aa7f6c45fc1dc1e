# SPDX-License-Identifier: MIT
"""Debian's stock kernels: fetched, unpacked beside each other, never installed.

A kernel's directory holds the image, `initrd` with what it takes to reach the root (for another
machine: beside its busybox), and `headers`, with what modules are built against.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lab import LabError
from lab.cache import cache_root, locked, log_file, made_whole, make_directory, require_space
from lab.debian.initrd import write_foreign_modules, write_initrd
from lab.debian.packages import depends_on, download, newest, updated_state
from lab.targets import Target
from lab.toolchain import FOREIGN, STOCK, require_commands

LAYOUT = "1"  # of the directory; part of its key


def provide(target: Target) -> tuple[str, Path]:
    """The key and the directory of the newest kernel that was fetched, or that there is."""
    require_commands(STOCK)
    kernels = make_directory(cache_root() / "builds" / target.name)
    with locked(f"build-{target.name}"):
        release = fetched_release(target)
        directory = kernels / f"{release}-{LAYOUT}" if release else fetch_stock(target, kernels)
    return hashlib.sha256(directory.name.encode()).hexdigest()[:16], directory


def foreign_name(target: Target) -> str:
    """Debian's name of another machine; "" for this one."""
    return FOREIGN[target.arch].name if target.arch in FOREIGN else ""


def newest_release(target: Target, directory: Path) -> str:
    """The release, as uname(1) prints it, of the newest kernel in Debian's suites."""
    source, foreign = target.source, foreign_name(target)
    release = rf"\.\d[.0-9+~a-z]*(-\d+)?-{foreign or 'amd64'}"
    name = newest(source.package, release, source.suites, directory, foreign)
    return name.removeprefix("linux-headers-")


def fetched_release(target: Target) -> str | None:
    """The release of the kernel that was downloaded last."""
    kernels = cache_root() / "builds" / target.name
    done = [path for path in kernels.glob(f"*-{LAYOUT}") if not path.name.startswith(".")]
    newest_path = max(done, key=lambda path: path.stat().st_mtime, default=None)
    return newest_path.name.removesuffix(f"-{LAYOUT}") if newest_path else None


def fetch_stock(target: Target, kernels: Path) -> Path:
    require_space(2, f"downloading {target.name}")
    print(f"ferry-lab: fetching {target.name} from Debian", file=sys.stderr)
    suites, foreign = target.source.suites, foreign_name(target)
    release = newest_release(target, kernels)
    headers = f"linux-headers-{release}"
    needed = depends_on(headers, suites, foreign)
    images = [name for name in needed if name.startswith(f"linux-image-{release}")]
    common = [name for name in needed if re.match(r"linux-headers-.*-common", name)]
    tools = [name for name in needed if name.startswith("linux-kbuild")]  # that run here
    image = images[-1] if images else f"linux-image-{release}"
    directory = kernels / f"{release}-{LAYOUT}"
    with made_whole(directory) as partial:
        packages = make_directory(partial / "packages")
        download([headers, image, *common], suites, packages, foreign)
        if foreign:
            updated_state(headers, suites, packages)
        download(tools, suites, packages)
        tree = make_directory(partial / "headers")
        for package in sorted(packages.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", str(package), str(tree)], check=True)
        shutil.rmtree(packages)
        arrange(partial, tree, release, write_foreign_modules if foreign else write_initrd)
        point_to(tree, directory / "headers")
    return directory


def arrange(directory: Path, tree: Path, release: str, write: Callable[[Path, Path], None]) -> None:
    """Moves the image out of the unpacked packages, makes the initrd, and drops the rest."""
    if not (tree / "boot" / f"vmlinuz-{release}").exists():
        raise LabError(f"the package of the kernel {release} holds no boot/vmlinuz-{release}")
    shutil.move(tree / "boot" / f"vmlinuz-{release}", directory / "vmlinuz")
    with log_file("stock").open("wb") as log:
        subprocess.run(
            ["depmod", "-b", str(tree), release],
            stdout=log,
            stderr=log,
            check=True,
        )
    write(tree / "lib" / "modules" / release, directory / "initrd")
    shutil.rmtree(tree / "lib" / "modules")
    (directory / "headers-of").write_text(f"linux-headers-{release}\n")


def point_to(tree: Path, place: Path) -> None:
    """Has the headers' makefiles look in PLACE for each other, and not in /usr/src."""
    for makefile in (tree / "usr" / "src").glob("linux-headers-*/Makefile"):
        makefile.write_text(makefile.read_text().replace(" /usr/src/", f" {place}/usr/src/"))


def headers_of(directory: Path) -> Path:
    """What a stock kernel's modules are built against."""
    return directory / "headers" / "usr" / "src" / (directory / "headers-of").read_text().strip()
