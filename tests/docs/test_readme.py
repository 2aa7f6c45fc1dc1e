# SPDX-License-Identifier: MIT
"""The README shows what really happens: its programs run, its links lead somewhere."""

import re
import subprocess
from pathlib import Path

from conftest import SOURCE

README = (SOURCE / "README.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(
    r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL
)
FIRST_LINE = Path("/etc/hostname").read_text()


def block(start: str) -> str:
    return next(text for _, text in BLOCKS if text.startswith(start))


def test_the_c_program_runs(
    tmp_path: Path, compiler: list[str], build: Path, environment: dict[str, str]
) -> None:
    """By the command that the README gives for a tree that was built, but not installed."""
    (tmp_path / "cat.c").write_text(block("#include"))
    command = re.search(r"`(cc cat\.c -I.*)`", README)
    assert command
    for name, place in (
        ("build", build),
        ("include", SOURCE / "include"),
        ("uapi", SOURCE / "uapi"),
    ):
        (tmp_path / name).symlink_to(place)
    words = command[1].split()[1:]
    subprocess.run([*compiler, *words, "-Wall", "-Wextra", "-Werror"], cwd=tmp_path, check=True)
    program = tmp_path / "a.out"
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (FIRST_LINE, "")


def test_every_bench_that_the_readme_names_exists(environment: dict[str, str]) -> None:
    benches = set(re.findall(r"ferry bench ([a-z]+)", README))
    assert benches
    for bench in benches:
        subprocess.run(["ferry", "bench", bench, "--help"], env=environment, check=True)


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_the_first_screen_has_no_long_figure() -> None:
    """A reader compares times, not digits."""
    screen = README.split("\n## ", 1)[0]
    assert [
        word for word in re.findall(r"[\d.,]+", screen) if len(re.findall(r"\d", word)) > 3
    ] == []


def test_packages_that_the_readme_installs_exist() -> None:
    named = set(re.findall(r"build/packages/([\w-]+)_", README))
    for stem, endings in re.findall(r"build/packages/(\w*)\{([\w,-]+)\}_", README):
        named |= {stem + ending for ending in endings.split(",")}
    control = (SOURCE / "debian" / "control").read_text()
    assert named == set(re.findall(r"^Package: (\S+)", control, re.M))
