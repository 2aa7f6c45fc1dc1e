# SPDX-License-Identifier: MIT
"""Modules of this repository, built for the kernel that they are loaded into."""

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from lab import REPOSITORY, LabError
from lab.cache import cache_root, locked, make_directory, new_log, read_if_there
from lab.debian.stock import headers_of
from lab.kernels.build import Kernel, compiled, make_command
from lab.kernels.config import read_settings
from lab.kernels.given import has_headers
from lab.kernels.make import run_logged
from lab.tested import last_tested
from lab.toolchain import FOREIGN, tools_prefix


@dataclass(frozen=True)
class Module:
    """What a module is made of; paths are relative to the repository."""

    file: str
    place: str  # with its Kbuild
    sources: tuple[str, ...]


FERRY = Module("ferry.ko", "kernel/module", ("kernel/module", "kernel/core", "kernel/arch", "uapi"))
LEFT_OUT = shutil.ignore_patterns("*.o", "*.ko", "*.mod", "*.mod.c", ".*", "Module.symvers")


def source_key(module: Module) -> str:
    digest = hashlib.sha256()
    for source in module.sources:
        for path in sorted((REPOSITORY / source).rglob("*")):
            if path.suffix in (".c", ".h") or path.name == "Kbuild":
                digest.update(f"{path.relative_to(REPOSITORY)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def build_module(kernel: Kernel, module: Module) -> Path:
    """MODULE for KERNEL, built unless one of the same sources is there."""
    name = kernel.target.name
    built = cache_root() / "modules" / name / kernel.key / source_key(module) / module.file
    if built.exists():
        return built
    log = new_log(f"module-{name}")
    with locked(f"build-{name}"):
        stage = kernel.directory / "module"
        if headers := headers_for(kernel):
            arch = kernel.target.arch
            foreign = [f"ARCH={arch}", f"CROSS_COMPILE={tools_prefix(arch)}"]
            command = ["make", "-C", str(headers), *(foreign if arch in FOREIGN else ())]
            make_it(kernel, module, stage, command, stage, log)
        else:
            make_in_objects(kernel, module, stage, log)
        make_directory(built.parent)
        partial = built.with_name(f".{module.file}")
        shutil.copy2(stage / module.place / module.file, partial)
        os.replace(partial, built)
    return built


def headers_for(kernel: Kernel) -> Path | None:
    """The headers of a kernel that was not compiled here."""
    target = kernel.target
    if target.stock:
        return headers_of(kernel.directory)
    if not target.given or target.given.is_dir():
        return None
    if not has_headers(target.modules):
        folder = target.modules or f"lib/modules/{target.source.version}"
        raise LabError(f"there are no headers to build a module with: {folder}/build leads to none")
    return target.modules / "build"


def lacking(kernel: Kernel, option: str, *, takes_module: bool = False) -> str:
    """Why somebody's KERNEL does not do; "" if it has OPTION, and headers for a module."""
    if not kernel.target.given:
        return ""
    settings = read_settings(read_if_there(kernel.directory / ".config"))
    if settings and option and settings.get(option, "n") != "y":
        return f"the kernel has no {option}"
    try:
        if takes_module:
            headers_for(kernel)
    except LabError as error:
        return str(error)
    return ""


def make_in_objects(kernel: Kernel, module: Module, stage: Path, log: Path) -> None:
    """Builds against the objects of a kernel that the lab has compiled."""
    target = kernel.target
    with compiled(kernel, log) as (tree, objects):
        command = make_command(target, objects, "-s")
        run_logged(module.file, [*command, "modules_prepare"], tree, log)
        # The kernel was built without a list of what it exports: modpost can only warn.
        make_it(kernel, module, stage, [*command, "KBUILD_MODPOST_WARN=1"], tree, log)


def make_it(
    kernel: Kernel, module: Module, stage: Path, command: list[str], tree: Path, log: Path
) -> None:
    package = kernel.target.source
    against = f"{package.package} {kernel.source_version}; {last_tested(package)}"
    shutil.rmtree(stage, ignore_errors=True)
    for source in module.sources:
        shutil.copytree(REPOSITORY / source, stage / source, ignore=LEFT_OUT)
    goal = [*command, "-s", f"M={stage / module.place}", "modules"]
    run_logged(f"{module.file} for {kernel.target.name} ({against})", goal, tree, log)
