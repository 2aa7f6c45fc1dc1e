# SPDX-License-Identifier: MIT
"""Two equal sides are rarely called different: made-up trials of every bench, quiet and busy.

FERRY_RUNS says how many runs of each are made; the suite full makes ten times as many.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Conclude
from numpy.typing import NDArray
from scipy import stats

RUNS = int(os.environ.get("FERRY_RUNS", "30"))
SEED = 20261125
SIZES = [1, 4, 16, 64, 256, 1024]
NOMINAL = 0.05
Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int, int], Floats]


# ---- the synthetic clock: factors of the times of SIDES that take turns in TRIALS ----


def quiet(rng: np.random.Generator, trials: int, sides: int) -> Floats:
    return 1 + 0.01 * rng.gamma(1.5, 1, (trials, sides))


def drifting(rng: np.random.Generator, trials: int, sides: int) -> Floats:
    """The machine changes its speed, for all sides alike."""
    speed = np.exp(0.01 * np.cumsum(rng.standard_normal(trials)))
    times: Floats = speed[:, None] * quiet(rng, trials, sides)
    return times


def busy(rng: np.random.Generator, trials: int, sides: int) -> Floats:
    """Others take the CPU in half of the trials, for a while that has no limit."""
    disturbed = rng.random((trials, sides)) < 0.5
    return quiet(rng, trials, sides) + disturbed * rng.exponential(3, (trials, sides))


NOISES: list[Noise] = [quiet, drifting, busy]


# ---- a run of each bench whose sides take equally long, and its claims ----


def columns(times: Floats) -> list[list[float]]:
    return [column.tolist() for column in times.T]


def crossing(rng: np.random.Generator, noise: Noise) -> dict[str, Any]:
    names = ["function", "unimplemented", "getpid_raw", "getppid", "read", "write", "stat"]
    times = 80 * noise(rng, 10, len(names))
    times[:, 0] /= 60
    return {
        "bench": "crossing",
        "calls": 100000,
        "rows": dict(zip(names, columns(times), strict=True)),
    }


def batch(rng: np.random.Generator, noise: Noise) -> dict[str, Any]:
    engines = ["loop", "device", "syscall"]
    times = noise(rng, 100, len(engines) * len(SIZES)).reshape(100, len(engines), len(SIZES))
    times = times * (100 + 80 * np.array(SIZES))
    trials = {engine: times[:, i].ravel().tolist() for i, engine in enumerate(engines)}
    return {"bench": "batch", "sizes": SIZES, "engines": trials}


def rows(trials: int, count: int) -> Callable[[np.random.Generator, Noise], dict[str, Any]]:
    def request(rng: np.random.Generator, noise: Noise) -> dict[str, Any]:
        times = columns(5 * noise(rng, trials, count))
        return {"bench": "rows", "rows": {f"row {i}": each for i, each in enumerate(times)}}

    return request


def duels(count: int, pairs: int) -> Callable[[np.random.Generator, Noise], dict[str, Any]]:
    def request(rng: np.random.Generator, noise: Noise) -> dict[str, Any]:
        sides = [columns(1e6 * noise(rng, pairs, 2)) for _ in range(count)]
        return {"bench": "apps", "duels": [{"side": a, "against": b} for a, b in sides]}

    return request


def flexsc(rng: np.random.Generator, noise: Noise) -> dict[str, Any]:
    work = [0, 150, 300, 2000]
    times = columns(300 * noise(rng, 5, 2 * len(work)))
    return {"bench": "flexsc", "work": work, "plain": times[::2], "flexsc": times[1::2]}


def pagefault(rng: np.random.Generator, noise: Noise) -> dict[str, Any]:
    return {"bench": "pagefault", "touches": columns(700 * noise(rng, 5, 4))}


BENCHES = {
    "crossing": crossing,
    "batch": batch,
    "dispatch": rows(trials=40, count=4),
    "chain": rows(trials=10, count=5),
    "apps": duels(count=10, pairs=21),
    "files": duels(count=8, pairs=13),
    "flexsc": flexsc,
    "pagefault": pagefault,
}


def claims(value: Any) -> bool:  # noqa: ANN401 (JSON)
    """Whether anything in a document is called different, or has a share beyond the crossing."""
    if isinstance(value, list):
        return any(claims(each) for each in value)
    if not isinstance(value, dict):
        return False
    told = ("significant", "epoll_significant", "kernel_share", "different")
    return any(value.get(key) for key in told) or any(claims(each) for each in value.values())


def assert_nominal(wrong: int, what: str) -> None:
    """More would happen with a probability of less than 1 in 1000 at the nominal rate."""
    assert wrong <= stats.binom.ppf(0.999, RUNS, NOMINAL), f"{what}: {wrong} of {RUNS}"


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("bench", BENCHES)
def test_within_a_run(bench: str, noise: Noise, conclude: Conclude) -> None:
    rng = np.random.default_rng(SEED)
    wrong = sum(claims(conclude(**BENCHES[bench](rng, noise))) for _ in range(RUNS))
    assert_nominal(wrong, f"{bench}, {noise.__name__}, seed {SEED}")


def with_scatter(document: Any, scatter: Floats) -> Any:  # noqa: ANN401 (JSON)
    for figure, factor in zip(document["figures"], scatter, strict=True):
        figure["value"] *= float(factor)
        figure["se"] = figure["se"] and figure["se"] * float(factor)
    return document


@pytest.mark.parametrize(("earlier", "between"), [(1, 0.02), (3, 0.08)])
@pytest.mark.parametrize("bench", BENCHES)
def test_from_run_to_run(
    bench: str, earlier: int, between: float, conclude: Conclude, tmp_path: Path
) -> None:
    """Runs differ by more than what varies within them: by less than is stated, or measured."""
    rng = np.random.default_rng(SEED)
    wrong = 0
    for _ in range(RUNS):
        paths = []
        for i in range(earlier):
            document = conclude(**BENCHES[bench](rng, quiet))
            # Both sides of the difference: this run has no scatter of its own.
            spread = between * np.sqrt(2 if earlier == 1 else 1)
            scatter = 1 + spread * rng.standard_normal(len(document["figures"]))
            paths.append(tmp_path / f"{i}.json")
            paths[-1].write_text(json.dumps(with_scatter(document, scatter)))
        now = conclude(**BENCHES[bench](rng, quiet), against=[str(path) for path in paths])
        wrong += claims(now["against"]["rows"])
    assert_nominal(wrong, f"{bench} against {earlier}, seed {SEED}")
