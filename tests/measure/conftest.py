# SPDX-License-Identifier: MIT
"""What the tests of ferry bench share: running it, and its statistics."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

Result = subprocess.CompletedProcess[str]
Ferry = Callable[..., Result]
Request = dict[str, Any]
Conclude = Callable[..., Any]
Statistics = Callable[[list[Request]], list[dict[str, Any]]]

# Short runs of each bench: what they print matters here, not how well they measure.
SHORT = {
    "crossing": "--trials 4 --calls 200",
    "batch": "--trials 4 --sizes 1,4,16 --slots 64 --beside raw",
    "dispatch": "--trials 4 --calls 2000",
    "chain": "--trials 4",
    "apps": "--pairs 7",
    "files": "--pairs 7 --app stat,read,hash,walk,small,du",
    "flexsc": "--trials 4 --calls 500 --work 0,150,2000 --threads 2,16 --runners 1",
    "pagefault": "--trials 4 --memory 16",
    "threads": "--pairs 4 --calls 200 --app echo,queue --threads 16",
}


@pytest.fixture(scope="session", autouse=True)
def gives_verdicts(unwatched: None) -> None:
    """No test of ferry trace runs at the same time."""


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    chosen = ("FERRY_ENGINE", "BATCH_EMUL", "NO_COLOR", "COLUMNS")
    own = {"LC_ALL": "C", "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    return {k: v for k, v in os.environ.items() if k not in chosen} | own


@pytest.fixture(scope="session")
def ferry(ferry_path: Path, environment: dict[str, str]) -> Ferry:
    """Runs `ferry bench` with the given words."""

    def run(*words: str | Path, **more: Any) -> Result:  # noqa: ANN401 (subprocess.run()'s)
        options: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "timeout": 300,
            "env": environment,
        }
        return subprocess.run([ferry_path, "bench", *words], check=False, **(options | more))

    return run


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tree for the applications to work on."""
    root = tmp_path_factory.mktemp("tree")
    for i in range(20):
        (root / f"directory-{i}").mkdir()
        (root / f"directory-{i}" / "file").write_bytes(b"x" * i)
    return root


@pytest.fixture(scope="session")
def short(tree: Path) -> dict[str, list[str]]:
    """Each bench's name and options for a short run."""
    words = {bench: [bench, *options.split()] for bench, options in SHORT.items()}
    for bench in ("apps", "files"):
        words[bench] += ["--directory", str(tree)]
    return words


@dataclass(frozen=True)
class Run:
    """What one run of a bench left: its three kinds of output."""

    document: dict[str, Any]
    table: str  # comma-separated
    printed: str


@pytest.fixture(scope="session")
def runs(
    ferry: Ferry,
    short: dict[str, list[str]],
    environment: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Run]:
    """A short run of each bench, with tables for 80 columns."""
    folder = tmp_path_factory.mktemp("runs")
    found = {}
    for bench, words in short.items():
        json_path, csv_path = folder / f"{bench}.json", folder / f"{bench}.csv"
        done = ferry(
            *words, "--json", json_path, "--csv", csv_path, env=environment | {"COLUMNS": "80"}
        )
        assert (done.returncode, done.stderr) == (0, "")
        document = json.loads(json_path.read_text())
        found[bench] = Run(document, csv_path.read_text(), done.stdout)
    return found


@pytest.fixture(scope="session")
def documents(runs: dict[str, Run]) -> dict[str, Any]:
    """The JSON of a short run of each bench."""
    return {bench: run.document for bench, run in runs.items()}


@pytest.fixture(scope="session")
def conclude(build: Path) -> Conclude:
    """What ferry bench concludes from made-up trials; conclusions.c says how to ask."""

    def ask(bench: str, **request: Any) -> Any:  # noqa: ANN401 (JSON)
        done = subprocess.run(
            [build / "tests" / "measure" / "conclusions"],
            input=json.dumps({"bench": bench} | request),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="session")
def statistics(build: Path) -> Statistics:
    def ask(requests: list[Request]) -> list[dict[str, Any]]:
        done = subprocess.run(
            [build / "tests" / "measure" / "statistics"],
            input=json.dumps(requests),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        answers: list[dict[str, Any]] = json.loads(done.stdout)
        return answers

    return ask
