# SPDX-License-Identifier: MIT
"""Stock kernels: the order in which the initrd loads modules, and its format."""

import gzip
import lzma
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import LabError
from lab.debian import initrd
from lab.debian.initrd import dependencies, in_order, read_module, write_initrd
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


def test_modules_come_after_what_they_need(modules: Path) -> None:
    wanted = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
    names = [path.name for path in in_order(modules, wanted)]
    assert names == ["net.ko", "9pnet.ko", "9pnet_virtio.ko", "9p.ko.xz", "overlay.ko"]


def test_a_missing_module_is_named(modules: Path) -> None:
    with pytest.raises(LabError, match="has no module ext9"):
        in_order(modules, ("ext9",))


def test_modules_are_decompressed(tmp_path: Path) -> None:
    contents = {
        "a.ko": b"code",
        "b.ko.xz": lzma.compress(b"code"),
        "c.ko.gz": gzip.compress(b"code"),
    }
    if shutil.which("zstd"):
        packed = subprocess.run(["zstd", "-c"], input=b"code", stdout=subprocess.PIPE, check=True)
        contents["d.ko.zst"] = packed.stdout
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        assert read_module(tmp_path / name) == b"code"


def test_modules_need_a_list_or_the_usual_folder(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="modules.dep is missing, and the folder is not in lib/modu"):
        dependencies(tmp_path)


@pytest.mark.skipif(not shutil.which("depmod"), reason="kmod is not installed")
def test_a_list_of_modules_is_made_where_a_package_was_unpacked(tmp_path: Path) -> None:
    folder = tmp_path / "lib" / "modules" / "6.6.1"
    source = tmp_path / "empty.c"
    source.touch()
    for name in ("one", "two"):
        (folder / "kernel").mkdir(parents=True, exist_ok=True)
        command = ["gcc", "-c", str(source), "-o", str(folder / "kernel" / f"{name}.ko")]
        subprocess.run(command, check=True)
    (folder / "modules.order").write_text("kernel/one.ko\nkernel/two.ko\n")
    (folder / "modules.builtin").touch()
    before = sorted(tmp_path.rglob("*"))
    assert dependencies(folder).splitlines() == ["kernel/one.ko:", "kernel/two.ko:"]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(not shutil.which("busybox"), reason="busybox is not installed")
def test_the_initrd_holds_what_it_runs(
    modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(initrd, "WANTED", ("9pnet",))
    (modules / "a").mkdir()
    for name in ("net.ko", "9pnet.ko"):
        (modules / "a" / name).write_bytes(b"code of " + name.encode())
    write_initrd(modules, tmp_path / "initrd")
    root = tmp_path / "root"
    root.mkdir()
    archive = (tmp_path / "initrd").read_bytes()
    subprocess.run(["busybox", "cpio", "-i"], input=archive, cwd=root, check=True)
    assert (root / "modules" / "00-net.ko").read_bytes() == b"code of net.ko"
    assert (root / "modules" / "01-9pnet.ko").read_bytes() == b"code of 9pnet.ko"
    assert (root / "bin" / "insmod").readlink() == Path("busybox")
    assert os.access(root / "bin" / "busybox", os.X_OK)
    assert os.access(root / "init", os.X_OK)
    if not os.geteuid():
        assert (root / "dev" / "console").is_char_device()


def test_headers_look_for_each_other_where_they_are(tmp_path: Path) -> None:
    tree = tmp_path / "headers" / "usr" / "src" / "linux-headers-6-amd64"
    tree.mkdir(parents=True)
    (tree / "Makefile").write_text("include /usr/src/linux-headers-6-common/Makefile\n")
    (tmp_path / "headers-of").write_text("linux-headers-6-amd64\n")
    point_to(tmp_path / "headers", Path("/there"))
    assert headers_of(tmp_path) == tree
    makefile = (tree / "Makefile").read_text()
    assert makefile == "include /there/usr/src/linux-headers-6-common/Makefile\n"
