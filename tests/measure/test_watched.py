# SPDX-License-Identifier: MIT
"""A run gives no verdict where calls cost far more than the least since the machine booted."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ferry

BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()

Withheld = Callable[..., str]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "ferry" / "least-call"
    path.parent.mkdir()
    return path


@pytest.fixture
def withheld(ferry: Ferry, environment: dict[str, str], tmp_path: Path) -> Withheld:
    """Why a run gives no verdict."""

    def why(cache: str = str(tmp_path)) -> str:
        places = {"XDG_CACHE_HOME": cache, "HOME": "/proc/1/none"}
        result = ferry("dispatch", "--trials", "4", "--calls", "2000", env=environment | places)
        assert result.returncode == 0
        assert not result.stderr
        return result.stdout.partition("Verdict withheld: ")[2]

    return why


def test_the_least_call_is_kept(kept: Path, withheld: Withheld) -> None:
    assert not withheld()
    boot, least = kept.read_text().split()
    assert boot == BOOT
    assert float(least) > 0.001


def test_a_dear_call_is_reported(kept: Path, withheld: Withheld) -> None:
    kept.write_text(f"{BOOT} 0.001\n")
    assert withheld().startswith("a system call takes much longer than in an earlier run")
    assert kept.read_text() == f"{BOOT} 0.001\n"


@pytest.mark.parametrize("text", ["another-boot 0.001\n", "", f"{BOOT} 0\n", f"{BOOT}\n", "\0\n"])
def test_text_without_a_least_call_of_this_boot_is_replaced(
    text: str, kept: Path, withheld: Withheld
) -> None:
    kept.write_text(text)
    assert not withheld()
    assert float(kept.read_text().split()[1]) > 0.001


@pytest.mark.parametrize("cache", ["/proc/1/none", "relative", ""])
def test_a_run_without_a_place_to_keep_it(cache: str, withheld: Withheld) -> None:
    assert not withheld(cache)


def test_a_run_that_cannot_keep_it_says_nothing(kept: Path, withheld: Withheld) -> None:
    """As on a read-only file system that access(2) takes for a writable one, such as 9P."""
    kept.mkdir()
    assert not withheld()
