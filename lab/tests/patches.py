# SPDX-License-Identifier: MIT
"""The selftests that the user's patches add to the kernel's, as tests to run in a guest."""

from pathlib import Path

from lab.kernels.selftests import added_selftests, programs_in
from lab.targets import Target
from lab.tests.manifest import GuestTest


def added_tests(target: Target, selftests: Path) -> list[GuestTest]:
    """The programs that build_selftests() made in SELFTESTS from the patches of TARGET."""
    return [
        GuestTest(
            name=f"kselftest-{program}".lower(),
            command=f"$FERRY_KSELFTEST/{folder}/{program}",
            targets=(target.name,),
        )
        for folder in added_selftests(target)
        for program in programs_in(selftests / folder)
    ]
