# SPDX-License-Identifier: MIT
"""Stock kernels: the order in which the initrd loads modules, and its format."""

import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import LabError
from lab.debian import initrd
from lab.debian.initrd import Archive, in_order, read_module
from lab.debian.stock import headers_of, point_to


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    (tmp_path / "modules.builtin").write_text("kernel/drivers/virtio/virtio_pci.ko\n")
    (tmp_path / "modules.dep").write_text(
        "a/net.ko:\n"
        "a/9pnet.ko: a/net.ko\n"
        "a/9pnet_virtio.ko: a/9pnet.ko a/net.ko\n"
        "a/9p.ko.xz: a/9pnet.ko a/net.ko\n"
        "a/overlay.ko:\n"
        "a/other.ko:\n"
    )
    return tmp_path


def test_modules_come_after_what_they_need(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initrd, "WANTED", ("virtio_pci", "9pnet_virtio", "9p", "overlay"))
    names = [path.name for path in in_order(modules)]
    assert names == ["net.ko", "9pnet.ko", "9pnet_virtio.ko", "9p.ko.xz", "overlay.ko"]


def test_a_missing_module_is_named(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initrd, "WANTED", ("ext9",))
    with pytest.raises(LabError, match="has no module ext9"):
        in_order(modules)


def test_modules_are_decompressed(tmp_path: Path) -> None:
    (tmp_path / "a.ko.xz").write_bytes(lzma.compress(b"code"))
    (tmp_path / "b.ko").write_bytes(b"code")
    assert read_module(tmp_path / "a.ko.xz") == read_module(tmp_path / "b.ko") == b"code"


@pytest.mark.skipif(not shutil.which("busybox"), reason="there is no busybox")
def test_the_archive_is_one(tmp_path: Path) -> None:
    archive = Archive()
    archive.add("dir", initrd.DIRECTORY)
    archive.add("dir/odd", initrd.FILE, b"123")
    archive.add("dir/link", initrd.LINK, b"odd")
    subprocess.run(["busybox", "cpio", "-i"], input=archive.finish(), cwd=tmp_path, check=True)
    assert (tmp_path / "dir" / "link").read_bytes() == b"123"
    assert (tmp_path / "dir" / "link").is_symlink()


def test_headers_look_for_each_other_where_they_are(tmp_path: Path) -> None:
    tree = tmp_path / "headers" / "usr" / "src" / "linux-headers-6-amd64"
    tree.mkdir(parents=True)
    (tree / "Makefile").write_text("include /usr/src/linux-headers-6-common/Makefile\n")
    (tmp_path / "headers-of").write_text("linux-headers-6-amd64\n")
    point_to(tmp_path / "headers", Path("/there"))
    assert headers_of(tmp_path) == tree
    makefile = (tree / "Makefile").read_text()
    assert makefile == "include /there/usr/src/linux-headers-6-common/Makefile\n"
