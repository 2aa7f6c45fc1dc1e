#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes wheels of the package for other machines and C libraries out of one for this machine.

Usage: wheels.py WHEEL FOLDER [PLATFORM...]

WHEEL is what pip built, for the Python that runs this.  For each PLATFORM (all of them by default)
the extension is compiled again by `zig cc`, which has the headers and libraries of all; Python's
own headers are the same on all 64-bit machines.  The rest of the wheel is copied.  There is no
stable ABI for extensions of Python 3.11: nanobind needs 3.12 for that.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanobind  # type: ignore[import-untyped]
import numpy as np

HERE = Path(__file__).resolve().parent
LIBRARY = HERE / os.path.relpath(
    subprocess.check_output([HERE / "library.py", "folder"], text=True).strip()
)

PLATFORMS = {  # the target of zig, and the end of an extension's name
    "manylinux_2_28_x86_64": ("x86_64-linux-gnu.2.28", "x86_64-linux-gnu"),
    "manylinux_2_28_aarch64": ("aarch64-linux-gnu.2.28", "aarch64-linux-gnu"),
    "musllinux_1_2_x86_64": ("x86_64-linux-musl", "x86_64-linux-musl"),
    "musllinux_1_2_aarch64": ("aarch64-linux-musl", "aarch64-linux-musl"),
}
# Of libgcc_s: what compiled C++ and its library call.
UNWINDING = (
    "DeleteException ForcedUnwind GetGR GetIP GetIPInfo GetLanguageSpecificData GetRegionStart"
    " RaiseException Resume Resume_or_Rethrow SetGR SetIP"
)
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"

# As in meson.build, src/meson.build and ferry/meson.build.  Zig's own default traps what it finds.
BOTH = ["-O2", "-DNDEBUG", "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden", "-w"]
BOTH += ["-fno-sanitize=undefined", "-ffunction-sections", "-fdata-sections"]
C = [*BOTH, "-std=gnu11"]
CPP = [*BOTH, "-std=c++17", "-fno-strict-aliasing", "-DNB_COMPACT_ASSERTIONS"]


def zig(tool: str, target: str) -> list[str]:
    return [sys.executable, "-m", "ziglang", tool, "-target", target]


def own_sources() -> list[Path]:
    listed = (HERE / "src" / "meson.build").read_text()
    return [HERE / "src" / name for name in re.findall(r"^  '(\w+\.cc)',$", listed, re.M)]


def library_sources() -> list[Path]:
    said = subprocess.check_output([HERE / "library.py", "sources"], text=True, cwd=HERE)
    return [(HERE / line).resolve() for line in said.split()]


def compile_all(target: str, version: str, folder: Path) -> list[Path]:
    """The object files of the extension."""
    bind = Path(nanobind.include_dir()).parent
    includes = [f"-I{LIBRARY / name}" for name in (".", "include", "uapi")] + [f"-I{folder}"]
    system = [nanobind.include_dir(), np.get_include(), sysconfig.get_path("include")]
    system.append(str(bind / "ext" / "robin_map" / "include"))
    includes += [word for each in system for word in ("-isystem", each)]
    jobs = [(source, zig("cc", target) + C) for source in library_sources()]
    named = [*CPP, f'-DFERRY_VERSION="{version}"']
    jobs += [(source, zig("c++", target) + named) for source in own_sources()]
    jobs.append((bind / "src" / "nb_combined.cpp", zig("c++", target) + CPP))
    subprocess.run(
        [HERE / "src" / "calls.py", folder / "calls.inc", *zig("cc", target)], check=True
    )

    def run(number: int) -> Path:
        source, command = jobs[number]
        made = folder / f"{number}.o"
        subprocess.run([*command, *includes, "-c", source, "-o", made], check=True)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(run, range(len(jobs))))


def unwinder(target: str, folder: Path) -> list[Path]:
    """What to link with for the unwinder of glibc, libgcc_s; nothing for musl.

    Python before 3.14 ends its threads by pthread_exit() where they wait for the interpreter that
    ends.  glibc then has libgcc_s unwind them, also through the extension, and an unwinder of the
    extension's own does not know what libgcc_s passes: that ended the process by SIGSEGV.
    """
    if "-gnu" not in target:
        return []
    source, library = folder / "unwinder.c", folder / "libgcc_s.so"
    source.write_text("".join(f"void _Unwind_{name}(void) {{}}\n" for name in UNWINDING.split()))
    named = ["-shared", "-nostdlib", "-Wl,-soname,libgcc_s.so.1"]
    subprocess.run([*zig("cc", target), *named, source, "-o", library], check=True)
    return [library]


def extension(target: str, version: str) -> bytes:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = compile_all(target, version, folder) + unwinder(target, folder)
        link = [*zig("c++", target), "-shared", "-s", "-Wl,--gc-sections", "-pthread"]
        subprocess.run([*link, *inputs, "-o", folder / "ferry.so"], check=True)
        return (folder / "ferry.so").read_bytes()


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def make_wheel(native: Path, folder: Path, platform: str) -> Path:
    target, ending = PLATFORMS[platform]
    _, version, _ = native.name.split("-", 2)
    made = folder / f"libferry-{version}-{PYTHON}-{PYTHON}-{platform}.whl"
    record = ""
    part = made.with_suffix(".part")
    with zipfile.ZipFile(native) as old, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            data, name = old.read(item), item.filename
            if name.endswith(".so"):
                name = f"ferry/_ferry.cpython-{PYTHON[2:]}-{ending}.so"
                data = extension(target, version)
            elif name.endswith(".dist-info/WHEEL"):
                tag = f"Tag: {PYTHON}-{PYTHON}-{platform}".encode()
                data = re.sub(rb"^Tag: .*$", tag, data, flags=re.M)
            elif name.endswith(".dist-info/RECORD"):
                list_name = name
                continue
            record += record_line(name, data)
            item.filename = name
            new.writestr(item, data)
        new.writestr(list_name, f"{record}{list_name},,\n")
    return part.rename(made)


def main() -> None:
    native, folder = Path(sys.argv[1]), Path(sys.argv[2])
    unknown = set(sys.argv[3:]) - PLATFORMS.keys()
    if unknown:
        sys.exit(f"wheels.py: {unknown.pop()} is none of {', '.join(PLATFORMS)}")
    folder.mkdir(parents=True, exist_ok=True)
    for platform in sys.argv[3:] or PLATFORMS:
        print(make_wheel(native, folder, platform), flush=True)


main()
