# SPDX-License-Identifier: MIT
"""The tests and benchmarks that run in guests: lab/tests.toml and lab/benches.toml."""

import tomllib
from collections.abc import Iterator
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
    # For sh, in the root of the repository.  $FERRY_BUILD is the build directory, or what stands
    # for it on another machine (lab/programs.py), and
    # $FERRY_KSELFTEST, for tests, has the programs that the series adds to the kernel's;
    # $FERRY_MODULE, for tests named module-*, is ferry.ko; $FERRY_PLACES, on -kcov kernels, is what
    # lab/kernels/places.py made.  A benchmark's comes after
    # "ferry bench".
    command: str
    memory: str = "1G"
    needs: str = ""  # an option: on somebody's kernel without it, this is left out


def needs_module(name: str) -> bool:
    """Whether a test takes ferry.ko."""
    return name.startswith("module-")


def usual_targets(test: dict[str, Any]) -> tuple[str, ...]:
    targets = MODULE_TARGETS if needs_module(test["name"]) else DEFAULT_TARGETS
    return tuple(target.name for target in targets)


class GuestTest(Row):
    """A command that exits with 0 when it passes, and with 77 or 4 when it was skipped."""

    targets: tuple[str, ...] = Field(default_factory=usual_targets)
    full: bool = False  # in the full run only
    debug: bool = True  # on -debug and -kcsan kernels, too
    timeout: float = Field(default=300, gt=0)  # seconds, wall-clock: what takes longer hangs
    cpus: int = Field(default=2, ge=1)
    shown: bool = False  # its output is figures: printed, too, when it passes
    alone: bool = False  # leaves the guest changed, so no other test runs in it

    def runs_on(self, target: str) -> bool:
        plain = target
        for suffix in CHECKED:
            plain = plain.removesuffix(suffix)
        return plain in self.targets and (self.debug or plain == target)


class Bench(Row):
    """A run of `ferry bench`; emulated guests count instructions."""

    target: str = "x86-6.12"
    also: tuple[str, ...] = ()  # on these targets as well, under the name NAME-TARGET
    program: str = ""  # below $FERRY_BUILD, instead of it
    prepare: str = ""  # for sh, before it
    cpus: int = Field(default=1, ge=1)  # instructions are counted on one only
    module: bool = False  # with the test module of measure/guest-module
    device: bool = False  # with ferry.ko
    timeout: float = Field(default=900, gt=0)


AnyRow = TypeVar("AnyRow", bound=Row)


def one_each(key: str, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each word between the braces of KEY; it takes the place of {} in the texts."""
    before, _, rest = key.partition("{")
    words, brace, after = rest.partition("}")
    if not brace:
        yield row | {"name": key}
        return
    for word in words.split(","):
        texts = {k: v.replace("{}", word) if isinstance(v, str) else v for k, v in row.items()}
        yield texts | {"name": before + word + after}


def read_rows(path: Path, kind: type[AnyRow]) -> list[AnyRow]:
    """A row for each table of PATH and each name that the key of the table stands for."""
    rows: dict[str, AnyRow] = {}
    try:
        for key, table in tomllib.loads(path.read_text()).items():
            for row in one_each(key, table):
                if row["name"] in rows:
                    raise LabError(f"{path}: the name '{row['name']}' is there more than once")
                rows[row["name"]] = kind(**row)
    except FileNotFoundError:
        return []
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LabError(f"{path}: [{key}] {where}: {first['msg']}") from None
    return list(rows.values())


def read_tests(path: Path = TESTS) -> list[GuestTest]:
    tests = read_rows(path, GuestTest)
    for test in tests:
        for target in test.targets:
            find_target(target)
    return tests


def read_benches(path: Path = BENCHES) -> list[Bench]:
    benches = [each for bench in read_rows(path, Bench) for each in on_all_targets(bench)]
    for bench in benches:
        find_target(bench.target)
    return benches


def on_all_targets(bench: Bench) -> Iterator[Bench]:
    yield bench
    for target in bench.also:
        name = f"{bench.name}-{target}"
        yield bench.model_copy(update={"name": name, "target": target, "also": ()})
