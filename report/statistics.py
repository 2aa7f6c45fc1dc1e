# SPDX-License-Identifier: MIT
"""The statistics of ferry-bench(5) once more, with NumPy and SciPy, from the trials alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, stats

Floats = NDArray[np.float64]
NORMAL_95 = float(stats.norm.ppf(0.975))


@dataclass(frozen=True)
class Line:
    """a + bN."""

    a: float
    b: float


def fit(sizes: Sequence[int], times: Floats) -> Line:
    """The line through TIMES by least squares, with the weights 1/time^2."""
    weights = 1 / times
    design = np.column_stack([np.ones(len(times)), np.asarray(sizes, dtype=float)])
    solution = linalg.lstsq(design * weights[:, None], np.ones(len(times)))[0]
    return Line(float(solution[0]), float(solution[1]))


def least(trials: Sequence[Sequence[float]]) -> Floats:
    """The least time of each size."""
    smallest: Floats = np.asarray(trials, dtype=float).min(axis=0)
    return smallest


def half_width(n: Floats, a_se: float, b_se: float, correlation: float) -> Floats:
    """Half the 95 % band of a + bN at each N, from the errors of a and b."""
    variance = a_se**2 + 2 * correlation * a_se * b_se * n + (b_se * n) ** 2
    half: Floats = NORMAL_95 * np.sqrt(np.maximum(variance, 0))
    return half


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = np.percentile(np.asarray(values, dtype=float), [25, 50, 75])
    return float(low), float(middle), float(high)


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The narrowest symmetric interval of order statistics that holds the median with at
    least 95 %, or None with too few values for any."""
    ordered = sorted(values)
    rank = int(stats.binom.ppf(0.025, len(ordered), 0.5))
    return (ordered[rank - 1], ordered[-rank]) if rank else None
