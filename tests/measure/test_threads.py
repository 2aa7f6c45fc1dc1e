# SPDX-License-Identifier: MIT
"""ferry bench threads: both sides serve, and a program that cannot take part is named."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Ferry

SHORT = ("threads", "--pairs", "1", "--calls", "100", "--json", "-")


def assert_alike(row: dict[str, Any]) -> None:
    """Both sides run one program, and serve."""
    carried, plain = row["commands"]
    assert carried[1] == "threads"
    assert carried[2:-1] == plain[:-1]  # the last word is the port
    for figures in (row["requests_per_s"], row["p99_ns"]):
        assert len(figures) == 2
        assert min(figures) > 0


def test_both_sides_run_the_same_program(documents: dict[str, Any]) -> None:
    rows = documents["threads"]["comparisons"]
    assert {row["app"] for row in rows} == {"echo", "queue"}
    for row in rows:
        assert_alike(row)


def test_python_serves(ferry: Ferry) -> None:
    done = ferry(*SHORT, "--app", "python", "--threads", "16")
    (row,) = json.loads(done.stdout)["comparisons"]
    assert row["app"] == "python"
    assert_alike(row)


def test_the_loads_that_are_asked_for_are_measured(ferry: Ferry) -> None:
    done = ferry(*SHORT, "--app", "echo", "--threads", "1,64")
    sides = [row["side"] for row in json.loads(done.stdout)["comparisons"]]
    assert sides == ["carried, 1 of 1", "carried, 1 of 64", "carried, 64 of 64"]


@pytest.mark.parametrize(
    ("app", "program"), [("memcached", "memcached"), ("slapd", "slapd"), ("apache", "apache2")]
)
def test_a_server_of_the_distribution_serves(app: str, program: str, ferry: Ferry) -> None:
    done = ferry(*SHORT, "--app", app, "--threads", "16")
    if f"{program} is not installed" in done.stderr:
        pytest.skip(f"{program} is not installed")
    (row,) = json.loads(done.stdout)["comparisons"]
    assert row["available"], row["reason"]
    assert min(row["p99_ns"]) > 0


def test_a_program_that_is_missing_is_named(
    ferry: Ferry, environment: dict[str, str], tmp_path: Path
) -> None:
    bare = environment | {"PATH": str(tmp_path)}
    done = ferry(*SHORT, "--app", "echo,java", "--threads", "64", env=bare)
    echo, java = json.loads(done.stdout)["comparisons"]
    assert echo["available"]
    assert not java["available"]
    assert "no program 'java'" in java["reason"]


def test_without_any_program_there_is_no_run(
    ferry: Ferry, environment: dict[str, str], tmp_path: Path
) -> None:
    done = ferry(*SHORT, "--app", "java", env=environment | {"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "")
    assert "no program 'java'" in done.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [("#!/bin/sh\necho broken >&2\n", "broken"), ("exec true\n", "neither an ELF file nor a")],
    ids=["it ends", "it cannot be carried"],
)
def test_a_server_that_does_not_serve_gives_its_message(
    text: str, reason: str, ferry: Ferry, environment: dict[str, str], tmp_path: Path
) -> None:
    java = tmp_path / "java"
    java.write_text(text)
    java.chmod(0o755)
    done = ferry(*SHORT, "--app", "java", env=environment | {"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert reason in done.stderr
