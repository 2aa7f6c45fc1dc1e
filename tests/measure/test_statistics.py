# SPDX-License-Identifier: MIT
"""The statistics of ferry bench against NumPy and SciPy, and against known truths."""

import itertools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Statistics
from numpy.typing import NDArray
from scipy import optimize, stats

Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator, tuple[int, ...]], Floats]

SEED = int(os.environ.get("FERRY_TEST_SEED", "20260301"))
SIZES: Floats = np.array([2.0**i for i in range(11)])
CROSSING, CALL = 120.0, 75.0  # ns: the a and b of the synthetic data
RESAMPLES = 10_000
EXACT = 1e-9  # relative, for what both compute from the same formula

# Relative, for a standard deviation of 10,000 resamples on both sides: it is itself known to
# sqrt(1 / 20000) = 0.7 % for a normal distribution, and less well for minima and medians.
SAMPLED = 0.06


# What delays a call only ever adds to its time.
NOISES: dict[str, Noise] = {
    "exponential": lambda rng, shape: rng.exponential(0.02, shape),
    "jitter": lambda rng, shape: np.abs(rng.normal(0, 0.01, shape)),
    "interrupts": lambda rng, shape: (
        rng.exponential(0.004, shape) + (rng.random(shape) < 0.3) * rng.exponential(0.4, shape)
    ),
    "two states": lambda rng, shape: (
        rng.exponential(0.005, shape) + 0.1 * (rng.random((*shape[:-1], 1)) < 0.5)
    ),
}


@pytest.fixture
def rng() -> np.random.Generator:
    print(f"seed {SEED}: FERRY_TEST_SEED={SEED} makes the same data again")
    return np.random.default_rng(SEED)


def median(values: Floats, axis: int) -> Floats:
    return np.asarray(np.median(values, axis=axis))


def synthetic(rng: np.random.Generator, noise: Noise, *shape: int) -> Floats:
    """Trials, the last axis by size."""
    return (CROSSING + CALL * SIZES) * (1 + noise(rng, (*shape, len(SIZES))))


def fit_request(trials: Floats, resamples: int = RESAMPLES) -> dict[str, Any]:
    return {
        "what": "fit",
        "sizes": SIZES.tolist(),
        "trials": trials.ravel().tolist(),
        "seed": 7,
        "resamples": resamples,
    }


def line(least: Floats) -> Floats:
    """a and b by NumPy, whose weights multiply the distances, not their squares."""
    b, a = np.polyfit(SIZES, least, 1, w=1 / least)
    return np.array([a, b])


def on_line(x: Floats, /, a: float, b: float) -> Floats:
    return a + b * x


def scipy_lines(trials: Floats) -> Floats:
    """The bootstrap's a and b, as SciPy draws them."""

    def statistic(which: NDArray[np.signedinteger]) -> Floats:
        return line(trials[which].min(axis=0))

    drawn = stats.bootstrap(
        (np.arange(len(trials)),),
        statistic,
        n_resamples=RESAMPLES,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(SEED),
    )
    return np.asarray(drawn.bootstrap_distribution)


@pytest.mark.parametrize("name", NOISES)
def test_the_line_is_that_of_numpy_and_scipy(
    name: str, rng: np.random.Generator, statistics: Statistics
) -> None:
    trials = synthetic(rng, NOISES[name], 30)
    least = trials.min(axis=0)
    fit = statistics([fit_request(trials)])[0]
    assert [fit["a"], fit["b"]] == pytest.approx(line(least), rel=EXACT)
    found, _ = optimize.curve_fit(on_line, SIZES, least, (1, 1), sigma=least)
    assert [fit["a"], fit["b"]] == pytest.approx(found, rel=1e-6)
    misfit = np.sqrt(np.mean((least / (fit["a"] + fit["b"] * SIZES) - 1) ** 2))
    assert fit["misfit"] == pytest.approx(misfit, rel=1e-6)


# Where few of the resamples make most of the scatter, 10,000 are too few to compare.
LIGHT = ["exponential", "jitter"]


@pytest.mark.parametrize("name", LIGHT)
def test_the_bootstrap_is_that_of_scipy(
    name: str, rng: np.random.Generator, statistics: Statistics
) -> None:
    trials = synthetic(rng, NOISES[name], 20)
    fit = statistics([fit_request(trials)])[0]
    lines = scipy_lines(trials)
    scatter = lines.std(axis=1, ddof=1)
    assert [fit["a_scatter"], fit["b_scatter"]] == pytest.approx(scatter, rel=SAMPLED)


@pytest.mark.parametrize("name", NOISES)
def test_the_errors_hold_scatter_and_drift(
    name: str, rng: np.random.Generator, statistics: Statistics
) -> None:
    trials = synthetic(rng, NOISES[name], 21)
    fit = statistics([fit_request(trials)])[0]
    halves = np.array([line(half.min(axis=0)) for half in (trials[:10], trials[10:])])
    off = halves - [fit["a"], fit["b"]]
    drift = np.sqrt((off**2).mean(axis=0))
    assert [fit["a_drift"], fit["b_drift"]] == pytest.approx(drift, rel=1e-6)
    for letter in "ab":
        parts = np.hypot(fit[f"{letter}_scatter"], fit[f"{letter}_drift"])
        assert fit[f"{letter}_se"] == pytest.approx(parts, rel=EXACT)
    scale = fit["a_se"] * fit["b_se"]
    assert fit["correlation"] == pytest.approx(fit["covariance"] / scale, rel=EXACT)
    assert -1 <= fit["correlation"] <= 1


@pytest.mark.parametrize("name", LIGHT)
def test_the_covariance_is_that_of_scipy(
    name: str, rng: np.random.Generator, statistics: Statistics
) -> None:
    trials = synthetic(rng, NOISES[name], 20)
    fit = statistics([fit_request(trials)])[0]
    halves = np.array([line(half.min(axis=0)) for half in (trials[:10], trials[10:])])
    off = halves - [fit["a"], fit["b"]]
    covariance = np.cov(scipy_lines(trials))[0, 1] + (off[:, 0] * off[:, 1]).mean()
    scale = fit["a_se"] * fit["b_se"]
    assert fit["covariance"] / scale == pytest.approx(covariance / scale, abs=SAMPLED)


@pytest.mark.parametrize("name", NOISES)
def test_a_known_line_is_found_within_its_stated_errors(
    name: str, rng: np.random.Generator, statistics: Statistics
) -> None:
    """Within two stated errors in at least 90 % of 1,000 runs, a and b each."""
    runs = synthetic(rng, NOISES[name], 1000, 30)
    fits = statistics([fit_request(trials, 200) for trials in runs])
    for letter, truth in (("a", CROSSING), ("b", CALL)):
        within = [abs(fit[letter] - truth) <= 2 * fit[f"{letter}_se"] for fit in fits]
        print(f"{letter}: {sum(within)} of {len(within)} within two errors")
        assert np.mean(within) >= 0.9


def test_stated_errors_are_not_so_large_that_they_say_nothing(
    rng: np.random.Generator, statistics: Statistics
) -> None:
    runs = synthetic(rng, NOISES["exponential"], 200, 30)
    fits = statistics([fit_request(trials, 200) for trials in runs])
    for letter in "ab":
        stated = np.mean([fit[f"{letter}_se"] for fit in fits])
        real = np.std([fit[letter] for fit in fits])
        print(f"{letter}: stated {stated:.4f}, real scatter between runs {real:.4f}")
        assert stated < 6 * real


@pytest.mark.parametrize("rows", [24, 7, 2])
def test_slopes_are_compared_by_student_in_groups(
    rows: int, rng: np.random.Generator, statistics: Statistics
) -> None:
    slowness = 1 + 0.1 * np.abs(rng.normal(size=(rows, 1)))
    one, other = (synthetic(rng, NOISES["jitter"], rows) * slowness for _ in range(2))
    request = {"what": "slopes", "sizes": SIZES.tolist()}
    request |= {"one": one.ravel().tolist(), "other": other.ravel().tolist()}
    (answer,) = statistics([request])

    def ratio(which: slice) -> float:
        return float(line(other[which].min(axis=0))[1] / line(one[which].min(axis=0))[1])

    count = 10 if rows >= 20 else 1 if rows < 4 else rows // 2
    ends = [i * rows // count for i in range(count + 1)]
    groups = [ratio(slice(*pair)) for pair in itertools.pairwise(ends)]
    assert answer["ratio"] == pytest.approx(np.mean(groups), rel=EXACT)
    if count < 2:
        assert answer["se"] is None and answer["p"] is None
        return
    error = np.std(groups, ddof=1) / count**0.5
    assert answer["se"] == pytest.approx(error, rel=1e-6)
    p = 2 * stats.t.sf(abs(answer["ratio"] - 1) / error, count - 1)
    assert answer["p"] == pytest.approx(p, rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 101])
def test_a_summary_is_that_of_numpy(
    count: int, rng: np.random.Generator, statistics: Statistics
) -> None:
    trials = rng.gamma(3, 40, count)
    request = {"what": "summary", "trials": trials.tolist(), "seed": 3, "resamples": RESAMPLES}
    summary = statistics([request])[0]
    sd = trials.std(ddof=1) if count > 1 else None
    expected = [trials.mean(), trials.min(), trials.max(), sd, np.median(trials)]
    found = [summary[key] for key in ("mean", "min", "max", "sd", "median")]
    assert found == pytest.approx(expected, rel=EXACT)
    if count < 4:
        assert summary["se"] is None
        return
    first, second = np.median(trials[: count // 2]), np.median(trials[count // 2 :])
    drift = np.sqrt(((np.array([first, second]) - np.median(trials)) ** 2).mean())
    scatter = stats.bootstrap(
        (trials,),
        median,
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(SEED),
    ).standard_error
    assert summary["se"] == pytest.approx(np.hypot(scatter, drift), rel=SAMPLED)
    assert summary["drift"] == pytest.approx(second / first - 1, rel=EXACT)


def test_outliers_lie_far_outside_of_the_quartiles(statistics: Statistics) -> None:
    quiet, disturbed = [100.0, 101, 102, 103, 104] * 4, [100.0, 101, 102, 103, 104] * 4 + [200, 1]
    requests = [
        {"what": "summary", "trials": trials, "seed": 1, "resamples": 10}
        for trials in (quiet, disturbed)
    ]
    assert [answer["outliers"] for answer in statistics(requests)] == [0, 2]


def test_quantiles_are_those_of_numpy(rng: np.random.Generator, statistics: Statistics) -> None:
    fractions = [0, 0.1, 0.25, 0.5, 0.75, 0.99, 1]
    for count in (1, 2, 5, 40):
        values = rng.normal(size=count)
        requests = [
            {"what": "quantile", "values": values.tolist(), "fraction": fraction}
            for fraction in fractions
        ]
        found = [answer["quantile"] for answer in statistics(requests)]
        assert found == pytest.approx(np.quantile(values, fractions), rel=EXACT, abs=EXACT)


@pytest.mark.parametrize("count", [6, 7, 9, 20, 21, 100, 1000])
def test_the_interval_of_a_median_is_the_binomial_one(
    count: int, rng: np.random.Generator, statistics: Statistics
) -> None:
    values = rng.normal(size=count)
    answer = statistics([{"what": "interval", "values": values.tolist()}])[0]
    below = np.searchsorted(np.sort(values), answer["low"])
    above = count - 1 - np.searchsorted(np.sort(values), answer["high"])
    confidence = 1 - 2 * stats.binom.cdf(below, count, 0.5)
    assert below == above
    assert answer["confidence"] == pytest.approx(confidence, rel=1e-6)
    assert answer["confidence"] >= 0.95
    assert 1 - 2 * stats.binom.cdf(below + 1, count, 0.5) < 0.95  # none is narrower


def test_too_few_values_have_no_interval(statistics: Statistics) -> None:
    requests = [{"what": "interval", "values": [1.0] * count} for count in range(1, 6)]
    assert all(answer["confidence"] is None for answer in statistics(requests))


def propagated(
    function: Callable[[Floats], float], at: Floats, covariance: Floats
) -> tuple[float, float]:
    """The value and the error to first order, with a gradient by differences."""
    gradient = optimize.approx_fprime(at, function, 1e-6 * np.abs(at))
    return function(at), float(np.sqrt(gradient @ covariance @ gradient))


def test_the_error_of_a_break_even_is_propagated(
    rng: np.random.Generator, statistics: Statistics
) -> None:
    requests, expected = [], []
    for _ in range(50):
        a, b = rng.uniform(200, 900), rng.uniform(20, 60)
        at = np.array([a, b, rng.uniform(10, 150), rng.uniform(70, 300)])
        errors = at * rng.uniform(0.001, 0.05, 4)
        matrix = np.diag(errors**2)
        for i in (0, 2):
            covariance = errors[i] * errors[i + 1] * rng.uniform(-0.9, 0.9)
            matrix[i, i + 1] = matrix[i + 1, i] = covariance
        fits = [
            {
                "a": at[i],
                "b": at[i + 1],
                "a_se": errors[i],
                "b_se": errors[i + 1],
                "covariance": matrix[i, i + 1],
            }
            for i in (0, 2)
        ]
        requests.append({"what": "break_even", "fit": fits[0], "other": fits[1]})
        expected.append(propagated(lambda v: (v[0] - v[2]) / (v[3] - v[1]), at, matrix))
    for answer, (value, error) in zip(statistics(requests), expected, strict=True):
        assert answer["value"] == pytest.approx(value, rel=EXACT)
        assert answer["se"] == pytest.approx(error, rel=1e-4)


def test_a_steeper_line_never_breaks_even(statistics: Statistics) -> None:
    line = {"a": 100, "a_se": 1, "b_se": 1, "covariance": 0}
    request = {"what": "break_even", "fit": line | {"b": 90}, "other": line | {"b": 80}}
    assert statistics([request])[0] == {"value": None, "se": None}


def test_probabilities_are_those_of_student(statistics: Statistics) -> None:
    cases = [(t, n) for t in (0.0, 0.3, 1.0, 2.2, 4.0, 9.0) for n in (1, 2, 3, 4, 7, 20, 99)]
    requests = [{"what": "two_sided", "t": t, "freedom": n} for t, n in cases]
    for (t, n), answer in zip(cases, statistics(requests), strict=True):
        assert answer["p"] == pytest.approx(2 * stats.t.sf(t, n), rel=1e-6, abs=1e-12)


def test_comparisons_are_judged_by_holm(rng: np.random.Generator, statistics: Statistics) -> None:
    for count in (1, 2, 10, 40):
        p = (rng.random(count) ** 3).tolist()
        judged = statistics([{"what": "judge", "p": p}])[0]
        order = np.argsort(p)
        expected = np.empty(count)
        expected[order] = np.minimum(
            1, np.maximum.accumulate((count - np.arange(count)) * np.array(p)[order])
        )
        assert judged["p"] == pytest.approx(expected.tolist(), rel=1e-12)
        assert judged["significant"] == [value <= 0.05 for value in expected]
