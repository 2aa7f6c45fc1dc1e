# SPDX-License-Identifier: MIT
"""Runs clang-tidy over every C file of a build: tidy.py BUILD.

A file that passed is not checked again, in any clone, until what the compiler sees of it
changes.
"""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.cache import cache_root, make_directory

ROOT = Path(__file__).resolve().parents[1]


def output(command: list[str], folder: Path) -> bytes:
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True).stdout


def key_of(entry: dict[str, str], settings: bytes) -> str:
    """Names what clang-tidy sees: its settings, the command line, the preprocessed file."""
    command = shlex.split(entry["command"])
    at = command.index("-o")
    without_place = ["-E", "-fno-working-directory"]  # the same in every clone
    preprocess = [*command[:at], *command[at + 2 :], *without_place]
    preprocessed = output(preprocess, Path(entry["directory"]))
    digest = hashlib.sha256(settings + " ".join(command).encode() + b"\0" + preprocessed)
    # A comment may hold NOLINT, which the preprocessor drops.
    digest.update(Path(entry["directory"], entry["file"]).read_bytes())
    return digest.hexdigest()


def check(entry: dict[str, str], build: Path, passed: Path, settings: bytes) -> bool:
    stamp = passed / key_of(entry, settings)
    if stamp.exists():
        return True
    file = Path(entry["directory"], entry["file"]).resolve()
    command = ["clang-tidy", "-p", str(build), "--quiet", str(file)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    if done.returncode:
        print(f"{file.relative_to(ROOT)}:\n{done.stdout}", flush=True)
        return False
    stamp.touch()
    return True


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    passed = make_directory(cache_root() / "tidy")
    entries = json.loads((build / "compile_commands.json").read_text())
    # The analyzer takes LLVM's headers, which it has to follow, for faulty.
    others = ("/tidy/", "/nanobind/", "../compiler/")
    files = {
        entry["file"]: entry
        for entry in entries
        if not any(folder in entry["file"] for folder in others)
    }
    settings = b"".join(
        [
            (ROOT / ".clang-tidy").read_bytes(),
            (ROOT / "tests/.clang-tidy").read_bytes(),
            output(["clang-tidy", "--version"], ROOT),
        ]
    )
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = pool.map(lambda entry: check(entry, build, passed, settings), files.values())
        return 0 if all(list(verdicts)) else 1


if __name__ == "__main__":
    sys.exit(main())
