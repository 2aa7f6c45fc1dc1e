# SPDX-License-Identifier: MIT
"""What pip makes of the package: a wheel and a source distribution that need nothing of ours."""

import importlib.util
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import ferry
import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "bindings" / "python"

if not importlib.util.find_spec("mesonpy"):
    pytest.skip("meson-python is missing", allow_module_level=True)


def run(*command: str | Path, folder: Path | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def build_wheel(source: Path, target: Path) -> Path:
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"),
        *("--no-build-isolation", "--no-deps", "--wheel-dir", target, source),
    )
    [wheel] = target.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(SOURCE, tmp_path_factory.mktemp("wheel"))


def test_what_is_in_the_wheel(wheel: Path) -> None:
    names = {Path(name).name for name in zipfile.ZipFile(wheel).namelist()}
    assert {"__init__.py", "_ferry.pyi", "py.typed", "METADATA", "LICENSE"} <= names
    assert [name for name in names if name.endswith(".so")]
    built = Path(ferry.__file__).parent
    for file in SOURCE.glob("ferry/*.py*"):
        assert (built / file.name).read_bytes() == file.read_bytes()
        assert file.name in names, f"{file.name} is not installed: see ferry/meson.build"


def test_the_wheel_has_the_licences_of_what_is_linked_into_it(wheel: Path) -> None:
    notices = zipfile.ZipFile(wheel).read("ferry/NOTICES").decode()
    for library in "nanobind", "robin_map":
        assert f"{library}\n==" in notices
    assert notices.count("Copyright (c)") >= 2


def test_it_needs_no_library_that_systems_lack(wheel: Path, tmp_path: Path) -> None:
    said = run("auditwheel", "show", wheel)
    assert "manylinux" in said
    run("auditwheel", "repair", "--wheel-dir", tmp_path, wheel)
    [repaired] = tmp_path.glob("*.whl")
    assert "manylinux" in repaired.name
    # Nothing had to be added.
    libraries = [name for name in zipfile.ZipFile(repaired).namelist() if ".so" in name]
    assert len(libraries) == 1


def test_it_works_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = "import ferry; print(ferry.__file__, ferry.stat_many(['/'])[1], len(ferry.walk('.')))"
    said = run(sys.executable, "-c", program, folder=tmp_path)
    assert said.startswith(str(tmp_path)) and " [0] " in said


def test_the_source_distribution(tmp_path: Path) -> None:
    """It has its own copy of the library, and builds apart from the rest."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout, from which Meson makes distributions")
    program = "import mesonpy, sys; mesonpy.build_sdist(sys.argv[1])"
    run(sys.executable, "-c", program, tmp_path, folder=SOURCE)
    [archive] = tmp_path.glob("libferry-*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"PKG-INFO", "LICENSE", "ferry-library/lib/files/walk.c"} <= names
    build_wheel(archive, tmp_path)
