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
from lab.kernels.config import (
    CONFIGS,
    check_guest,
    check_settings,
    fragments,
    read_settings,
    refused,
    render,
    requested,
)
from lab.kernels.given import provide_image
from lab.kernels.make import run_logged
from lab.kernels.places import PLACES, find_places, variables
from lab.kernels.progress import progress
from lab.kernels.trees import sync_tree
from lab.targets import SERIES_FRAGMENTS, Target
from lab.toolchain import FOREIGN, compiler, compiler_version, require_toolchain, tools_prefix

KEPT_FILES = (".config", "System.map")
NOT_COMPILED = ("Documentation/", "tools/")  # no kernel depends on what is in there


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
        """Of Debian's package: the version of a source; the release of any other kernel."""
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
    if target.only is not None:
        named = {patch.name: patch for patch in own}
        own = [named[name] for name in target.only]
    return own + [series.read_given(directory, version) for directory in target.patches]


def series_state(target: Target, leave_out: tuple[str, ...] = ()) -> str:
    """A hash of all that the patches do to the tree of TARGET, but for files added in LEAVE_OUT."""
    digest = hashlib.sha256()
    for name, content in series.inputs(patches_of(target), leave_out):
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
        series_state(target, NOT_COMPILED),
        render(requested(fragments(target))),
        compiler_version(target.arch),
        *variables(target),
    ):
        digest.update(f"{len(part)} {part}\n".encode())
    return digest.hexdigest()[:16]


def build(target: Target, jobs: int | None = None) -> Kernel:
    """The kernel of TARGET, built unless one with the same inputs is there."""
    require_toolchain(target.arch)
    if target.stock:
        return Kernel(target, *provide(target))
    kernels = make_directory(cache_root() / "builds" / target.builds)
    if target.given:
        with locked(f"build-{target.name}"):
            if target.given.is_file():
                return Kernel(target, *provide_image(target, kernels))
            return build_given(target, kernels, jobs)
    package = fetch(target.source)
    with locked(f"build-{target.name}"):
        key = key_of(target, version_of(package))
        kernel = Kernel(target, key, kernels / key)
        if kernel.directory.is_dir():
            os.utime(kernel.directory)
            return kernel
        with prepared_tree(target) as tree:
            if key_of(target, version_of(package)) != key:
                raise LabError("the series or the configuration changed meanwhile: run it again")
            objects = compile_in(target, tree, new_log(f"build-{target.name}"), key, jobs)
        keep(kernel, objects, version_of(package), tree)
        return kernel


def build_given(target: Target, kernels: Path, jobs: int | None) -> Kernel:
    """The kernel of somebody's tree, of which make alone knows what has changed."""
    assert target.given
    log = new_log(f"build-{target.name}")
    objects = compile_in(target, target.given, log, key_of(target, ""), jobs)
    key = hashlib.sha256((objects / target.image).read_bytes()).hexdigest()[:16]
    kernel = Kernel(target, key, kernels / key)
    if not kernel.directory.is_dir():
        release = (objects / "include/config/kernel.release").read_text().strip()
        keep(kernel, objects, release, target.given)
    return kernel


def compile_in(target: Target, tree: Path, log: Path, key: str, jobs: int | None = None) -> Path:
    """Brings the objects of TARGET up to date with TREE; where they are."""
    objects = objects_of(target, tree)
    configure(target, tree, objects, log, key)
    compile_kernel(target, tree, objects, log, jobs or os.cpu_count() or 1)
    return objects


def objects_of(target: Target, tree: Path) -> Path:
    if not target.given:
        return make_directory(tree / f"objects-{target.name}")
    # What was configured there is compiled there, too: make takes one or the other.
    return given_objects(target) if target.base_config else tree


def given_objects(target: Target) -> Path:
    """What is compiled of somebody's tree, but for a kernel that is configured in the tree."""
    return make_directory(cache_root() / "objects" / target.name)


@contextlib.contextmanager
def prepared_tree(target: Target) -> Iterator[Path]:
    """TARGET's tree, which stays as it is within the with statement unless it is somebody's."""
    if target.given:
        yield target.given
        return
    package = fetch(target.source)
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
    make = ["nice", "make", f"O={objects}", f"ARCH={target.arch}"]
    if not target.base_config:
        # As its owner does, so that nothing is compiled again.
        foreign = target.arch in FOREIGN and not os.environ.get("CROSS_COMPILE")
        tools = [f"CROSS_COMPILE={tools_prefix(target.arch)}"] if foreign else []
        return [*make, *tools, *goals]
    variant = target.name.partition(target.source.version)[2]
    return [
        *make,
        f"CC={compiler(target.arch)}",
        f"CROSS_COMPILE={tools_prefix(target.arch)}",
        f"LOCALVERSION=-ferry{variant}",
        "KBUILD_BUILD_USER=ferry",
        "KBUILD_BUILD_HOST=lab",
        "KBUILD_BUILD_TIMESTAMP=2026-01-01",
        *variables(target),
        *goals,
    ]


def configure(target: Target, tree: Path, objects: Path, log: Path, key: str) -> None:
    """Writes the configuration, unless the objects have it already."""
    stamp = objects / "ferry-configured"
    if read_if_there(stamp) == key and (objects / ".config").exists():
        return
    stamp.unlink(missing_ok=True)
    config = objects / ".config"
    if not target.base_config:
        check_guest(target.arch, read_settings(config.read_text()), str(config))
        return
    wanted = requested(fragments(target))
    run_logged(target.name, make_command(target, objects, "-s", target.base_config), tree, log)
    # Of the options of a choice, the last one counts.
    others = {n: v for n, v in requested([config]).items() if n not in wanted}
    config.write_text(render(others | wanted))
    run_logged(target.name, make_command(target, objects, "-s", "olddefconfig"), tree, log)
    if target.given:
        check_guest(target.arch, read_settings(config.read_text()), f"of {tree}")
        if lacking := refused(wanted, config.read_text()):
            print(f"ferry-lab: {tree} refuses {', '.join(lacking)}", file=sys.stderr)
    else:
        check_settings(offered(target, wanted), config.read_text(), target.name)
    stamp.write_text(key)


def offered(target: Target, wanted: dict[str, str]) -> dict[str, str]:
    """What of WANTED the kernel has to grant: with a part of the series, its options may lack."""
    names = SERIES_FRAGMENTS[target.source.version] if target.only is not None else ()
    own = requested([CONFIGS / name for name in names])
    return {name: value for name, value in wanted.items() if name not in own}


def compile_kernel(target: Target, tree: Path, objects: Path, log: Path, jobs: int) -> None:
    done = sum(1 for _ in objects.rglob("*.o"))
    if done == 0:
        require_space(1.5, f"building {target.name}")
    started = time.monotonic()
    with progress(target.name, done, target.steps) as feed:
        # Somebody's tree may have got options since it was configured.
        goals = ["olddefconfig"] if target.given and target.base_config else []
        command = make_command(target, objects, f"-j{jobs}", *goals, Path(target.image).name)
        run_logged(target.name, command, tree, log, feed)
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    print(f"ferry-lab: built {target.name} in {minutes} min {seconds} s", file=sys.stderr)


@contextlib.contextmanager
def compiled(kernel: Kernel, log: Path) -> Iterator[tuple[Path, Path]]:
    """The tree and the objects of a kernel that the lab built, for more to be made in them.

    The caller holds the lock of its builds.
    """
    target = kernel.target
    key = key_of(target, "") if target.given else kernel.key
    with prepared_tree(target) as tree:
        yield tree, compile_in(target, tree, log, key)


def keep(kernel: Kernel, objects: Path, version: str, tree: Path) -> None:
    """Copies what booting and testing take out of the objects."""
    target = kernel.target
    about = {"target": target.name, "source": version, "compiler": compiler_version(target.arch)}
    with made_whole(kernel.directory) as partial:
        for name in (target.image, *KEPT_FILES):
            shutil.copy2(objects / name, partial / Path(name).name)
        if target.covered:
            (partial / PLACES).write_text(find_places(target, tree, objects / "vmlinux"))
        (partial / "about.json").write_text(json.dumps(about, indent=2) + "\n")
    prune_builds(target.builds)
