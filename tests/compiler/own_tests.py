# SPDX-License-Identifier: MIT
"""Programs of Debian's that `ferry cc` built: own_tests.py FERRY [MODE [PROGRAM...]].

Their own tests (of busybox, and of cat, cp, ls, mkdir and rm of coreutils) give the same with
batches and without.  MODE is what FERRY_AUTO has for batches: loop, or syscall in a guest whose
kernel makes them.  The sources come from Debian, and stay in a cache with what is built of them, so
that a guest needs no network.  Exits with 77 if a source cannot be had.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lab import LabError  # noqa: E402
from lab.cache import cache_root  # noqa: E402
from lab.debian.mirrors import find_mirror  # noqa: E402

COREUTILS = ("cat", "cp", "ls", "mkdir", "rm")
SUITE = "bookworm"
SKIPPED = 77
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def run(folder: Path, *words: str | Path, **variables: str) -> None:
    environment = os.environ | {"LC_ALL": "C", "FORCE_UNSAFE_CONFIGURE": "1"} | variables
    with (folder / "ferry.log").open("ab") as log:
        subprocess.run(
            ["nice", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )


def fetch(package: str) -> Path:
    """The source, unpacked; apt keeps its lists apart from the machine's."""
    folder = cache_root() / package
    apt = folder / "apt"
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(f"{package}-*/Makefile*")):
        (apt / "parts" / "debian.list").write_text(
            f"deb-src [signed-by={KEYRING}] {find_mirror(SUITE)} {SUITE} main\n"
        )
        options = [
            *("-o", "Dir::Etc::sourcelist=/dev/null"),
            *("-o", f"Dir::Etc::sourceparts={apt / 'parts'}"),
            *("-o", f"Dir::State::lists={apt / 'lists'}", "-o", f"Dir::Cache={apt / 'cache'}"),
        ]
        run(folder, "apt-get", *options, "update")
        run(folder, "apt-get", *options, "source", package)
    return next(path for path in folder.glob(f"{package}-*") if path.is_dir())


def make(folder: Path, *words: str, **variables: str) -> None:
    run(folder, "make", f"-j{os.cpu_count()}", *words, **variables)


# ---- coreutils ----


def build_coreutils(source: Path, ferry: Path) -> Path:
    folder = source.with_name("build")
    folder.mkdir(exist_ok=True)
    if not (folder / "Makefile").exists():
        run(folder, source / "configure", f"CC={ferry} cc", "CFLAGS=-O2", "--disable-nls")
    make(folder)
    return folder


def coreutils_results(source: Path, folder: Path, program: str, mode: str) -> dict[str, str]:
    paths = [*source.glob(f"tests/{program}/*.*"), *source.glob(f"tests/misc/{program}-*.*")]
    tests = [str(path.relative_to(source)) for path in paths if path.suffix in (".sh", ".pl")]
    for result in folder.glob("tests/**/*.trs"):
        result.unlink()
    with suppress(subprocess.CalledProcessError):  # a test may fail without batches, too
        make(folder, "-k", "check", "SUBDIRS=.", f"TESTS={' '.join(tests)}", FERRY_AUTO=mode)
    return {
        str(result.relative_to(folder)): result.read_text().splitlines()[0].split()[-1]
        for result in sorted(folder.glob("tests/**/*.trs"))
    }


# ---- busybox ----


def build_busybox(source: Path, ferry: Path) -> Path:
    folder = source.with_name("build")
    folder.mkdir(exist_ok=True)
    if not (folder / ".config").exists():
        run(source, "make", f"O={folder}", "defconfig")
        options = folder / ".config"
        # Headers of newer kernels lack parts of tc.
        options.write_text(options.read_text().replace("CONFIG_TC=y", "# CONFIG_TC is not set"))
        run(folder, "make", "oldconfig")
    make(folder, f"CC={ferry} cc", "HOSTCC=gcc")
    return folder


def busybox_results(source: Path, folder: Path, _program: str, mode: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as name:
        for part in ("testsuite", "scripts"):  # runtest compiles a file of ../scripts
            shutil.copytree(source / part, Path(name) / part, symlinks=True)
        tests = Path(name) / "testsuite"
        with suppress(subprocess.CalledProcessError):
            run(tests, "./runtest", bindir=str(folder), FERRY_AUTO=mode)
        said = (tests / "ferry.log").read_text(errors="replace")
    found = re.findall(r"^(PASS|FAIL|SKIPPED|UNTESTED): (.*)$", said, re.M)
    return {f"{number} {test}": verdict for number, (verdict, test) in enumerate(found)}


PACKAGES = {
    "busybox": (build_busybox, busybox_results),
    "coreutils": (build_coreutils, coreutils_results),
}


def main() -> int:
    ferry = Path(sys.argv[1]).resolve()
    mode = sys.argv[2] if len(sys.argv) > 2 else "loop"
    status = 0
    for program in sys.argv[3:] or ("busybox", *COREUTILS):
        package = "coreutils" if program in COREUTILS else program
        build, results = PACKAGES[package]
        try:
            source = fetch(package)
        except (LabError, OSError, subprocess.CalledProcessError) as error:
            print(f"skipped: no source of {package}: {error}")
            return SKIPPED
        folder = build(source, ferry)
        plain, batched = (results(source, folder, program, each) for each in ("off", mode))
        passed = sum(verdict == "PASS" for verdict in plain.values())
        print(f"{program}: {len(plain)} tests, {passed} of them pass", flush=True)
        for name in sorted(plain.keys() | batched.keys()):
            if batched.get(name) != plain.get(name):
                print(f"{name}: {plain.get(name)} without batches, {batched.get(name)} with them")
                status = 1
        status |= not passed
    return status


if __name__ == "__main__":
    sys.exit(main())
