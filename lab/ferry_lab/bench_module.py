# SPDX-License-Identifier: MIT
"""The test module of the benchmarks, built for the kernel that it is loaded into."""

import hashlib
import os
import shutil
from pathlib import Path

from ferry_lab import REPOSITORY
from ferry_lab.build import (
    Kernel,
    compile_kernel,
    configure,
    prepared_tree,
    run_make,
)
from ferry_lab.cache import cache_root, locked, log_file, make_directory
from ferry_lab.sources import fetch

SOURCES = REPOSITORY / "bench" / "kernel" / "module"
UAPI = REPOSITORY / "uapi"
NAME = "ferry_bench.ko"

# For sh in the guest: only the running kernel knows where its table is.
LOAD = (
    "table=$(sed -n 's/ . sys_call_table$//p' /proc/kallsyms) &&"
    " insmod {module} table=0x$table || exit"
)


def load_command(module: Path) -> str:
    return LOAD.format(module=module)


def source_key() -> str:
    digest = hashlib.sha256()
    for path in sorted([*SOURCES.iterdir(), *UAPI.glob("linux/*")]):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def build_module(kernel: Kernel) -> Path:
    """The module for KERNEL, built unless one of the same sources is there."""
    target = kernel.target
    kept = make_directory(cache_root() / "modules" / target.name / kernel.key)
    module = kept / source_key() / NAME
    if module.exists():
        return module
    log = log_file(f"module-{target.name}")
    package = fetch(target.source)
    with locked(f"build-{target.name}"), prepared_tree(target, package) as tree:
        objects = make_directory(tree / f"objects-{target.name}")
        configure(target, tree, objects, log, kernel.key)
        compile_kernel(target, tree, objects, log, os.cpu_count() or 1)
        run_make(target, tree, objects, log, ["-s", "modules_prepare"], None)
        sources = objects / "ferry-bench"
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(SOURCES, sources)
        # The kernel was built without a list of what it exports: modpost can only warn.
        settings = [f"M={sources}", f"FERRY_UAPI={UAPI}", "KBUILD_MODPOST_WARN=1"]
        run_make(target, tree, objects, log, ["-s", *settings, "modules"], None)
        make_directory(module.parent)
        partial = module.with_name(f".{NAME}")
        shutil.copy2(sources / NAME, partial)
        os.replace(partial, module)
    return module
