# SPDX-License-Identifier: MIT
"""Guests for machines that cannot run the host's programs."""

from pathlib import Path

import pytest

from lab import LabError, toolchain
from lab.guests.foreign import command_names, key_of
from lab.guests.machine import Lines, Options, foreign_command
from lab.toolchain import FOREIGN, Foreign, lacking_tools

LINES = Lines(console=5, out=6, err=7, keys=-1)


def command(options: Options) -> list[str]:
    return foreign_command(
        FOREIGN["riscv"], Path("/Image"), Path("/initrd"), Path("/cache/run"), options, LINES
    )


def test_only_the_run_and_the_chosen_directories_can_be_written_to() -> None:
    words = command(Options(writable=(Path("/a,b"),)))
    shared = [word for word in words if word.startswith("local,")]
    assert [word.split(",path=")[1].split(",security_model")[0] for word in shared] == [
        "/",
        "/cache/run",
        "/a,,b",
    ]
    assert [word.endswith("readonly=on") for word in shared] == [True, False, False]


@pytest.mark.parametrize("icount", [True, False])
def test_instructions_are_counted_if_that_is_asked_for(icount: bool) -> None:
    assert ("-icount" in command(Options(cpus=1, icount=icount))) == icount


def test_the_guest_has_the_commands_that_busybox_lists() -> None:
    assert command_names("/bin/cat\n/usr/bin/timeout\n") == ["cat", "timeout"]


def test_another_source_or_compiler_makes_another_root(monkeypatch: pytest.MonkeyPatch) -> None:
    from lab.guests import foreign

    versions = iter(["gcc 1\n", "gcc 1\n", "gcc 2\n"])
    monkeypatch.setattr(foreign, "compiler_version", lambda _arch: next(versions))
    keys = [key_of("riscv", Path(name)) for name in ("busybox_1", "busybox_2", "busybox_2")]
    assert len({*keys}) == 3


def test_a_missing_tool_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    vax = Foreign("vax", "vax-dec-ultrix", ("qemu-system-vax",), "qemu-system-misc", "ttyS0")
    monkeypatch.setitem(toolchain.FOREIGN, "vax", vax)
    assert lacking_tools("vax") == (
        "the command vax-dec-ultrix-gcc is missing; the Debian package gcc-vax-dec-ultrix has it,"
        " and ./setup machines installs it"
    )
    assert lacking_tools("x86") == ""
    with pytest.raises(LabError, match="qemu-system-vax"):
        toolchain.require_emulator("vax")
