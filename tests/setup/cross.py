# SPDX-License-Identifier: MIT
"""Makes the Debian packages for arm64 in a minimal root of Debian, which has the libraries of both
architectures, and has tests/setup/cross use them there.  They are then in build/packages-arm64."""

import argparse
import shutil
import sys
from pathlib import Path

from packages import FOLDER, copy_tree, new_root_log, run_there
from readme import block
from roots import CODENAMES, fresh_root

from lab import REPOSITORY, LabError
from lab.cache import made_whole

OUTPUT = REPOSITORY / "build" / "packages-arm64"


def fill(folder: Path) -> None:
    """With the sources, nanobind for debian/build, and what tests/setup/cross takes."""
    copy_tree(folder / "ferry")
    for path in REPOSITORY.glob(".venv/lib/python3*/site-packages/nanobind*"):
        shutil.copytree(path, folder / "ferry" / path.relative_to(REPOSITORY))
    for name in ("cross", "cat.ferry"):
        shutil.copy(REPOSITORY / "tests" / "setup" / name, folder)
    (folder / "cat.c").write_text(block("#include"))


def make(release: str) -> None:
    log = new_root_log("packages-arm64", release)
    print(f"packages-arm64: making and using them in a root of Debian {release} (log: {log})")
    with fresh_root(release) as root:
        fill(root / FOLDER[1:])
        run_there(root, "./cross", log, "no packages for arm64")
        shutil.rmtree(OUTPUT, ignore_errors=True)
        with made_whole(OUTPUT) as partial:
            for path in sorted((root / FOLDER[1:] / "packages").glob("*.deb")):
                shutil.copy(path, partial)
    print(*sorted(OUTPUT.iterdir()), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="packages-arm64", description=__doc__)
    parser.add_argument("--release", choices=CODENAMES, default="12", help="of Debian (12)")
    make(parser.parse_args().release)


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(f"packages-arm64: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
