# SPDX-License-Identifier: MIT
"""What holds for all files: each names its licence, and all agree on the version."""

import re
import subprocess
from pathlib import Path

import pytest
from manual_page import PAGES

ROOT = Path(__file__).resolve().parents[2]

# These cannot carry a line of their own, or say more about the licence than one line would.
WITHOUT_LICENCE = re.compile(
    r"(bindings/(python|rust)/)?LICENSES?(/.*)?"
    r"|bindings/rust/(compare/)?Cargo\.lock"
    r"|debian/(changelog|copyright|source/format)"
    # They become parts of patches, as the kernel's own are.
    r"|kernel/selftests/(config|settings)"
    r"|kernel/series/(cover(-[a-z]+)?|\d{4}-[a-z0-9-]+/(files|message|any\.diff|[\d.]+\.diff))"
    r"|measure/results/[^/]+/[a-z]+\.json"
    r"|lab/new-call/(files|message|any\.diff)"
    # Input and expected output of tests, byte for byte
    r"|tests/lib/fuzz/corpus-[a-z]+/.*|tests/text/programs/.*"
    r"|tests/.*\.(json|expected|out|txt)"
)


def files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def test_each_file_names_its_licence() -> None:
    lacking = [
        name
        for name in files()
        if not WITHOUT_LICENCE.fullmatch(name)
        and b"SPDX-License-Identifier: " not in (ROOT / name).read_bytes()[:500]
    ]
    assert lacking == []


def version() -> str:
    """meson.build is where the version is kept."""
    found = re.search(r"^  version: '(.+)',$", (ROOT / "meson.build").read_text(), re.M)
    assert found
    return found[1]


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.[1-9]")))
def test_each_page_is_of_this_version(page: str) -> None:
    heading = re.search(r'^\.TH \S+ \d \S+ "ferry (\S+)"', (PAGES / page).read_text(), re.M)
    if heading:
        assert heading[1] == version()
    else:
        assert re.match(r".*\n\.so man", (PAGES / page).read_text()), f"{page} has no .TH"


def test_the_module_is_of_this_version() -> None:
    source = (ROOT / "kernel" / "module" / "main.c").read_text()
    assert f'MODULE_VERSION("{version()}");' in source
    page = (ROOT / "doc" / "module.md").read_text()
    assert set(re.findall(r"ferry-dkms_([\d.]+)_all\.deb", page)) == {version()}


def test_the_packages_are_of_this_version() -> None:
    newest = (ROOT / "debian" / "changelog").read_text().splitlines()[0]
    assert newest.startswith(f"ferry ({version()}) ")


def test_the_newest_part_of_the_changelog_is_of_this_version() -> None:
    """In the form that ./release demands, and short enough to be read."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    parts = re.split(r"^## ", changelog, flags=re.M)[1:]
    assert re.match(rf"{re.escape(version())} - \d{{4}}-\d\d-\d\d\n", parts[0])
    assert [part.split("\n")[0] for part in parts if part.count("\n- ") > 10] == []


def links(document: Path) -> list[str]:
    return re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", document.read_text())


@pytest.mark.parametrize("document", sorted(name for name in files() if name.endswith(".md")))
def test_links_of_documents_lead_somewhere(document: str) -> None:
    path = ROOT / document
    assert [link for link in links(path) if not (path.parent / link).exists()] == []


def test_meson_alone_sets_the_version_of_the_library() -> None:
    assert "version: meson.project_version()," in (ROOT / "lib" / "meson.build").read_text()
