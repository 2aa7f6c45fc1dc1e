# SPDX-License-Identifier: MIT
"""KVM is tried once for a kernel, and used where it boots it."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lab.guests import kvm
from lab.guests.kvm import kvm_boots
from lab.guests.load import Meter, Usage
from lab.guests.machine import KVM, TCG, Lines, Options, Outcome, x86_command
from lab.kernels.build import Kernel
from lab.targets import find_target


@dataclass
class Machine:
    """In place of a guest with KVM."""

    works: bool
    boots: int = 0
    usage: Usage = field(default_factory=Usage)

    def boot(
        self, _kernel: Kernel, _command: list[str], options: Options, *more: object
    ) -> Outcome:
        assert options.kvm
        meter = more[-1]
        assert isinstance(meter, Meter)
        meter.usage = self.usage
        self.boots += 1
        failure = "" if self.works else "it hangs"
        return Outcome(0 if self.works else None, not self.works, [], failure, Path("console"))


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(kvm, "DEVICE", device)
    monkeypatch.delenv("FERRY_KVM", raising=False)
    return Kernel(find_target("x86-6.12"), "key", tmp_path)


@pytest.mark.parametrize("works", [True, False])
def test_it_is_tried_once(kernel: Kernel, works: bool) -> None:
    machine = Machine(works)
    assert [kvm_boots(kernel, Options(), machine.boot) for _ in range(3)] == [works] * 3
    assert machine.boots == 1
    kvm_boots(Kernel(kernel.target, "other", kernel.directory), Options(), machine.boot)
    assert machine.boots == 2


def test_a_guest_that_the_host_let_wait_proves_nothing(kernel: Kernel) -> None:
    machine = Machine(False, usage=Usage(used=1, waited=9))
    assert not kvm_boots(kernel, Options(), machine.boot)
    machine.works = True
    assert kvm_boots(kernel, Options(), machine.boot)
    assert kvm_boots(kernel, Options(), machine.boot)
    assert machine.boots == 2


def test_another_host_kernel_is_another_try(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(False)
    kvm_boots(kernel, Options(), machine.boot)
    monkeypatch.setattr("platform.release", lambda: "99.9")
    machine.works = True
    assert kvm_boots(kernel, Options(), machine.boot)


@pytest.mark.parametrize("reason", ["icount", "uml", "no device", "environment"])
def test_it_is_not_tried(kernel: Kernel, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine, options = Machine(True), Options()
    if reason == "icount":
        options = Options(icount=True, cpus=1)
    elif reason == "uml":
        kernel = replace(kernel, target=find_target("uml-7.3"))
    elif reason == "no device":
        kvm.DEVICE.unlink()
    else:
        monkeypatch.setenv("FERRY_KVM", "no")
    assert not kvm_boots(kernel, options, machine.boot)
    assert machine.boots == 0


@pytest.mark.parametrize(("chosen", "accelerator"), [(True, KVM), (False, TCG)])
def test_the_machine_gets_what_was_chosen(chosen: bool, accelerator: tuple[str, ...]) -> None:
    command = x86_command(
        Path("bzImage"), None, Path("/run"), Options(kvm=chosen), Lines(1, 2, 3, -1)
    )
    assert " ".join(accelerator) in " ".join(command)
    assert command.count("-accel") == 1
