# SPDX-License-Identifier: MIT
"""What the tests of `ferry cc` share: running it with each version of LLVM that has a plugin."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for calls/table.py
BUILD = Path(os.environ.get("FERRY_BUILD", ROOT / "build")).absolute()
VERSIONS = sorted(
    (
        match[1]
        for path in BUILD.glob("compiler/ferry-cc-*.so")
        if (match := re.search(r"(\d+)", path.name))
    ),
    key=int,
)
SETTINGS = ("FERRY_CC_JSON", "FERRY_CC_CROSSING", "FERRY_CC_WITHOUT")

Result = subprocess.CompletedProcess[str]
FerryCc = Callable[..., Result]
Region = dict[str, Any]


@pytest.fixture(params=VERSIONS)
def llvm(request: pytest.FixtureRequest) -> str:
    version: str = request.param
    return version


@pytest.fixture
def ferry_cc(ferry_path: Path, llvm: str, tmp_path: Path) -> FerryCc:
    """Runs `ferry cc` with OPTIONS, then WORDS of clang; in TMP_PATH."""

    def run(
        options: list[str], *words: str | Path, command: str = "cc", **variables: str
    ) -> Result:
        environment = {k: v for k, v in os.environ.items() if k not in SETTINGS}
        return subprocess.run(
            [ferry_path, command, f"--llvm={llvm}", *options, f"-I{ROOT / 'include'}", *words],
            cwd=tmp_path,
            env=environment | variables | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def regions(text: str) -> list[Region]:
    return [json.loads(line) for line in text.splitlines()]
