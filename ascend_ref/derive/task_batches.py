"""How often the numbers of tasks had begun anew in their stream."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.batch import Integers

from .transit import groups

TASK_NUMBERS = 1 << 16
"""taskId counts in 16 bits within a stream (raw-prof.md 4.2); chips 950 and later count in 32."""


def task_batches(device: Integers, stream: Integers, number: Integers, start: Integers) -> Integers:
    """The batch of each task, 0 for the first ones of its stream; rows in any order, start in ns.

    Exporters count records of flips, which tell when numbers begin anew (raw-prof.md 4.2); tables
    do not hold them. But tasks of a stream start one after the other, so that a fall of more than
    half the range is a flip, and a rise of as much a task of the batch before, such as a part of an
    FFTS+ task that starts late.
    """
    batch = np.zeros(len(number), np.int64)
    if not len(number) or int(number.max()) - int(number.min()) <= TASK_NUMBERS // 2:
        return batch
    first, place = groups(device, stream)
    order = np.lexsort((start, place))
    begins = np.searchsorted(place[order], np.arange(len(first)))
    step = np.diff(number[order], prepend=0)
    step[begins] = 0
    flips = np.cumsum((step < -TASK_NUMBERS // 2).astype(np.int64) - (step > TASK_NUMBERS // 2))
    own = flips - np.minimum.reduceat(flips, begins)[place[order]]
    wide = np.maximum.reduceat(number[order], begins) >= TASK_NUMBERS
    batch[order] = np.where(wide[place[order]], 0, own)
    return batch
