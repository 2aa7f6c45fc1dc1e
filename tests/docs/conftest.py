# SPDX-License-Identifier: MIT
"""What the tests of the documents share: the tree, the build, and a C compiler."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
INCLUDE = SOURCE / "include"
UAPI = SOURCE / "uapi"
CHOOSING_AN_ENGINE = ("FERRY_ENGINE", "BATCH_EMUL", "BATCH_VERBOSE")

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def environment(build: Path) -> dict[str, str]:
    """An environment in which nothing chooses an engine and `ferry` is the one built."""
    kept = {k: v for k, v in os.environ.items() if k not in CHOOSING_AN_ENGINE}
    return kept | {"LC_ALL": "C", "PATH": f"{build / 'cli'}:{os.environ['PATH']}"}


def in_shell(command: str, directory: Path, environment: dict[str, str], seconds: int = 20) -> str:
    """What a shell prints for COMMAND, with its complaints among it."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    return done.stdout


@pytest.fixture
def compile_c(tmp_path: Path) -> Compile:
    """Compiles a text with -Wall -Wextra -Werror; COMPILER and LIBRARIES are lists of words."""

    def compile_it(
        text: str, compiler: list[str] | None = None, libraries: list[str] | None = None
    ) -> Path:
        source, program = tmp_path / "program.c", tmp_path / "program"
        source.write_text(text)
        command = [
            *(compiler or ["cc"]),
            f"-I{INCLUDE}",
            f"-I{UAPI}",
            "-Wall",
            "-Wextra",
            "-Werror",
        ]
        done = subprocess.run(
            [*command, str(source), "-o", str(program), *(libraries or [])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return program

    return compile_it
