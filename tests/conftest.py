# SPDX-License-Identifier: MIT
"""What most tests share: the build directory, and the command in it."""

import fcntl
import json
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def pytest_configure() -> None:
    # A shell that runs the tests in the background has them ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def build() -> Path:
    path = os.environ.get("FERRY_BUILD")
    assert path, "set FERRY_BUILD to the build directory"
    return Path(path).absolute()


@pytest.fixture(scope="session")
def sanitized(build: Path) -> bool:
    """Whether ferry has a sanitizer's run-time, which maps and touches memory of its own."""
    options = json.loads((build / "meson-info" / "intro-buildoptions.json").read_text())
    names = next(option["value"] for option in options if option["name"] == "b_sanitize")
    return names not in ("none", [])


@pytest.fixture(scope="session")
def ferry_path(build: Path) -> Path:
    return build / "cli" / "ferry"


@contextmanager
def locked(kind: int) -> Iterator[None]:
    """Holds a lock that all test programs of this user share."""
    path = Path(tempfile.gettempdir(), f"ferry-tests-{os.getuid()}.lock")
    with path.open("w") as file:
        fcntl.flock(file, kind)
        yield


# A bench gives no verdict while a tracer watches every call on the machine.
@pytest.fixture(scope="session")
def watching() -> Iterator[None]:
    """Held by what traces."""
    with locked(fcntl.LOCK_SH):
        yield


@pytest.fixture(scope="session")
def unwatched() -> Iterator[None]:
    """Held by what needs verdicts."""
    with locked(fcntl.LOCK_EX):
        yield


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
