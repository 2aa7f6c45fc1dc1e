# SPDX-License-Identifier: MIT
"""The report's own statistics, against SciPy's and against what is known."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from report.statistics import Floats, fit, half_width, least, median_interval
from report.words import fixed, significant, time, with_error


def test_the_fit_is_that_of_curve_fit() -> None:
    random = np.random.default_rng(1)
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    times = (700 + 85 * np.asarray(sizes)) * random.uniform(1, 1.05, len(sizes))
    found = fit(sizes, times)

    def line(n: Floats, /, a: float, b: float) -> Floats:
        return a + b * n

    expected, _ = optimize.curve_fit(line, sizes, times, p0=(1, 1), sigma=times)
    assert (found.a, found.b) == pytest.approx(tuple(expected), rel=1e-6)


def test_the_fit_of_a_line_is_that_line() -> None:
    found = fit([1, 10, 100], np.array([12.0, 30.0, 210.0]))
    assert (found.a, found.b) == pytest.approx((10, 2))


def test_least_is_taken_size_by_size() -> None:
    assert list(least([[3, 5], [4, 2]])) == [3, 2]


def test_the_band_is_the_spread_of_lines() -> None:
    random = np.random.default_rng(2)
    a_se, b_se, correlation = 3.0, 0.2, -0.6
    covariance = [
        [a_se**2, correlation * a_se * b_se],
        [correlation * a_se * b_se, b_se**2],
    ]
    lines = random.multivariate_normal([100, 5], covariance, 200_000)
    n = np.array([1.0, 10.0, 100.0])
    spread = (lines[:, :1] + lines[:, 1:] * n).std(axis=0)
    assert half_width(n, a_se, b_se, correlation) == pytest.approx(1.96 * spread, rel=0.02)


@pytest.mark.parametrize("count", [6, 9, 11, 20, 21, 50, 101])
def test_the_interval_of_the_median_is_that_of_scipy(count: int) -> None:
    values = list(np.random.default_rng(count).normal(size=count))
    interval: Any = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    assert median_interval(values) == pytest.approx((interval.low, interval.high))


def test_few_values_have_no_interval() -> None:
    assert median_interval([1, 2, 3, 4, 5]) is None
    assert median_interval([1, 2, 3, 4, 5, 6]) == (1, 6)


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (1234.5, 3, "1,234"),
        (0.012345, 3, "0.0123"),
        (99.96, 3, "100.0"),
        (-1.5, 2, "\N{MINUS SIGN}1.5"),
        (0, 3, "0"),
    ],
)
def test_significant_digits(value: float, digits: int, expected: str) -> None:
    assert significant(value, digits) == expected


def test_numbers_with_errors_keep_the_digits_that_the_error_leaves() -> None:
    def plain(value: float, error: float | None) -> str:
        return with_error(value, error).replace("\N{NO-BREAK SPACE}", " ")

    assert plain(1.52345, 0.0234) == "1.523 ± 0.023"
    assert plain(1523.45, 23.4) == "1,523 ± 23"
    assert plain(1.0, 0.00041) == "1.0000 ± 0.0004"
    assert plain(12.3456, None) == "12.3"
    assert plain(1.0, 0.0) == "1.00 ± 0.00"


def test_times_have_units_that_fit() -> None:
    shown = [time(ns).replace("\N{NO-BREAK SPACE}", " ") for ns in (0.5, 88.46, 1500, 2.5e6, 3e9)]
    assert shown == ["0.500 ns", "88.5 ns", "1.50 µs", "2.50 ms", "3.00 s"]
    assert fixed(-0.001, 1) == "0.0"
    assert math.isfinite(float(significant(1e-12, 2)))
