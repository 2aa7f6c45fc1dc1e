# SPDX-License-Identifier: MIT
"""The regions that `ferry cc --explain` finds: regions.c has them, and the rules for them."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, FerryCc, Region, regions

SOURCE = Path(__file__).with_name("regions.c")
COMPILE = ["-O2", "-D_GNU_SOURCE", "-c", "-o", "out.o"]
RULES = sorted(
    {
        rule
        for path in (ROOT / "compiler").glob("*.cpp")
        for rule in re.findall(r'enforced\("([\w-]+)"\)', path.read_text())
    }
)


class Expected:
    """What the comment above a function says."""

    def __init__(self, comment: str) -> None:
        words = re.split(r"\b(ends|rule):", comment)
        parts = dict(zip(words[1::2], words[2::2], strict=True))
        self.calls = words[0].split()
        self.ends = parts.get("ends", "").split()
        self.rule = parts.get("rule", "").strip()


def read_expectations() -> dict[str, Expected]:
    found = re.findall(
        r"^/\* (.*) \*/\n(?:FERRY_\w+ |__attribute__\(\(\w+\)\) )?\w+ (\w+)\(",
        SOURCE.read_text(),
        re.M,
    )
    return {name: Expected(comment) for comment, name in found}


EXPECTED = read_expectations()


def calls_of(region: Region) -> list[str]:
    """The calls as a comment has them: a '*' for each copied word, brackets around a region."""
    copies = re.findall(r"copy\(&s(\d+)\.", region["program"] or "")
    calls = [name + "*" * copies.count(str(at)) for at, name in enumerate(region["calls"], start=1)]
    if region["is_region"]:
        calls[0] = "[" + calls[0]
        calls[-1] += "]"
    return calls


def ends_of(region: Region) -> list[str]:
    return [end["reason"] for end in region["ends"] if end["reason"] != "function-ends"]


def found_by(ferry_cc: FerryCc, **variables: str) -> dict[str, list[Region]]:
    done = ferry_cc(["--explain=json", "--crossing=100"], *COMPILE, SOURCE, **variables)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[Region]] = {name: [] for name in EXPECTED}
    for region in regions(done.stdout):
        found[region["function"]].append(region)
    return found


def test_regions_are_as_the_source_says(ferry_cc: FerryCc) -> None:
    for name, found in found_by(ferry_cc).items():
        expected = EXPECTED[name]
        assert [call for region in found for call in calls_of(region)] == expected.calls, name
        assert [end for region in found for end in ends_of(region)] == expected.ends, name


def test_every_rule_has_a_function_that_needs_it() -> None:
    assert {expected.rule for expected in EXPECTED.values()} - {""} == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_without_the_rule_these_functions_change(ferry_cc: FerryCc, rule: str) -> None:
    """Builds with tests can leave out a rule: then more is batched than may be."""
    found = found_by(ferry_cc, FERRY_CC_WITHOUT=rule)
    for name, expected in EXPECTED.items():
        if expected.rule == rule:
            calls = [call for region in found[name] for call in calls_of(region)]
            assert calls != expected.calls, name


def test_two_runs_give_the_same_text(ferry_cc: FerryCc) -> None:
    texts = {ferry_cc(["--explain=json", "--crossing=100"], *COMPILE, SOURCE).stdout for _ in "ab"}
    assert len(texts) == 1


def test_the_programs_have_no_errors(ferry_cc: FerryCc, ferry_path: Path) -> None:
    programs = [
        region["program"]
        for found in found_by(ferry_cc).values()
        for region in found
        if region["is_region"]
    ]
    assert len(programs) > 10
    for program in programs:
        done = subprocess.run(
            [ferry_path, "check"], input=program, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, program + done.stdout + done.stderr


def test_what_is_saved_is_a_crossing_for_each_further_call(ferry_cc: FerryCc) -> None:
    for found in found_by(ferry_cc).values():
        for region in found:
            saved = 100 * (region["in_a_row"] - 1) if region["is_region"] else None
            assert region["saved_ns"] == saved


def test_lines_and_columns_are_the_calls(ferry_cc: FerryCc) -> None:
    lines = SOURCE.read_text().splitlines()
    for found in found_by(ferry_cc).values():
        for region in found:
            assert region["file"] == str(SOURCE)
            line = lines[region["line"] - 1].expandtabs(1)
            assert line[region["column"] - 1 :].startswith(region["calls"][0] + "(")
