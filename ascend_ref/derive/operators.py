"""The communication operators of a capture: their intervals and numbers, from their tasks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture.batch import Integers

from .matching import greatest, least


@dataclass(frozen=True, slots=True)
class Operators:
    """Operators that have an interval, in order of start and end.

    rows: their rows in the capture. start, end: ns. number: opId. number_of: opId of every row of
    the capture, -1 for one without an interval.
    """

    rows: Integers
    start: Integers
    end: Integers
    number: Integers
    number_of: Integers

    def __len__(self) -> int:
        return len(self.rows)


def operators(
    *, count: int, owner: Integers, start: Integers, end: Integers, first: int
) -> Operators:
    """First start and last end of the tasks of each of ``count`` operators; ``owner`` of a task.

    An operator without tasks has no interval. The numbers begin with ``first`` and follow the
    order of the intervals (db-schema.md 4.9). Source: invariant I14.
    """
    earliest, latest = least(owner, start, count), greatest(owner, end, count)
    present = np.flatnonzero(latest >= 0)
    rows = present[np.lexsort((present, latest[present], earliest[present]))]
    number = first + np.arange(len(rows))
    number_of = np.full(count, -1)
    number_of[rows] = number
    return Operators(rows, earliest[rows], latest[rows], number, number_of)
