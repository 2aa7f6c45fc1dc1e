# SPDX-License-Identifier: MIT
"""The tests and benchmarks that run in guests: lab/tests.toml and lab/benches.toml."""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import VERSION, BaseModel, ConfigDict, Field, ValidationError

from lab import REPOSITORY, LabError
from lab.targets import CHECKED, DEFAULT_TARGETS, MODULE_TARGETS, find_target

if tuple(map(int, VERSION.split(".")[:2])) < (2, 10):
    raise LabError(f"the Python module pydantic is too old: it is {VERSION}, and 2.10 is needed")

TESTS = REPOSITORY / "lab" / "tests.toml"
BENCHES = REPOSITORY / "lab" / "benches.toml"

NAME = r"^[a-z0-9][a-z0-9_.-]*$"


class Row(BaseModel):
    """What tests and benchmarks have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=NAME)
    # For sh, in the root of the repository.  $FERRY_BUILD is the build directory, and
    # $FERRY_KSELFTEST, for tests, has the programs that the series adds to the kernel's;
    # $FERRY_MODULE, for tests that ask for it, is ferry.ko.  A benchmark's comes after
    # "ferry bench".
    command: str
    memory: str = "1G"


def usual_targets(test: dict[str, Any]) -> tuple[str, ...]:
    return tuple(target.name for target in (MODULE_TARGETS if test["module"] else DEFAULT_TARGETS))


class GuestTest(Row):
    """A command that exits with 0 when it passes, and with 77 or 4 when it was skipped."""

    module: bool = False  # needs ferry.ko
    targets: tuple[str, ...] = Field(default_factory=usual_targets)
    full: bool = False  # in the full run only
    debug: bool = True  # on -debug and -kcsan kernels, too
    timeout: float = Field(default=300, gt=0)  # seconds, wall-clock: what takes longer hangs
    cpus: int = Field(default=2, ge=1)
    alone: bool = False  # leaves the guest changed, so no other test runs in it

    def runs_on(self, target: str) -> bool:
        plain = target
        for suffix in CHECKED:
            plain = plain.removesuffix(suffix)
        return plain in self.targets and (self.debug or plain == target)


class Bench(Row):
    """A run of `ferry bench`; x86 guests count instructions."""

    target: str = "x86-6.12"
    prepare: str = ""  # for sh, before it
    cpus: int = Field(default=1, ge=1)  # instructions are counted on one only
    module: bool = False  # with the test module of measure/guest-module
    device: bool = False  # with ferry.ko
    timeout: float = Field(default=900, gt=0)


AnyRow = TypeVar("AnyRow", bound=Row)


def one_each(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each word of its "each", which takes the place of {} in its texts."""
    for word in row.pop("each", ["{}"]):
        yield {k: v.replace("{}", word) if isinstance(v, str) else v for k, v in row.items()}


def read_rows(path: Path, table: str, kind: type[AnyRow]) -> list[AnyRow]:
    """The rows [[TABLE]] of PATH."""
    try:
        listed = tomllib.loads(path.read_text()).get(table, [])
        rows = [kind(**row) for several in listed for row in one_each(several)]
    except FileNotFoundError:
        return []
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LabError(f"{path}: [[{table}]] {where}: {first['msg']}") from None
    reject_duplicates(path, [row.name for row in rows])
    return rows


def reject_duplicates(path: Path, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise LabError(f"{path}: the name '{name}' is there more than once")


def read_tests(path: Path = TESTS) -> list[GuestTest]:
    tests = read_rows(path, "test", GuestTest)
    for test in tests:
        for target in test.targets:
            find_target(target)
    return tests


def read_benches(path: Path = BENCHES) -> list[Bench]:
    benches = read_rows(path, "bench", Bench)
    for bench in benches:
        find_target(bench.target)
    return benches
