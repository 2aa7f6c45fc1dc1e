# SPDX-License-Identifier: MIT
"""What the tests of the documents share: the tree, the build, and a C compiler."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def read_json(path: Path) -> Any:  # noqa: ANN401 (JSON is of any type)
    return json.loads(path.read_text())


@pytest.fixture(scope="session")
def compiler(build: Path) -> list[str]:
    """The compiler of the build, with its sanitizers: what links with the library."""
    command: list[str] = read_json(build / "meson-info" / "intro-compilers.json")["host"]["c"][
        "exelist"
    ]
    options = read_json(build / "meson-info" / "intro-buildoptions.json")
    sanitizers = next(option["value"] for option in options if option["name"] == "b_sanitize")
    names = sanitizers if isinstance(sanitizers, str) else ",".join(sanitizers)
    return command if names in ("", "none") else [*command, f"-fsanitize={names}"]


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
