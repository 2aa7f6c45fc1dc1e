# SPDX-License-Identifier: MIT
"""Building, with a toy kernel: what is built again, what is kept, and what can go wrong."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import small_kernel
from conftest import ROOT, write_patch
from processes import new_mark, wait_until_none
from small_kernel import SOURCE, TARGET, make_package

from lab import LabError, tested
from lab.cache import cache_root, locked
from lab.debian import sources
from lab.kernels import build as building
from lab.kernels import config, series
from lab.kernels.modules import FERRY, build_module
from lab.kernels.selftests import build_selftests
from lab.targets import with_patches
from lab.tests.run_tests import added_tests

ADD_LINE = "--- a/two.c\n+++ b/two.c\n@@ -1 +1,2 @@\n 2\n+patched\n"
AFTER_IT = "--- a/two.c\n+++ b/two.c\n@@ -1,2 +1,3 @@\n 2\n+after\n patched\n"


@pytest.fixture
def toy(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package is fetched, the series empty, the fragment asks for one option."""
    configs, patches = tmp_path / "config", tmp_path / "series"
    configs.mkdir()
    patches.mkdir()
    (configs / "toy.config").write_text("# A toy.\nCONFIG_TOY=y\nCONFIG_OTHER=y\n")
    monkeypatch.setattr(config, "REPOSITORY", tmp_path)
    monkeypatch.setattr(config, "CONFIGS", configs)
    monkeypatch.setattr(series.read_series, "__defaults__", (patches,))
    install_package(make_package(tmp_path / "first", "9.9.1-1"), cache)
    return tmp_path


def install_package(package: Path, cache: Path) -> None:
    directory = cache / "sources" / SOURCE.version
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    shutil.copy(package, directory)


def compiled(cache: Path, tree: str = "series") -> list[str]:
    """The objects that were made since the last call."""
    record = cache / "trees" / "9.9" / tree / "objects-toy-9.9" / "compiled"
    names = record.read_text().split() if record.exists() else []
    record.unlink(missing_ok=True)
    return sorted(names)


def test_a_kernel_is_built_once(toy: Path, cache: Path) -> None:
    first = building.build(TARGET)
    assert first.image.read_text() == "1\n2\n3\n-ferry\n"
    assert (first.directory / ".config").read_text() == "CONFIG_TOY=y\nCONFIG_OTHER=y\n"
    assert compiled(cache) == ["one", "three", "two"]
    assert building.build(TARGET) == first
    assert compiled(cache) == []


def test_a_changed_series_builds_only_what_it_affects(toy: Path, cache: Path) -> None:
    first = building.build(TARGET)
    compiled(cache)
    write_patch(toy / "series", "0001-toy", any_diff=ADD_LINE)
    second = building.build(TARGET)
    assert second.key != first.key
    assert second.image.read_text() == "1\n2\npatched\n3\n-ferry\n"
    assert compiled(cache) == ["two"]


def test_a_series_that_is_taken_back_gives_the_first_kernel(toy: Path, cache: Path) -> None:
    first = building.build(TARGET)
    write_patch(toy / "series", "0001-toy", any_diff=ADD_LINE)
    building.build(TARGET)
    compiled(cache)
    shutil.rmtree(toy / "series" / "0001-toy")
    assert building.build(TARGET) == first
    shutil.rmtree(first.directory)
    assert building.build(TARGET).image.read_text() == "1\n2\n3\n-ferry\n"
    assert compiled(cache) == ["two"]


def test_a_patch_of_the_user_comes_after_the_series(toy: Path, cache: Path) -> None:
    write_patch(toy / "series", "0001-toy", any_diff=ADD_LINE)
    first = building.build(TARGET)
    mine = write_patch(toy, "mine", files="three.c <- here.c\n", any_diff=AFTER_IT)
    (mine / "here.c").write_text("mine\n")
    second = building.build(with_patches(TARGET, [mine]))
    assert second.image.read_text() == "1\n2\nafter\npatched\nmine\n-ferry\n"
    assert second.directory.parent.name == "toy-9.9-patched"
    (mine / "here.c").write_text("changed\n")
    assert building.build(with_patches(TARGET, [mine])).key not in (first.key, second.key)
    assert building.build(TARGET) == first


def test_switching_to_a_patch_and_back_compiles_nothing_again(toy: Path, cache: Path) -> None:
    mine = write_patch(toy, "mine", any_diff=ADD_LINE)
    targets = (TARGET, with_patches(TARGET, [mine]))
    kernels = [building.build(target) for target in targets]
    compiled(cache)
    for kernel in kernels:
        shutil.rmtree(kernel.directory)
    assert [building.build(target) for target in targets] == kernels
    assert compiled(cache) == []


def test_a_patch_of_the_user_may_be_what_git_writes(toy: Path) -> None:
    mine = toy / "mine"
    mine.mkdir()
    (mine / "0001-a.patch").write_text(f"From: me\nSubject: two\n\n---\n{ADD_LINE}")
    (mine / "0002-b.patch").write_text(f"From: me\nSubject: more\n\n---\n{AFTER_IT}")
    kernel = building.build(with_patches(TARGET, [mine]))
    assert kernel.image.read_text() == "1\n2\nafter\npatched\n3\n-ferry\n"
    (mine / "0002-b.patch").unlink()
    (mine / "0003-c.patch").write_text(AFTER_IT.replace(" 2", " two"))
    with pytest.raises(LabError, match=r"mine/0003-c\.patch: hunk 1 \(two\.c:1\) does not apply"):
        building.build(with_patches(TARGET, [mine]))


def test_the_selftests_of_a_patch_are_tests(toy: Path) -> None:
    place = "tools/testing/selftests/mine"
    mine = write_patch(toy, "mine", files=f"{place}/Makefile <- Makefile\n")
    script = "echo '\\#!/bin/sh' > $(OUTPUT)/Mine; chmod +x $(OUTPUT)/Mine"
    (mine / "Makefile").write_text(f"all:\n\t{script}\n")
    target = with_patches(TARGET, [mine])
    selftests = build_selftests(building.build(target))
    (test,) = added_tests(target, selftests)
    assert (test.name, test.command) == ("kselftest-mine", "$FERRY_KSELFTEST/mine/Mine")
    assert os.access(selftests / "mine" / "Mine", os.X_OK)
    assert added_tests(TARGET, selftests) == []


@pytest.mark.parametrize("what", ["version", "fragment", "series", "compiler", "target"])
def test_the_key_depends_on_all_inputs(
    toy: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = building.key_of(TARGET, "9.9.1-1")
    assert building.key_of(TARGET, "9.9.1-1") == before
    target, version = TARGET, "9.9.1-1"
    if what == "version":
        version = "9.9.1-2"
    elif what == "fragment":
        (toy / "config" / "toy.config").write_text("CONFIG_TOY=y\n")
    elif what == "series":
        write_patch(toy / "series", "0001-toy", any_diff=ADD_LINE)
    elif what == "compiler":
        monkeypatch.setattr(building, "compiler_version", lambda _arch: "gcc 99\n")
    else:
        target = replace(TARGET, name="toy-other")
    assert building.key_of(target, version) != before


def test_a_comment_in_a_fragment_does_not_matter(toy: Path) -> None:
    before = building.key_of(TARGET, "9.9.1-1")
    fragment = toy / "config" / "toy.config"
    fragment.write_text("# Another comment.\n" + fragment.read_text())
    assert building.key_of(TARGET, "9.9.1-1") == before


def test_a_newer_package_replaces_the_tree(toy: Path, cache: Path) -> None:
    building.build(TARGET)
    install_package(make_package(toy / "second", "9.9.2-1", **{"one.c": "one\n"}), cache)
    assert building.build(TARGET).image.read_text() == "one\n2\n3\n-ferry\n"
    write_patch(toy / "series", "0001-toy", any_diff=ADD_LINE)
    install_package(make_package(toy / "third", "9.9.3-1", **{"two.c": "zwei\n"}), cache)
    with pytest.raises(
        LabError,
        match=r"0001-toy/any\.diff: hunk 1 \(two\.c:1\) does not apply to"
        r" linux-source-9\.9 9\.9\.3-1; never tested",
    ):
        building.build(TARGET)


def test_the_series_selftests_are_built_once(toy: Path, cache: Path) -> None:
    kernel = building.build(TARGET)
    assert list(build_selftests(kernel).iterdir()) == []
    makefile = "all:\n\techo $(KHDR_INCLUDES) > $(OUTPUT)/a"
    files = {"tools/testing/selftests/subcall/Makefile": makefile}
    install_package(make_package(toy / "second", "9.9.2-1", **files), cache)
    kernel = building.build(TARGET)
    program = build_selftests(kernel) / "a"
    assert program.read_text().endswith("objects-headers/usr/include\n")
    made = program.stat().st_mtime_ns
    assert (build_selftests(kernel) / "a").stat().st_mtime_ns == made


def test_targets_make_the_headers_that_they_share_in_turn(toy: Path, cache: Path) -> None:
    makefile = "all:\n\ttouch $(OUTPUT)/a"
    files = {"tools/testing/selftests/subcall/Makefile": makefile}
    install_package(make_package(toy / "second", "9.9.2-1", **files), cache)
    kernels = [building.build(target) for target in (TARGET, replace(TARGET, name="toy-other"))]
    with ThreadPoolExecutor() as pool:
        assert all((each / "a").exists() for each in pool.map(build_selftests, kernels))


def test_a_changed_selftest_builds_no_kernel(
    toy: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "REPOSITORY", toy)
    place = "tools/testing/selftests/subcall"
    write_patch(toy / "series", "0001-toy", files=f"{place}/Makefile <- Makefile\n")
    for text in ("first", "second"):
        (toy / "Makefile").write_text(f"all:\n\techo {text} > $(OUTPUT)/a")
        kernel = building.build(TARGET)
        assert (build_selftests(kernel) / "a").read_text() == f"{text}\n"
        assert bool(compiled(cache)) == (text == "first")


def test_a_module_that_does_not_build_names_the_version_and_the_line(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tested, "TESTED", toy / "tested.toml")
    monkeypatch.setattr(tested, "TARGETS", {TARGET.name: TARGET})
    tested.record(TARGET.name, "9.9.0-3")
    rules = "\nmodules_prepare:\nmodules:\n\t@echo 'device.c:7:1: error: no' >&2; exit 1\n"
    broken = make_package(toy / "second", "9.9.2-1", Makefile=small_kernel.MAKEFILE + rules)
    install_package(broken, cache_root())
    with pytest.raises(LabError) as error:
        build_module(building.build(TARGET), FERRY)
    assert str(error.value).startswith(
        "building ferry.ko for toy-9.9 (linux-source-9.9 9.9.2-1; last tested 9.9.0-3) failed:"
        " device.c:7:1: error: no; see "
    )


def test_few_builds_are_kept(toy: Path, cache: Path) -> None:
    keys = []
    for text in ("=y", "=n", '="text"'):
        (toy / "config" / "toy.config").write_text(f"CONFIG_OTHER{text}\n")
        keys.append(building.build(TARGET).key)
    kept = {path.name for path in (cache / "builds" / "toy-9.9").iterdir()}
    assert kept == set(keys[1:])


def test_an_option_that_is_refused_is_named(toy: Path) -> None:
    (toy / "config" / "toy.config").write_text("CONFIG_REFUSED=y\n")
    with pytest.raises(LabError, match=r"toy-9\.9 refuses CONFIG_REFUSED=y \(it is n\)"):
        building.build(TARGET)


def test_a_compiler_error_names_the_log_and_the_next_run_goes_on(toy: Path, cache: Path) -> None:
    broken = small_kernel.MAKEFILE.replace(
        "\t@cp $< $@",
        "\t@if [ $* = two ] && [ -e /proc/self ] && [ ! -e $(O)/fixed ];"
        ' then echo "two.c:1:2: error: no" >&2; exit 1; fi; cp $< $@',
    )
    install_package(make_package(toy / "broken", "9.9.4-1", Makefile=broken), cache)
    with pytest.raises(
        LabError, match=r"building toy-9\.9 failed: two\.c:1:2: error: no; see (\S+)"
    ) as e:
        building.build(TARGET, jobs=1)
    log = Path(str(e.value).partition("; see ")[2].partition(". ")[0])
    assert "error: no" in log.read_text()
    assert not list((cache / "builds").glob("*/*"))
    assert compiled(cache) == ["one"]
    (cache / "trees" / "9.9" / "series" / "objects-toy-9.9" / "fixed").touch()
    building.build(TARGET)
    assert compiled(cache) == ["three", "two"]


def test_a_missing_tool_is_named(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="command make is missing; the Debian package make has it"):
        building.build(TARGET)


def test_a_broken_package_is_told_and_fetched_again(toy: Path, cache: Path) -> None:
    package = next((cache / "sources" / "9.9").glob("*.deb"))
    package.write_bytes(package.read_bytes()[:-200])
    with pytest.raises(LabError, match=r"cannot unpack linux-source-9\.9_9\.9\.1-1_all\.deb"):
        building.build(TARGET)
    assert sources.fetched(SOURCE) is None
    assert not (cache / "trees" / "9.9" / "base").exists()


def test_a_tree_that_was_not_unpacked_to_the_end_is_unpacked_again(toy: Path, cache: Path) -> None:
    (cache / "trees" / "9.9" / "base").mkdir(parents=True)
    (cache / "trees" / "9.9" / "base" / "one.c").write_text("half")
    assert building.build(TARGET).image.read_text().startswith("1\n")


SLOW = small_kernel.MAKEFILE.replace("\t@cp $< $@", "\t@[ $* = one ] || sleep 100 & wait; cp $< $@")
DRIVER = """
import sys
sys.path[:0] = [{lab!r}, {tests!r}]
from pathlib import Path
from lab import command_line
from lab.kernels import series
import small_kernel
series.read_series.__defaults__ = (Path("no series"),)
command_line.find_target = lambda name: small_kernel.TARGET
sys.exit(command_line.main(["build", "toy-9.9", "-j1"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_build_leaves_no_process_and_goes_on(
    toy: Path, cache: Path, number: int
) -> None:
    install_package(make_package(toy / "slow", "9.9.5-1", Makefile=SLOW), cache)
    name, _, value = (mark := new_mark()).partition("=")
    script = DRIVER.format(lab=str(ROOT), tests=str(ROOT / "tests" / "lab"))
    lab = subprocess.Popen(
        [sys.executable, "-c", script],
        env=dict(os.environ) | {name: value},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        record = cache / "trees" / "9.9" / "series" / "objects-toy-9.9" / "compiled"
        deadline = time.monotonic() + 30
        while not (record.exists() and record.read_text()):
            assert time.monotonic() < deadline and lab.poll() is None
            time.sleep(0.02)
        lab.send_signal(number)
        _, errors = lab.communicate(timeout=30)
        assert lab.returncode in (130, 143, -9)
        assert "Traceback" not in errors
        wait_until_none(mark)
    finally:
        lab.kill()
    assert not list((cache / "builds").glob("*/*"))
    assert compiled(cache) == ["one"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB, on its own mount."""
    if os.geteuid():
        pytest.skip("mounting takes root")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "ferry-test", disk], check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_is_seen_before_the_work(
    toy: Path, cache: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(cache, small_disk / "cache")
    monkeypatch.setenv("FERRY_CACHE", str(small_disk / "cache"))
    with pytest.raises(LabError, match=r"0\.0 GB free, and unpacking linux-source-9\.9 takes 3 GB"):
        building.build(TARGET)


def test_a_disk_that_fills_up_in_the_build_is_told(
    toy: Path, cache: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "require_space", lambda *_: None)
    monkeypatch.setattr(building, "require_space", lambda *_: None)
    filling = small_kernel.MAKEFILE.replace("@cp $< $@", "@head -c 2M /dev/zero > $@")
    install_package(make_package(toy / "filling", "9.9.6-1", Makefile=filling), cache)
    shutil.copytree(cache, small_disk / "cache")
    monkeypatch.setenv("FERRY_CACHE", str(small_disk / "cache"))
    with pytest.raises(
        LabError, match=r"building toy-9\.9 failed: .*[Nn]o space left .*The next run"
    ):
        building.build(TARGET)
    assert not list((small_disk / "cache" / "builds").glob("*/*"))


def test_runs_at_the_same_time_take_turns(cache: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from lab.cache import locked\n"
        "with locked('it'):\n print('mine', flush=True)\n"
    )
    with locked("it"):
        other = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        waiting = f"waiting for another run that works on it (process {os.getpid()}, "
        assert other.stderr and waiting in other.stderr.readline()
        assert other.poll() is None
    assert other.communicate(timeout=20)[0] == "mine\n"
