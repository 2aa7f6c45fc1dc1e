# SPDX-License-Identifier: MIT
"""Builds a target: source, series, configuration, make; kept by a key of all its inputs."""

import contextlib
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.cache import (
    cache_root,
    locked,
    made_whole,
    make_directory,
    new_log,
    prune_builds,
    read_if_there,
    require_space,
)
from lab.debian.packages import version_of
from lab.debian.sources import describe, fetch, tree_directory, tree_lock, unpacked_base
from lab.debian.stock import fetched_release, provide
from lab.kernels import series
from lab.kernels.config import check_settings, fragments, render, requested
from lab.kernels.make import run_logged
from lab.kernels.progress import progress
from lab.kernels.trees import sync_tree
from lab.targets import Target
from lab.toolchain import compiler, compiler_version, require_toolchain

KEPT_FILES = (".config", "System.map")


@dataclass(frozen=True)
class Kernel:
    """A finished kernel."""

    target: Target
    key: str
    directory: Path

    @property
    def image(self) -> Path:
        return self.directory / Path(self.target.image).name

    @property
    def source_version(self) -> str:
        """Of Debian's package: the version of a source, the release of a stock kernel."""
        if self.target.stock:
            return fetched_release(self.target) or ""
        version: str = json.loads((self.directory / "about.json").read_text())["source"]
        return version

    @property
    def initrd(self) -> Path | None:
        """What a stock kernel needs to reach its root."""
        path = self.directory / "initrd"
        return path if path.exists() else None


def patches_of(target: Target) -> list[series.Patch]:
    """What is applied to the source of TARGET, in this order."""
    version = target.source.version
    own = series.read_series(version) if target.series else []
    return own + [series.read_given(directory, version) for directory in target.patches]


def series_state(target: Target) -> str:
    """A hash of all that the patches do to the tree of TARGET."""
    digest = hashlib.sha256()
    for name, content in series.inputs(patches_of(target)):
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def key_of(target: Target, version: str) -> str:
    """Names a build by everything that it depends on."""
    digest = hashlib.sha256()
    for part in (
        target.name,
        target.arch,
        target.base_config,
        version,
        series_state(target),
        render(requested(fragments(target))),
        compiler_version(),
    ):
        digest.update(f"{len(part)} {part}\n".encode())
    return digest.hexdigest()[:16]


def finished(target: Target, key: str) -> Kernel | None:
    directory = cache_root() / "builds" / target.builds / key
    return Kernel(target, key, directory) if directory.is_dir() else None


def build(target: Target, jobs: int | None = None) -> Kernel:
    """The kernel of TARGET, built unless one with the same inputs is there."""
    require_toolchain(target.arch)
    if target.stock:
        return Kernel(target, *provide(target))
    package = fetch(target.source)
    with locked(f"build-{target.name}"):
        key = key_of(target, version_of(package))
        if kernel := finished(target, key):
            os.utime(kernel.directory)
            return kernel
        with prepared_tree(target, package) as tree:
            if key_of(target, version_of(package)) != key:
                raise LabError("the series or the configuration changed meanwhile: run it again")
            objects = make_directory(tree / f"objects-{target.name}")
            log = new_log(f"build-{target.name}")
            configure(target, tree, objects, log, key)
            compile_kernel(target, tree, objects, log, jobs or os.cpu_count() or 1)
        return keep(target, key, objects, version_of(package))


@contextlib.contextmanager
def prepared_tree(target: Target, package: Path) -> Iterator[Path]:
    """TARGET's tree, which stays as it is within the with statement."""
    tree = tree_directory(target.source) / target.tree
    wanted = series_state(target)
    while True:
        with unpacked_base(target.source, package) as base:
            if read_if_there(state_file(tree)) == wanted:
                yield tree
                return
        with locked(tree_lock(target.source)):
            prepare(target, package, base, tree, wanted)


def state_file(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.state")


def prepare(target: Target, package: Path, base: Path, tree: Path, wanted: str) -> None:
    """Applies the series.  The caller holds the lock of the trees."""
    source = target.source
    files = series.assemble(base, patches_of(target), describe(source, package))
    if series_state(target) != wanted:
        raise LabError("the series changed while it was read: run it again")
    state_file(tree).unlink(missing_ok=True)
    sync_tree(base, tree, files)
    state_file(tree).write_text(wanted)


def make_command(target: Target, objects: Path, *goals: str) -> list[str]:
    variant = target.name.partition(target.source.version)[2]
    return [
        "nice",
        "make",
        f"O={objects}",
        f"ARCH={target.arch}",
        f"CC={compiler()}",
        f"LOCALVERSION=-ferry{variant}",
        "KBUILD_BUILD_USER=ferry",
        "KBUILD_BUILD_HOST=lab",
        "KBUILD_BUILD_TIMESTAMP=2026-01-01",
        *goals,
    ]


def configure(target: Target, tree: Path, objects: Path, log: Path, key: str) -> None:
    """Writes the configuration, unless the objects have it already."""
    stamp = objects / "ferry-configured"
    if read_if_there(stamp) == key and (objects / ".config").exists():
        return
    stamp.unlink(missing_ok=True)
    wanted = requested(fragments(target))
    run_logged(target.name, make_command(target, objects, "-s", target.base_config), tree, log)
    config = objects / ".config"
    # Of the options of a choice, the last one counts.
    others = {n: v for n, v in requested([config]).items() if n not in wanted}
    config.write_text(render(others | wanted))
    run_logged(target.name, make_command(target, objects, "-s", "olddefconfig"), tree, log)
    check_settings(wanted, config.read_text(), target.name)
    stamp.write_text(key)


def compile_kernel(target: Target, tree: Path, objects: Path, log: Path, jobs: int) -> None:
    done = sum(1 for _ in objects.rglob("*.o"))
    if done == 0:
        require_space(1.5, f"building {target.name}")
    started = time.monotonic()
    with progress(target.name, done, target.steps) as feed:
        command = make_command(target, objects, f"-j{jobs}", Path(target.image).name)
        run_logged(target.name, command, tree, log, feed)
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    print(f"ferry-lab: built {target.name} in {minutes} min {seconds} s", file=sys.stderr)


@contextlib.contextmanager
def compiled(kernel: Kernel, log: Path) -> Iterator[tuple[Path, Path]]:
    """The tree and the objects of a kernel that the lab built, for more to be made in them.

    The caller holds the lock of its builds.
    """
    target = kernel.target
    with prepared_tree(target, fetch(target.source)) as tree:
        objects = make_directory(tree / f"objects-{target.name}")
        configure(target, tree, objects, log, kernel.key)
        compile_kernel(target, tree, objects, log, os.cpu_count() or 1)
        yield tree, objects


def keep(target: Target, key: str, objects: Path, version: str) -> Kernel:
    """Copies what booting takes out of the objects."""
    directory = cache_root() / "builds" / target.builds / key
    about = {"target": target.name, "source": version, "compiler": compiler_version()}
    with made_whole(directory) as partial:
        for name in (target.image, *KEPT_FILES):
            shutil.copy2(objects / name, partial / Path(name).name)
        (partial / "about.json").write_text(json.dumps(about, indent=2) + "\n")
    prune_builds(target.builds)
    return Kernel(target, key, directory)
