"""How long calls and operators of each kind took, and how long a device waited between them.

Source: text-outputs.md 7.1 to 7.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture.batch import Integers, Reals

from .decimals import Engine, cpp_round, python_round, sqlite_round, unit_floats
from .matching import divided, greatest, least, sums

STORED_PLACES = 6
"""The engines keep times in ns and ratios with so many decimals before they print three."""


@dataclass(frozen=True, slots=True)
class ApiStatistic:
    """One row per API. Times in us, the variance in us², all with the three decimals shown."""

    total: Reals
    count: Integers
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
    shortest, longest = least(owner, times, len(count)), greatest(owner, times, len(count))
    total = sums(owner, times, len(count))
    if engine == "python":
        total = python_round(total)
        average = python_round(total / count)
        deviations = python_round((times - average[owner]) ** 2)
        variance = python_round(sums(owner, deviations, len(count)) / count)
    else:
        average = cpp_round(total / count)
        deviations = (times - average[owner]) ** 2
        variance = cpp_round(sums(owner, deviations, len(count)) / count)
        # The C++ engine rounds the total where it prints it.
        total = python_round(total)
    return ApiStatistic(total, count, average, shortest, longest, variance)


@dataclass(frozen=True, slots=True)
class Statistic:
    """One row per kind. Times in us, ratio in percent, all with the three decimals shown."""

    count: Integers
    total: Reals
    minimum: Reals
    average: Reals
    maximum: Reals
    ratio: Reals


def operator_statistic(
    owner: Integers, duration: Integers, engine: Engine, device: Integers | None = None
) -> Statistic:
    """Figures of op_statistic; ``owner`` of a task, from 0 without a gap; durations in ns.

    The ratios add up over all kinds given, also over those that the report then leaves out: no
    type, WRITE_BACK, INVALID. With ``device``, of each owner, they do so on each device.
    """
    shown = python_round if engine == "python" else sqlite_round
    return _statistic(owner, duration, device, shown, stored=True)


def communication_statistic(
    owner: Integers, duration: Integers, engine: Engine, device: Integers | None = None
) -> Statistic:
    """Figures of communication_statistic; ``owner`` of an operator, duration of it in ns.

    An operator lasts from the first start to the last end of its tasks on the master plane. With
    ``device``, of each owner, the ratios add up on each device.
    """
    return _statistic(owner, duration, device, sqlite_round, stored=engine == "python")


def _statistic(
    owner: Integers,
    duration: Integers,
    device: Integers | None,
    shown: Callable[[Reals], Reals],
    *,
    stored: bool,
) -> Statistic:
    """The figures as they are ``shown``; whether averages and ratios were ``stored`` before."""
    count = np.bincount(owner)
    total = sums(owner, duration, len(count))
    alike = np.zeros(len(count), np.int64) if device is None else device
    _, place = np.unique(alike, return_inverse=True)
    everything = sums(place, total, len(count))[place]
    average, ratio = total / count, divided(total, everything, everything > 0) * 100
    if stored:
        average, ratio = (python_round(one, STORED_PLACES) for one in (average, ratio))
    return Statistic(
        count=count,
        total=shown(total / 1e3),
        minimum=least(owner, duration, len(count)) / 1e3,
        average=shown(average / 1e3),
        maximum=greatest(owner, duration, len(count)) / 1e3,
        ratio=shown(ratio),
    )


def wait_times(start: Integers, duration: Integers, engine: Engine) -> Reals:
    """Time between the end of the row before and the start of each row, in us; 0 for the first.

    start, duration: ns, rows in order of start, those of communication included. The Python engine
    takes one device at a time and rounds to three decimals. The C++ engine takes all rows of the
    file, computes with floats of the instants in us, which are a quarter of a us apart, and prints
    six decimals.
    """
    waited = np.zeros(len(start))
    if engine == "python":
        idle = start[1:] - start[:-1] - duration[:-1]
        waited[1:] = python_round(np.maximum(idle, 0) / 1e3)
    else:
        instants, times = unit_floats(start), unit_floats(duration)
        waited[1:] = np.maximum(instants[1:] - instants[:-1] - times[:-1], 0.0)
    return waited
