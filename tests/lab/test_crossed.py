# SPDX-License-Identifier: MIT
"""Building the command for another machine."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lab import crossed


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What was run; Meson leaves only a mark of its work."""
    found: list[str] = []

    def run(_what: str, command: Sequence[str], tree: Path, _log: Path) -> None:
        words = [word for word in command if not word.startswith("PATH=")]
        found.append(words[2])
        (tree / "meson").mkdir(exist_ok=True)
        (tree / "meson" / "build.ninja").touch()

    monkeypatch.setattr(crossed, "run_logged", run)
    monkeypatch.setattr(crossed, "foreign_root", lambda _arch: tmp_path / "root")
    return found


def test_meson_configures_once(commands: list[str], tmp_path: Path) -> None:
    for _ in range(2):
        crossed.build_command("arm64", tmp_path)
    assert commands == ["meson", "ninja", "ninja"]
    assert (tmp_path / "cli").readlink() == tmp_path / "meson" / "cli"


def test_meson_configures_again_for_other_libraries(
    commands: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    crossed.build_command("arm64", tmp_path)
    (tmp_path / "meson" / "of the first").touch()
    monkeypatch.setattr(crossed, "foreign_root", lambda _arch: tmp_path / "other")
    crossed.build_command("arm64", tmp_path)
    assert commands == ["meson", "ninja"] * 2
    assert not (tmp_path / "meson" / "of the first").exists()
    assert (tmp_path / "root").readlink() == tmp_path / "other"


def test_meson_configures_again_after_an_interruption(commands: list[str], tmp_path: Path) -> None:
    crossed.build_command("arm64", tmp_path)
    (tmp_path / "meson" / "build.ninja").unlink()
    crossed.build_command("arm64", tmp_path)
    assert commands == ["meson", "ninja"] * 2
