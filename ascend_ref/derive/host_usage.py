"""Figures from samples of processors, memory, disks and networks.

Source: text-outputs.md 3.3, 3.4 and 3.7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers, Reals

from .decimals import python_round
from .matching import divided, greatest, least, sums

RECOMMENDED_PERCENTILE = 0.98
BEST_LOAD = 0.8
"""Of what is recommended, so much should be used."""
STATES = (
    "user",
    "nice",
    "sys",
    "idle",
    "iowait",
    "irq",
    "soft",
    "steal",
    "guest",
    "guest_nice",
)
"""What a processor does; its shares are parts of the sum of all of them."""
SHOWN_STATES = ("user", "sys", "iowait", "irq", "soft", "idle")
"""The states of cpu_usage, in the order of its columns."""


class Demand(NamedTuple):
    """The greatest sample, and how much of a resource is recommended."""

    peak: float
    recommended: float


def demand(samples: Reals) -> Demand | None:
    """Peak and recommendation; None without samples, for which the files say N/A.

    Recommended is the 98th percentile of the positive samples, its rank rounded up, divided by
    0.8; 0 where no sample is positive.
    """
    if not samples.size:
        return None
    positive = np.sort(samples[samples > 0])
    rank = int(np.ceil((len(positive) - 1) * RECOMMENDED_PERCENTILE))
    needed = float(positive[rank]) if positive.size else 0.0
    return Demand(float(samples.max()), needed / BEST_LOAD)


def memory_demand(percent: Reals, total: float) -> Demand | None:
    """Peak and recommendation, three decimals, from samples in percent of ``total``."""
    found = demand(percent)
    if found is None:
        return None
    return Demand(*python_round(np.array(found) * total / 100).tolist())


class Processors(NamedTuple):
    """How many processors were seen, and how many of them ever worked."""

    occupied: int
    recommended: int


def processors(number: Integers, usage: Reals) -> Processors:
    """Of samples of single processors, without those of their average."""
    seen = np.unique(number)
    return Processors(len(seen), len(np.unique(number[usage > 0])))


def state_shares(spent: Integers, owner: Integers) -> Reals:
    """Percent of time that processors spent in each of SHOWN_STATES, three decimals, by owner.

    spent: one row per sample, one column for each of STATES. owner: of a sample, from 0 without a
    gap: its type of processor. 0 where no time passed.
    """
    total = np.zeros((int(owner.max(initial=-1)) + 1, len(STATES)), np.int64)
    np.add.at(total, owner, spent)
    whole = total.sum(axis=1, keepdims=True)
    shown = total[:, [STATES.index(state) for state in SHOWN_STATES]]
    return python_round(divided(shown, whole, whole > 0) * 100)


def process_shares(ran: Integers, system: Integers, owner: Integers) -> Reals:
    """Percent of the system's time in which processes ran, three decimals, by owner.

    The mean of the shares of the samples; a sample in which no time passed counts as 0.
    """
    shares, count = divided(ran, system, system > 0), np.bincount(owner)
    return python_round(100 * np.bincount(owner, shares, len(count)) / count)


def sample_means(values: Integers, owner: Integers) -> Integers:
    """Mean of the samples by owner, as SQLite divides integers: without decimals; none negative."""
    count = np.bincount(owner)
    return sums(owner, values, len(count)) // count


def cycle_shares(cycles: Integers) -> Reals:
    """Percent that functions have of all cycles counted, three decimals; 0 where there are none."""
    whole = int(cycles.sum())
    return python_round(cycles * 100 / whole) if whole else np.zeros(len(cycles))


class SystemCalls(NamedTuple):
    """One row per function and thread. fraction: of the time of all calls, 0 to 1; times in ns."""

    fraction: Reals
    total: Integers
    calls: Integers
    average: Reals
    longest: Integers
    shortest: Integers


def system_calls(owner: Integers, duration: Integers) -> SystemCalls:
    """Figures of os_runtime_statistic; ``owner`` of a call, from 0 without a gap; ns.

    What the file calls Time(%) is the fraction (erratum T14).
    """
    count = np.bincount(owner)
    total, longest, shortest = (
        figure(owner, duration, len(count)) for figure in (sums, greatest, least)
    )
    whole = int(total.sum())
    fraction = total / whole if whole else np.zeros(len(total))
    return SystemCalls(fraction, total, count, total / count, longest, shortest)
