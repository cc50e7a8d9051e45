"""How often the numbers of tasks had started again in their stream."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.spill import Spill, batches, sorted_rows

TASK_NUMBERS = 1 << 16
"""taskId counts in 16 bits within a stream (raw-prof.md 4.2); chips 950 and later count in 32."""


def task_batches(
    device: Integers,
    stream: Integers,
    number: Integers,
    start: Integers,
    spill: Spill | None = None,
) -> Integers:
    """The batch of each task, 0 for the first ones of its stream; rows in any order, start in ns.

    Exporters count records of flips, which show when numbers start again (raw-prof.md 4.2); tables
    do not hold them. But tasks of a stream start one after the other, so that a fall of more than
    half the range is a flip, and a rise of as much a task of the batch before, such as a part of an
    FFTS+ task that starts late.
    """
    spill = Spill() if spill is None else spill
    batch = spill.changeable(len(number), 0)
    low, high = spill.range_of(number) if len(number) else (0, 0)
    if high - low <= TASK_NUMBERS // 2:
        return batch
    order = sorted_rows(spill, device, stream, start)
    streams = _Streams()
    flips = spill.array(
        (
            streams.flips(device[rows], stream[rows], number[rows])
            for rows in (order[part] for part in batches(len(order)))
        ),
        np.int64,
    )
    for part in spill.batches(len(order)):
        rows = order[part]
        batch[rows] = streams.batches(flips[part], part.start)
    return batch


class _Streams:
    """Reads tasks stream by stream, in order of their starts.

    begins: the place of the first task of each stream. lowest, widest: of its flips and numbers.
    """

    def __init__(self) -> None:
        self.begins: list[int] = []
        self.lowest: list[int] = []
        self.widest: list[int] = []
        self._place = 0
        self._last: tuple[int, int, int] | None = None
        self._flips = 0

    def flips(self, device: Integers, stream: Integers, number: Integers) -> Integers:
        """How many flips lie between the first of all tasks and each of these, which come next."""
        last_device, last_stream, last_number = self._last or (device[0], stream[0], number[0])
        begins = np.diff(device, prepend=last_device) != 0
        begins |= np.diff(stream, prepend=last_stream) != 0
        begins[0] |= self._last is None
        step = np.diff(number, prepend=last_number)
        step[begins] = 0
        change = (step < -TASK_NUMBERS // 2).astype(np.int64) - (step > TASK_NUMBERS // 2)
        flips = self._flips + np.cumsum(change)
        first = np.flatnonzero(begins)
        cuts = first if begins[0] else np.append(0, first)
        lowest = np.minimum.reduceat(flips, cuts).tolist()
        widest = np.maximum.reduceat(number, cuts).tolist()
        if not begins[0]:
            self.lowest[-1] = min(self.lowest[-1], lowest.pop(0))
            self.widest[-1] = max(self.widest[-1], widest.pop(0))
        self.begins += (first + self._place).tolist()
        self.lowest += lowest
        self.widest += widest
        self._place += len(number)
        self._last = device[-1], stream[-1], number[-1]
        self._flips = int(flips[-1])
        return flips

    def batches(self, flips: Integers, place: int) -> Integers:
        """The batch of tasks from a place on, once all streams have been read."""
        own = np.arange(place, place + len(flips))
        stream = np.searchsorted(self.begins, own, side="right") - 1
        wide = np.array(self.widest)[stream] >= TASK_NUMBERS
        return np.where(wide, 0, flips - np.array(self.lowest)[stream])
