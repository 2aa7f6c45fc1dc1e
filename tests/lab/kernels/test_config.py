# SPDX-License-Identifier: MIT
"""Configurations: fragments are merged, and options that did not take are found."""

import pytest

from lab import LabError
from lab.kernels.config import (
    check_guest,
    check_settings,
    fragments,
    read_settings,
    render,
    requested,
)
from lab.targets import TARGETS, Target


def test_settings_are_read() -> None:
    text = '# a comment\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C="-x=1"\n\nCONFIG_D=0x10\n'
    settings = {"CONFIG_A": "y", "CONFIG_B": "n", "CONFIG_C": '"-x=1"', "CONFIG_D": "0x10"}
    assert read_settings(text) == settings
    assert read_settings(render(settings)) == settings


def test_options_that_took_are_fine() -> None:
    check_settings({"CONFIG_A": "y", "CONFIG_B": "n"}, "CONFIG_A=y\n", "toy")
    check_settings({"CONFIG_B": "n"}, "# CONFIG_B is not set\n", "toy")


@pytest.mark.parametrize(
    ("wanted", "actual", "says"),
    [
        ("CONFIG_A=y", "", r"toy refuses CONFIG_A=y \(it is n\)"),
        ("CONFIG_A=y", "CONFIG_A=m", r"CONFIG_A=y \(it is m\)"),
        ("CONFIG_A=n", "CONFIG_A=y", r"CONFIG_A=n \(it is y\)"),
        ("CONFIG_A=2\nCONFIG_B=y", "", r"CONFIG_A=2 \(it is n\), CONFIG_B=y"),
    ],
)
def test_options_that_did_not_take_are_named(wanted: str, actual: str, says: str) -> None:
    with pytest.raises(LabError, match=says):
        check_settings(read_settings(wanted), actual, "toy")


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_the_fragments_of_each_target_are_there(target: Target) -> None:
    paths = fragments(target)
    assert [path.name for path in paths] == list(target.fragments)
    wanted = requested(paths)
    assert ("CONFIG_SUBCALL_BATCH" in wanted) == target.series
    assert ("CONFIG_KASAN" in wanted) == target.name.endswith("-debug")
    assert ("CONFIG_KCSAN" in wanted) == target.name.endswith("-kcsan")
    assert ("CONFIG_KCOV" in wanted) == bool(target.covered)


def test_no_fragment_says_something_twice() -> None:
    for path in {path for target in TARGETS.values() for path in fragments(target)}:
        names = [line.partition("=")[0] for line in path.read_text().splitlines() if "=" in line]
        assert len(names) == len(set(names)), path


@pytest.mark.parametrize(
    ("arch", "option"), [("um", "HOSTFS"), ("x86", "VIRTIO_PCI"), ("riscv", "VIRTIO_MMIO")]
)
def test_each_machine_has_its_options_of_a_guest(arch: str, option: str) -> None:
    with pytest.raises(LabError, match=f"CONFIG_{option} is n.*'ARCH={arch} .*guest-.*' adds them"):
        check_guest(arch, {}, "of toy")
