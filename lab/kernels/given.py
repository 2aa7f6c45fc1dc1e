# SPDX-License-Identifier: MIT
"""Kernels that the lab did not make: an image that somebody built, a tree that somebody patched."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from lab import LabError
from lab.cache import made_whole, prune_builds, read_if_there
from lab.debian.initrd import write_initrd
from lab.kernels.config import check_guest, guest_fragment, read_settings
from lab.targets import FOREIGN_TARGETS, Source, Target, find_target
from lab.toolchain import FOREIGN, STOCK, require_commands


def given_target(model: Target, given: Path, release: str) -> Target:
    """What is GIVEN as a target that is built and tested like MODEL."""
    path = given.absolute()
    where = hashlib.sha256(f"{path} {model.name}".encode()).hexdigest()[:6]
    return replace(
        model,
        name=re.sub(r"[^\w.+-]", "_", f"{path.name}-{where}"),
        source=Source(release, str(path), ()),
        series=False,
        stock=False,
        given=path,
        like=model.name,
    )


# The options that say what a kernel is for; user-mode Linux sets its host's as well.
MACHINES = {
    "CONFIG_UML": "um",
    "CONFIG_X86_64": "x86",
    "CONFIG_RISCV": "riscv",
    "CONFIG_ARM64": "arm64",
}
OLDEST = (6, 1)


def usual_model(arch: str, version: Sequence[int], takes_module: bool = False) -> str | None:
    """The name of the target whose tests suit a kernel of VERSION for ARCH."""
    if arch == "um":
        return "uml-7.3"
    if arch == "x86":
        if takes_module:
            return "debian-6.12" if tuple(version) >= (6, 12) else "debian-6.1"
        return "x86-7.3" if tuple(version) >= (7,) else "x86-6.12"
    return next((target.name for target in FOREIGN_TARGETS if target.arch == arch), None)


def warn_if_old(what: Path, version: Sequence[int]) -> None:
    if tuple(version) < OLDEST:
        numbers, oldest = (".".join(map(str, each)) for each in (version, OLDEST))
        print(
            f"ferry-lab: {what} is Linux {numbers}; older kernels than {oldest} are untested",
            file=sys.stderr,
        )


# ---- a source tree ----


def source_target(tree: Path, like: str | None = None) -> Target:
    """The kernel of TREE, in its own configuration if it has one, else in that of LIKE."""
    if not (tree / "Kconfig").exists() or not (tree / "kernel").is_dir():
        built = (tree / "source").exists() and (tree / ".config").exists()
        hint = ", but what make O= left: give --kernel-image its image" if built else ""
        raise LabError(f"--source {tree}: this is not a kernel's source tree{hint}")
    if re.search(r"[\s:]", str(tree.absolute())):
        raise LabError(f"--source {tree}: make cannot use a path with a space or colon in it")
    own = read_settings(read_if_there(tree / ".config"))
    if not own and ((tree / ".config").exists() or (tree / "include/config").exists()):
        raise LabError(
            f"--source {tree}: there are objects in it, and no configuration;"
            f" 'make -C {tree} mrproper' removes them"
        )
    version = version_of_tree(tree)
    arch = next((arch for option, arch in MACHINES.items() if own.get(option) == "y"), None)
    name = like or usual_model(arch or "um", version or OLDEST)
    if (own and not arch) or not name:
        raise LabError(f"--source {tree}: the lab has no guest for the machine of its .config")
    model = find_target(name)
    if model.stock or (own and model.arch != arch):
        raise LabError(f"--source {tree}: {model.name} is not what this tree is configured for")
    if own:
        model = replace(model, base_config="", fragments=())
    if version:
        warn_if_old(tree, version)
    return given_target(model, tree, model.source.version)


def version_of_tree(tree: Path) -> list[int]:
    """The first two numbers of its version; empty if its Makefile does not say."""
    text = read_if_there(tree / "Makefile")
    found = re.findall(r"^(?:VERSION|PATCHLEVEL) *= *(\d+)$", text, re.M)
    return [int(number) for number in found[:2]]


# ---- an image ----

# In the header of an Image: Documentation/arch/{arm64,riscv} in the kernel.
IMAGES = {b"ARM\x64": "arm64", b"RSC\x05": "riscv"}
# The first bytes of formats that the lab does not boot, with advice.
OTHER_FORMATS = {
    b"\x1f\x8b": "it is compressed: unpack it with gunzip",
    b"\x28\xb5\x2f\xfd": "it is compressed: unpack it with zstd -d",
    b"\x7fELF": "for a vmlinux, give arch/x86/boot/bzImage",
    b"MZ\0\0zimg": "it is a compressed EFI program: give arch/*/boot/Image",
}
RELEASE = re.compile(rb"\d+\.\d[\w.+~-]*")  # it names files and directories


def identify(image: Path) -> tuple[str, str]:
    """The architecture and the release of the kernel in IMAGE."""
    if image.exists() and not image.is_file():
        raise LabError(f"--kernel-image {image}: this is not a file")
    with image.open("rb") as file:
        head = file.read(1 << 17)
    if head[0x202:0x206] == b"HdrS":
        return "x86", release_of_bzimage(image, head)
    if arch := IMAGES.get(head[0x38:0x3C]):
        if not usual_model(arch, OLDEST):
            raise LabError(f"--kernel-image {image}: the lab has no guest for its machine, {arch}")
        if match := re.search(rb"Linux version (%b) " % RELEASE.pattern, image.read_bytes()):
            return arch, match[1].decode()
    # A user-mode kernel is a program, which prints its release; vmlinux is not.
    if head.startswith(b"\x7fELF") and os.access(image, os.X_OK):
        command = [str(image.absolute()), "--version"]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            shown = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
            ).stdout
            if match := re.fullmatch(rb"(%b)\s*" % RELEASE.pattern, shown):
                return "um", match[1].decode()
    hint = next((text for start, text in OTHER_FORMATS.items() if head.startswith(start)), "")
    raise LabError(
        f"--kernel-image {image}: this is neither a bzImage for x86-64 nor the program 'linux' of"
        f" user-mode Linux nor an Image for {' or '.join(FOREIGN)}{hint and f'; {hint}'}"
    )


def release_of_bzimage(image: Path, head: bytes) -> str:
    """The release that the header names: the kernel's Documentation/arch/x86/boot.rst."""

    def number(start: int, end: int) -> int:
        return int.from_bytes(head[start:end], "little")

    if not number(0x236, 0x238) & 1:  # XLF_KERNEL_64
        raise LabError(f"--kernel-image {image}: this kernel is for 32-bit x86")
    sectors = (head[0x1F1] or 4) + 1
    whole, size = sectors * 512 + number(0x1F4, 0x1F8) * 16, image.stat().st_size
    release = RELEASE.match(head, number(0x20E, 0x210) + 0x200)
    if not release or size < whole:
        raise LabError(f"--kernel-image {image}: it is damaged: {size} bytes of {whole} or more")
    return release[0].decode()


def modules_of(image: Path, release: str, given: Path | None) -> Path | None:
    """The folder of the modules of IMAGE: as GIVEN, else where a package has it."""
    if given:
        if given.absolute().name != release or not (given / "kernel").is_dir():
            raise LabError(f"--modules {given}: the folder of {image} is lib/modules/{release}")
        return given.absolute()
    beside = image.absolute().parent
    root = beside.parent
    usual = [folder / release for folder in (root / "lib/modules", root / "usr/lib/modules")]
    if beside.name == release:  # some distributions have the image in there
        usual.insert(0, beside)
    usual.append(Path("/lib/modules") / release)
    return next((path for path in usual if (path / "kernel").is_dir()), None)


def has_headers(modules: Path | None) -> TypeGuard[Path]:
    """Whether modules can be built for the kernel whose own are in MODULES."""
    return bool(modules and (modules / "build" / "Makefile").exists())


def config_of(image: Path, release: str, modules: Path | None) -> Path | None:
    """The configuration of IMAGE, where one is beside it or its modules."""
    places = [image.with_name(f"config-{release}"), image.with_name(".config")]
    if any(image.absolute().match(f"arch/*/boot/{name}") for name in ("bzImage", "Image")):
        places.append(image.absolute().parents[3] / ".config")
    if modules:
        places += [modules / "config", modules / "build" / ".config"]
    return next((path for path in places if path.exists()), None)


def image_target(image: Path, modules: Path | None, like: str | None = None) -> Target:
    """The kernel in IMAGE, whose tests are those of LIKE."""
    arch, release = identify(image)
    folder = modules_of(image, release, modules) if arch == "x86" else None
    if modules and not folder:
        raise LabError(f"--modules {modules}: guests for {arch} load no modules")
    config = config_of(image, release, folder)
    settings = read_settings(config.read_text()) if config else {}
    if config:
        check_guest(arch, settings, str(config), modules=bool(folder))
    else:
        print(
            f"ferry-lab: {image} has no configuration beside it;"
            f" a guest takes the options of {guest_fragment(arch)}",
            file=sys.stderr,
        )
    version = [int(number) for number in re.findall(r"\d+", release)[:2]]
    warn_if_old(image, version)
    # Without headers there is no module to test.
    has_series = settings.get("CONFIG_SUBCALL_BATCH") == "y"
    takes_module = not has_series and has_headers(folder)
    model = find_target(like or usual_model(arch, version, takes_module) or "")
    if model.arch != arch:
        raise LabError(f"--kernel-image {image}: {model.name} is for another machine than {arch}")
    model = replace(model, image=image.name, modules=folder)
    return given_target(model, image, release)


def provide_image(target: Target, kernels: Path) -> tuple[str, Path]:
    """The key of the kernel, and its directory in KERNELS with a copy of the image."""
    assert target.given
    digest = hashlib.sha256(target.given.read_bytes())
    if target.modules:
        require_commands(STOCK)
        for name in ("modules.dep", "modules.order"):
            digest.update(read_if_there(target.modules / name).encode())
    key = digest.hexdigest()[:16]
    if not (kernels / key).is_dir():
        with made_whole(kernels / key) as partial:
            shutil.copy2(target.given, partial)
            if config := config_of(target.given, target.source.version, target.modules):
                shutil.copy2(config, partial / ".config")
            if target.modules:
                write_initrd(target.modules, partial / "initrd")
            (partial / "about.json").write_text(json.dumps({"source": target.source.version}))
        prune_builds(target.name)
    return key, kernels / key
