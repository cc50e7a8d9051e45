"""How long the calls of each API took: the figures of api_statistic (text-outputs.md 7.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture.batch import Integers, Reals

from .decimals import Engine, cpp_round, python_round, unit_floats


@dataclass(frozen=True, slots=True)
class ApiStatistic:
    """One row per API. Times in us, the variance in us², all with the three decimals shown."""

    count: Integers
    total: Reals
    average: Reals
    minimum: Reals
    maximum: Reals
    variance: Reals


def api_statistic(owner: Integers, duration: Integers, engine: Engine) -> ApiStatistic:
    """Figures of the APIs; ``owner`` of a call, from 0 without a gap; durations in ns.

    The variance is that of the population around the rounded average. The Python engine rounds
    each squared deviation, the C++ engine none. Sums are formed in the order of the calls.
    """
    count = np.bincount(owner)
    times = unit_floats(duration)
    shortest, longest = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    np.minimum.at(shortest, owner, times)
    np.maximum.at(longest, owner, times)
    total = _sums(owner, times, len(count))
    if engine == "python":
        total = python_round(total)
        average = python_round(total / count)
        deviations = python_round((times - average[owner]) ** 2)
        variance = python_round(_sums(owner, deviations, len(count)) / count)
    else:
        average = cpp_round(total / count)
        deviations = (times - average[owner]) ** 2
        variance = cpp_round(_sums(owner, deviations, len(count)) / count)
        # The C++ engine rounds the total where it prints it.
        total = python_round(total)
    return ApiStatistic(count, total, average, shortest, longest, variance)


def _sums(owner: Integers, values: Reals, count: int) -> Reals:
    """Sums by owner, one value added after the other."""
    return np.bincount(owner, values, count).astype(np.float64)
