"""How long the operators of each kind ran: op_statistic and communication_statistic.

Source: text-outputs.md 7.2 and 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture.batch import Integers, Reals

from .decimals import Engine, python_round, sqlite_round

STORED_PLACES = 6
"""The engines keep times in ns and ratios with so many decimals before they print three."""


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
    total, average, ratio = _amounts(owner, duration, device)
    shown = python_round if engine == "python" else sqlite_round
    return Statistic(
        count=np.bincount(owner),
        total=shown(total / 1e3),
        minimum=_shortest(owner, duration, len(total)),
        average=shown(python_round(average, STORED_PLACES) / 1e3),
        maximum=_longest(owner, duration, len(total)),
        ratio=shown(python_round(ratio, STORED_PLACES)),
    )


def communication_statistic(
    owner: Integers, duration: Integers, engine: Engine, device: Integers | None = None
) -> Statistic:
    """Figures of communication_statistic; ``owner`` of an operator, duration of it in ns.

    An operator lasts from the first start to the last end of its tasks on the master plane. With
    ``device``, of each owner, the ratios add up on each device.
    """
    total, average, ratio = _amounts(owner, duration, device)
    if engine == "python":
        average = python_round(average, STORED_PLACES)
        ratio = python_round(ratio, STORED_PLACES)
    return Statistic(
        count=np.bincount(owner),
        total=sqlite_round(total / 1e3),
        minimum=_shortest(owner, duration, len(total)),
        average=sqlite_round(average / 1e3),
        maximum=_longest(owner, duration, len(total)),
        ratio=sqlite_round(ratio),
    )


def _amounts(
    owner: Integers, duration: Integers, device: Integers | None
) -> tuple[Integers, Reals, Reals]:
    """Total and average in ns and share of everything in percent, by owner."""
    count = np.bincount(owner)
    total = np.zeros(len(count), np.int64)
    np.add.at(total, owner, duration)
    alike = np.zeros(len(count), np.int64) if device is None else device
    _, place = np.unique(alike, return_inverse=True)
    everything = np.zeros(len(count), np.int64)
    np.add.at(everything, place, total)
    ratio = np.zeros(len(total))
    np.divide(total, everything[place], out=ratio, where=everything[place] > 0)
    return total, total / count, ratio * 100


def _shortest(owner: Integers, duration: Integers, count: int) -> Reals:
    """Least duration in us, by owner."""
    found = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(found, owner, duration)
    return found / 1e3


def _longest(owner: Integers, duration: Integers, count: int) -> Reals:
    """Greatest duration in us, by owner."""
    found = np.full(count, np.iinfo(np.int64).min)
    np.maximum.at(found, owner, duration)
    return found / 1e3
