# SPDX-License-Identifier: MIT
"""Debian's coreutils, built with `ferry cc`: coreutils.py FERRY [PROGRAM...].

The tests of each program (cat, cp, ls, mkdir, rm) give the same with batches, by the loop, and
without.  The source comes from Debian, and stays in a cache.  Exits with 77 if it cannot be had.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lab import LabError  # noqa: E402
from lab.cache import cache_root  # noqa: E402
from lab.debian.mirrors import find_mirror  # noqa: E402

PROGRAMS = ("cat", "cp", "ls", "mkdir", "rm")
SUITE = "bookworm"
SKIPPED = 77
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def run(folder: Path, *words: str | Path, **variables: str) -> None:
    environment = os.environ | {"LC_ALL": "C", "FORCE_UNSAFE_CONFIGURE": "1"} | variables
    with (folder / "ferry.log").open("ab") as log:
        subprocess.run(
            ["nice", *words], cwd=folder, env=environment, stdout=log, stderr=log, check=True
        )


def fetch(folder: Path) -> Path:
    """The source, unpacked; apt keeps its lists apart from the machine's."""
    apt = folder / "apt"
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "parts" / "debian.list").write_text(
        f"deb-src [signed-by={KEYRING}] {find_mirror(SUITE)} {SUITE} main\n"
    )
    options = [
        *("-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={apt / 'parts'}"),
        *("-o", f"Dir::State::lists={apt / 'lists'}", "-o", f"Dir::Cache={apt / 'cache'}"),
    ]
    if not list(folder.glob("coreutils-*/configure")):
        run(folder, "apt-get", *options, "update")
        run(folder, "apt-get", *options, "source", "coreutils")
    return next(folder.glob("coreutils-*/configure")).parent


def build(source: Path, build_folder: Path, ferry: Path) -> None:
    build_folder.mkdir(exist_ok=True)
    if not (build_folder / "Makefile").exists():
        configure: list[str | Path] = [
            source / "configure",
            f"CC={ferry} cc",
            "CFLAGS=-O2",
            "--disable-nls",
        ]
        run(build_folder, *configure)
    run(build_folder, "make", f"-j{os.cpu_count()}")


def tests_of(source: Path, program: str) -> list[str]:
    paths = [*source.glob(f"tests/{program}/*.*"), *source.glob(f"tests/misc/{program}-*.*")]
    return sorted(str(path.relative_to(source)) for path in paths if path.suffix in (".sh", ".pl"))


def results(build_folder: Path, tests: list[str], mode: str) -> dict[str, str]:
    for result in build_folder.glob("tests/**/*.trs"):
        result.unlink()
    names = " ".join(tests)
    command = ["make", "-k", "check", "SUBDIRS=.", f"TESTS={names}", f"-j{os.cpu_count()}"]
    with suppress(subprocess.CalledProcessError):  # a test may fail without batches, too
        run(build_folder, *command, FERRY_AUTO=mode)
    return {
        str(result.relative_to(build_folder)): result.read_text().splitlines()[0]
        for result in sorted(build_folder.glob("tests/**/*.trs"))
    }


def main() -> int:
    ferry, programs = Path(sys.argv[1]).resolve(), sys.argv[2:] or PROGRAMS
    folder = cache_root() / "coreutils"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        source = fetch(folder)
    except (LabError, OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: no source of coreutils: {error}")
        return SKIPPED
    build_folder = folder / "build"
    build(source, build_folder, ferry)
    status = 0
    for program in programs:
        tests = tests_of(source, program)
        plain, batched = (results(build_folder, tests, mode) for mode in ("off", "loop"))
        passed = sum(result.endswith("PASS") for result in plain.values())
        print(f"{program}: {len(plain)} tests, {passed} of them pass", flush=True)
        for name, result in plain.items():
            if batched.get(name) != result:
                print(f"{name}: '{result}' without batches, '{batched.get(name)}' with them")
                status = 1
        status |= not passed
    return status


if __name__ == "__main__":
    sys.exit(main())
