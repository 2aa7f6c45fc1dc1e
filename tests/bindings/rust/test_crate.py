# SPDX-License-Identifier: MIT
"""The crate libferry as it is published: laid out apart from this repository."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "bindings" / "rust"
BUILD = Path(os.environ["FERRY_BUILD"]).absolute() / "bindings" / "rust"
CRATE = BUILD / "crate"

# Debian's packages of crates, for machines that reach no registry of crates.
PACKAGED = Path("/usr/share/cargo/registry")
FROM_PACKAGES = (
    *("--offline", "--config", 'source.crates-io.replace-with="debian"'),
    *("--config", f'source.debian.directory="{PACKAGED}"'),
)

if not shutil.which("cargo"):
    pytest.skip("cargo is not installed", allow_module_level=True)


def cargo(*words: str) -> str:
    packaged = list(PACKAGED.glob("walkdir-2.*"))
    command = ["cargo", *words[:1], *(FROM_PACKAGES if packaged else ["--locked"]), *words[1:]]
    done = subprocess.run(
        command,
        cwd=CRATE,
        env=os.environ | {"CARGO_TARGET_DIR": str(BUILD / "target")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def laid_out() -> None:
    subprocess.run([SOURCE / "lay-out", CRATE], check=True)
    if not list(PACKAGED.glob("walkdir-2.*")):
        shutil.copy(SOURCE / "Cargo.lock", CRATE)


def test_its_own_tests() -> None:
    """They print the seed of their random trees; FERRY_SEED repeats one."""
    passed = re.findall(r"^test result: ok\. (\d+) passed", cargo("test"), re.M)
    assert len(passed) == 4 and min(map(int, passed)) > 0


def test_lints() -> None:
    cargo("clippy", "--all-targets", "--", "-D", "warnings")


def test_format() -> None:
    done = subprocess.run(["cargo", "fmt", "--check"], cwd=SOURCE, check=False)
    assert done.returncode == 0, "run cargo fmt in bindings/rust"


def test_documentation_has_no_broken_links() -> None:
    assert "warning" not in cargo("doc", "--no-deps")


def test_the_example_finds_what_find_finds(tmp_path: Path) -> None:
    for name in ("a.txt", "x/B.txt", "x/.hidden.txt", ".folder/c.txt", "x/y/a.rs"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    cargo("build", "--example", "find")

    def find(*words: str) -> list[str]:
        program = BUILD / "target" / "debug" / "examples" / "find"
        done = subprocess.run(
            [program, *words, tmp_path], stdout=subprocess.PIPE, text=True, check=True
        )
        return sorted(os.path.relpath(path, tmp_path) for path in done.stdout.splitlines())

    assert find("-e", "txt", "") == ["a.txt", "x/B.txt"]
    assert find("-H", "TXT") == []
    assert find("-H", "txt") == [".folder/c.txt", "a.txt", "x/.hidden.txt", "x/B.txt"]
    assert find("-t", "d", "") == ["x", "x/y"]
    assert find("-d", "1", "") == ["a.txt", "x"]
    lines = (SOURCE / "examples" / "find.rs").read_text().splitlines()
    code = [line for line in lines if line.strip() and not line.startswith("//")]
    assert len(code) <= 60


def test_the_version_is_the_library_s() -> None:
    def version(file: Path, pattern: str) -> str:
        found = re.search(pattern, file.read_text(), re.M)
        assert found, file
        return found[1]

    assert version(SOURCE / "Cargo.toml", '^version = "(.+)"') == version(
        ROOT / "meson.build", "^  version: '(.+)',"
    )
