# SPDX-License-Identifier: MIT
"""Kernels of others: what is found out about an image, and how a tree is built."""

import os
import shutil
from pathlib import Path

import pytest
import small_kernel
from conftest import ROOT
from small_kernel import TARGET

from lab import LabError, targets
from lab.bench import run as bench_run
from lab.cache import cache_root
from lab.command_line import main
from lab.guests.machine import FAILED, Options
from lab.guests.run import run_in_guest
from lab.kernels import config, given
from lab.kernels.build import Kernel, build, make_command
from lab.kernels.given import config_of, identify, image_target, modules_of, source_target
from lab.kernels.modules import headers_for
from lab.kernels.selftests import build_selftests
from lab.tests.manifest import Bench, GuestTest
from lab.tests.run_tests import without_missing
from lab.toolchain import FOREIGN

RELEASE = "6.6.1-mine"
# Of the user, before the tests get a cache of their own.
UML_IMAGES = sorted(cache_root().glob("builds/uml-7.3*/*/linux"))
GUEST = "CONFIG_9P_FS=y\nCONFIG_PRINTK=y\n"


@pytest.fixture(autouse=True)
def configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest takes two options, and the toy kernel's configuration asks for one more."""
    directory = tmp_path / "config"
    directory.mkdir()
    (directory / "guest-x86.config").write_text(GUEST)
    (directory / "toy.config").write_text(f"{GUEST}CONFIG_REFUSED=y\n")
    monkeypatch.setattr(config, "CONFIGS", directory)
    monkeypatch.setattr(config, "REPOSITORY", tmp_path)
    monkeypatch.setitem(targets.TARGETS, TARGET.name, TARGET)


def bzimage(release: str = RELEASE, *, flags: int = 1, paragraphs: int = 0x60) -> bytes:
    data = bytearray(0x1000)
    data[0x1F4:0x1F8] = paragraphs.to_bytes(4, "little")
    data[0x202:0x206] = b"HdrS"
    data[0x20E:0x210] = (0x600).to_bytes(2, "little")
    data[0x236] = flags
    text = f"{release} (me@here) #1".encode()
    data[0x800 : 0x800 + len(text)] = text
    return bytes(data)


def header_of_image(magic: bytes, text: str = "") -> bytes:
    return bytes(0x38) + magic + bytes(0x100) + text.encode()


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Looks like an installed bzImage, with its configuration."""
    boot = tmp_path / "root" / "boot"
    boot.mkdir(parents=True)
    path = boot / f"vmlinuz-{RELEASE}"
    path.write_bytes(bzimage())
    (boot / f"config-{RELEASE}").write_text(GUEST)
    return path


def install_modules(image: Path, release: str = RELEASE) -> Path:
    folder = image.parents[1] / "lib" / "modules" / release
    (folder / "kernel").mkdir(parents=True)
    for name in ("modules.dep", "modules.builtin"):
        (folder / name).write_text("")
    return folder


def test_an_image_names_its_release_and_machine(image: Path) -> None:
    assert identify(image) == ("x86", RELEASE)
    target = image_target(image, None)
    assert (target.arch, target.like, target.modules) == ("x86", "x86-6.12", None)
    assert build(target).image.read_bytes() == image.read_bytes()
    assert build(target).source_version == RELEASE


def test_an_image_is_taken_again_when_it_has_changed(image: Path) -> None:
    first = build(image_target(image, None))
    image.write_bytes(image.read_bytes() + b"more")
    second = build(image_target(image, None))
    assert second.key != first.key
    assert second.image.read_bytes() == image.read_bytes()


def test_what_has_the_series_runs_its_tests(image: Path) -> None:
    assert image_target(image, None, "x86-7.3").like == "x86-7.3"
    (image.parent / f"config-{RELEASE}").write_text(f"{GUEST}CONFIG_SUBCALL_BATCH=y\n")
    assert image_target(image, None).like == "x86-6.12"


@pytest.mark.parametrize("name", ["program", "text", "vmlinux"])
def test_what_is_no_image_is_told(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    shutil.copy("/bin/true" if name == "program" else "/etc/passwd", file)
    if name == "vmlinux":
        file.write_bytes(b"\x7fELF" + bytes(100))
        file.chmod(0o755)
    with pytest.raises(LabError, match="neither a bzImage for x86-64 nor the program 'linux'"):
        identify(file)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (bzimage(flags=0), "is for 32-bit x86"),
        (bzimage()[:0x300], "is damaged: 768 bytes of 4096"),
        (bzimage(paragraphs=0x61), "is damaged: 4096 bytes of 4112"),
        (bzimage("../../etc"), "is damaged"),
        (header_of_image(b"ARM\x64"), "no guest for its machine, arm64"),
        (b"\x1f\x8b" + bytes(100), "unpack it with gunzip"),
        (b"MZ\0\0zimg" + bytes(100), "is a compressed EFI program"),
        (b"", "nor an Image for riscv$"),
        (b"MZ", "nor an Image for riscv$"),
    ],
)
def test_what_cannot_be_booted_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, says: str
) -> None:
    riscv = tuple(target for target in targets.TARGETS.values() if target.arch == "riscv")
    monkeypatch.setattr(given, "FOREIGN_TARGETS", riscv)
    monkeypatch.setattr(given, "FOREIGN", {"riscv": FOREIGN["riscv"]})
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(LabError, match=says):
        identify(tmp_path / "file")


def test_only_a_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(LabError, match="this is not a file"):
            identify(path)


def test_an_image_for_another_machine_has_its_tests(tmp_path: Path) -> None:
    image = tmp_path / "Image"
    image.write_bytes(header_of_image(b"RSC\x05", f"Linux version {RELEASE} (me@here)"))
    target = image_target(image, None)
    assert (target.arch, target.like, target.source.version) == ("riscv", "riscv64-7.3", RELEASE)
    with pytest.raises(LabError, match="guests for riscv load no modules"):
        image_target(image, tmp_path)


def test_an_old_kernel_is_told(image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image_target(image, None)
    assert "untested" not in capsys.readouterr().err
    image.write_bytes(bzimage("5.10.9-mine"))
    image_target(image, None)
    assert "is Linux 5.10; older kernels than 6.1 are untested" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["lib/modules", "usr/lib/modules"])
def test_modules_beside_an_image_are_found(image: Path, place: str) -> None:
    folder = install_modules(image)
    moved = image.parents[1] / place / RELEASE
    moved.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(moved)
    assert image_target(image, None).modules == moved
    assert image_target(image, moved).modules == moved


def test_an_image_may_be_among_its_modules(image: Path) -> None:
    folder = install_modules(image)
    image.rename(folder / "vmlinuz")
    assert modules_of(folder / "vmlinuz", RELEASE, None) == folder


def test_an_image_in_the_root_has_no_folder_above() -> None:
    assert modules_of(Path("/vmlinuz"), RELEASE, None) is None


def test_wrong_modules_are_told(image: Path, tmp_path: Path) -> None:
    (tmp_path / RELEASE).mkdir()
    for other in (install_modules(image, "6.6.2"), tmp_path / RELEASE):
        with pytest.raises(LabError, match=rf"the folder of .* is lib/modules/{RELEASE}"):
            image_target(image, other)


def test_what_a_configuration_lacks_is_told(image: Path) -> None:
    file = image.parent / f"config-{RELEASE}"
    file.write_text("CONFIG_9P_FS=m\n")
    with pytest.raises(LabError) as error:
        image_target(image, None)
    assert f"the configuration {file} does not suffice for a guest" in str(error.value)
    assert "CONFIG_9P_FS is m, CONFIG_PRINTK is n; for m, --modules" in str(error.value)
    file.write_text("CONFIG_9P_FS=m\nCONFIG_PRINTK=y\n")
    install_modules(image)
    image_target(image, None)


def test_an_image_without_configuration_is_taken(
    image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (image.parent / f"config-{RELEASE}").unlink()
    image_target(image, None)
    shown = capsys.readouterr().err
    assert f"{image} has no configuration beside it; a guest takes the options of" in shown
    assert "guest-x86.config" in shown


def test_the_configuration_of_a_tree_is_found(tmp_path: Path) -> None:
    boot = tmp_path / "linux" / "arch" / "x86" / "boot"
    boot.mkdir(parents=True)
    (tmp_path / "linux" / ".config").touch()
    assert config_of(boot / "bzImage", RELEASE, None) == tmp_path / "linux" / ".config"
    assert config_of(boot / "other", RELEASE, None) is None


def test_tests_of_what_an_image_lacks_are_left_out(
    image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = build(image_target(image, None))
    names = ["files", "kselftest-batch", "module-device", "flexsc"]
    chosen = [GuestTest(name=name, command="true") for name in names[:3]]
    chosen.append(GuestTest(name="flexsc", command="true", needs="CONFIG_SUBCALL_FLEXSC"))
    left = without_missing(kernel, chosen, build_selftests(kernel))
    assert [test.name for test in left] == ["files"]
    shown = capsys.readouterr().out.splitlines()
    assert [line.split("/")[1].partition(":")[0] for line in shown] == names[1:]
    (tmp_path / "kselftest").mkdir()
    (tmp_path / "kselftest" / "batch").touch()
    assert len(without_missing(kernel, chosen, tmp_path / "kselftest")) == 2


def test_the_module_is_tested_where_there_are_headers(image: Path) -> None:
    folder = install_modules(image)
    assert image_target(image, None).like == "x86-6.12"
    with pytest.raises(LabError, match=rf"no headers .*: {folder}/build leads to none"):
        headers_for(Kernel(image_target(image, None), "key", folder))
    (folder / "build").mkdir()
    (folder / "build" / "Makefile").touch()
    assert image_target(image, None).like == "debian-6.1"
    (image.parent / f"config-{RELEASE}").write_text(f"{GUEST}CONFIG_SUBCALL_BATCH=y\n")
    assert image_target(image, None).like == "x86-6.12"


def test_what_is_left_out_counts_as_skipped(
    image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", "--kernel-image", str(image), "--only", "kselftest-b*"]) == 1
    assert "0 passed, 0 failed, 2 skipped" in capsys.readouterr().out


def test_benchmarks_of_what_an_image_lacks_are_left_out(
    image: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = []

    def record(bench: Bench, *_: object) -> dict[str, object]:
        ran.append(bench.name)
        return {}

    monkeypatch.setenv("FERRY_KVM", "no")
    monkeypatch.setattr(bench_run, "run_bench", record)
    assert main(["bench", "--kernel-image", str(image)]) == 0
    assert ran == ["files-x86-6.12"]
    shown = capsys.readouterr().out
    assert "==== call (vmlinuz-6.6.1-mine-" in shown
    assert " left out: there are no headers to build a module with" in shown
    assert main(["bench", "--kernel-image", str(image), "slope"]) == FAILED
    assert "slope: the kernel has no CONFIG_SUBCALL_BATCH" in capsys.readouterr().err


def test_goals_are_for_kernels_with_the_series(image: Path) -> None:
    kernel = build(image_target(image, None))
    assert not bench_run.has_series(kernel)
    assert bench_run.has_series(Kernel(TARGET, "key", kernel.directory))


# ---- a tree ----


@pytest.fixture
def linux(tmp_path: Path) -> Path:
    directory = tmp_path / "linux"
    (directory / "kernel").mkdir(parents=True)
    (directory / "Kconfig").touch()
    (directory / "Makefile").write_text(small_kernel.MAKEFILE)
    for number, name in enumerate(("one", "two", "three"), 1):
        (directory / f"{name}.c").write_text(f"{number}\n")
    return directory


def test_a_tree_is_compiled_in_the_cache(
    linux: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(linux.rglob("*"))
    target = source_target(linux, TARGET.name)
    first = build(target)
    assert first.image.read_text() == "1\n2\n3\n-ferry\n"
    assert first.source_version == "9.9.1"
    assert f"{linux} refuses CONFIG_REFUSED=y (it is n)" in capsys.readouterr().err
    assert sorted(linux.rglob("*")) == before
    record = cache / "objects" / target.name / "compiled"
    record.unlink()
    (linux / "two.c").write_text("changed\n")
    second = build(target)
    assert second.image.read_text() == "1\nchanged\n3\n-ferry\n"
    assert record.read_text() == "two\n"
    assert second.key != first.key


def test_two_trees_of_one_name_are_two_kernels(linux: Path, tmp_path: Path) -> None:
    shutil.copytree(linux, tmp_path / "other" / "linux")
    names = {source_target(path).name for path in (linux, tmp_path / "other" / "linux")}
    assert len(names) == 2


def test_a_tree_with_its_own_configuration_is_made_as_its_owner_does(linux: Path) -> None:
    (linux / ".config").write_text(f"{GUEST}CONFIG_X86_64=y\n")
    target = source_target(linux, TARGET.name)
    assert build(target).image.read_text() == "1\n2\n3\n\n"
    assert (linux / "two.o").exists()
    (linux / ".config").write_text("CONFIG_X86_64=y\n")
    with pytest.raises(LabError, match=rf"{linux}/\.config does not suffice for a guest"):
        build(target)
    (linux / ".config").write_text("CONFIG_UML=y\nCONFIG_X86_64=y\n")
    with pytest.raises(LabError, match=r"toy-9\.9 is not what this tree is configured for"):
        source_target(linux, TARGET.name)


@pytest.mark.parametrize("name", [".config", "include/config/auto.conf"])
def test_a_tree_with_objects_needs_its_configuration(linux: Path, name: str) -> None:
    (linux / name).parent.mkdir(parents=True, exist_ok=True)
    (linux / name).touch()
    with pytest.raises(LabError, match=rf"'make -C {linux} mrproper' removes them"):
        source_target(linux)


@pytest.mark.parametrize(
    ("option", "version", "like"),
    [
        ("UML", "6.1", "uml-7.3"),
        ("X86_64", "6.12", "x86-6.12"),
        ("X86_64", "7.3", "x86-7.3"),
        ("RISCV", "7.3", "riscv64-7.3"),
    ],
)
def test_the_tests_suit_the_tree(linux: Path, option: str, version: str, like: str) -> None:
    numbers = "VERSION = {}\nPATCHLEVEL = {}\n".format(*version.split("."))
    (linux / "Makefile").write_text(f"{numbers}{small_kernel.MAKEFILE}")
    (linux / ".config").write_text(f"CONFIG_{option}=y\n")
    assert source_target(linux).like == like


@pytest.mark.parametrize(
    ("option", "own", "prefix"),
    [("RISCV", "", ["riscv64-linux-gnu-"]), ("RISCV", "my-", []), ("UML", "", [])],
)
def test_a_tree_for_another_machine_takes_its_compiler(
    linux: Path, monkeypatch: pytest.MonkeyPatch, option: str, own: str, prefix: list[str]
) -> None:
    monkeypatch.setenv("CROSS_COMPILE", own)
    (linux / ".config").write_text(f"CONFIG_{option}=y\n")
    words = make_command(source_target(linux), linux)
    assert [word[14:] for word in words if word.startswith("CROSS_COMPILE=")] == prefix


def test_a_directory_of_objects_is_no_tree(linux: Path, tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    objects.mkdir()
    (objects / "source").symlink_to(linux)
    (objects / ".config").touch()
    with pytest.raises(LabError, match=r"not a kernel's source tree, but .*: give --kernel-image"):
        source_target(objects)


def test_a_tree_for_a_machine_without_guest_is_told(linux: Path) -> None:
    (linux / ".config").write_text("CONFIG_M68K=y\n")
    with pytest.raises(LabError, match="no guest for the machine"):
        source_target(linux)


@pytest.mark.parametrize(
    ("name", "says"),
    [("none", "not a kernel's source tree"), ("a linux", "cannot use a path with a space")],
)
def test_a_directory_that_cannot_be_built(
    linux: Path, tmp_path: Path, name: str, says: str
) -> None:
    if " " in name:
        shutil.copytree(linux, tmp_path / name)
    with pytest.raises(LabError, match=says):
        source_target(tmp_path / name)


# ---- for real ----


@pytest.mark.skipif(not UML_IMAGES, reason="no user-mode kernel was built here")
def test_an_image_of_somebody_boots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "CONFIGS", ROOT / "kernel" / "config")
    monkeypatch.chdir(ROOT)
    mine = tmp_path / "mine"
    shutil.copy(UML_IMAGES[-1], mine)
    shutil.copy(UML_IMAGES[-1].with_name(".config"), tmp_path)
    output = bytearray()
    kernel = build(image_target(mine, None))
    options = Options(timeout=240, quick=True)
    outcome = run_in_guest(kernel, ["uname", "-r"], options, output.extend, output.extend)
    assert (outcome.failure, outcome.exit_status) == ("", 0)
    assert output.decode().strip() == identify(mine)[1]
