"""Which tasks are shown as a whole, and how often the numbers of tasks had started again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.batch import Integers
from ascend_ref.spill import Spill, batches, sorted_rows

from .decimals import Engine
from .matching import NONE, groups, least, ranks

Mask = npt.NDArray[np.bool_]
TASK_NUMBERS = 1 << 16
"""taskId counts in 16 bits within a stream (raw-prof.md 4.2); chips 950 and later count in 32."""


def shown_tasks(
    key: Integers, context: Integers, start: Integers, end: Integers, engine: Engine
) -> Mask:
    """Which rows are shown; ``key`` is one number for each device, stream and task id.

    ``context`` is NONE for a task as a whole. Rows of one task are a group. The Python engine drops
    a group with a context above 0, an FFTS+ task; of others it keeps the rows of context 0, those
    of a mixed kernel, or all where there is none. The C++ engine looks no further than the first
    context above 0: only the rows of context 0 stay where one came before, else all of them
    (erratum T38). Source: text-outputs.md 3.2.

    Numbers of tasks are used again after an overflow, so a group ends where a context repeats, or
    where a whole task begins after everything before it has ended.
    """
    if not len(key):
        return np.zeros(0, np.bool_)
    order = np.lexsort((context, start, key))
    first, group = groups(_runs(key[order], context[order], start[order], end[order]))
    context, count = context[order], len(first)
    place = np.arange(len(order))
    first_part, first_zero = (
        least(group[kind], place[kind], count) for kind in (context > 0, context == 0)
    )
    has_parts, has_zero = first_part < len(order), first_zero < len(order)
    if engine == "python":
        dropped, only_zero = has_parts, has_zero
    else:
        dropped, only_zero = np.zeros(count, np.bool_), has_zero & (first_zero < first_part)
    alone = np.bincount(group) == 1
    kept = alone[group] | (~dropped[group] & (~only_zero[group] | (context == 0)))
    shown = np.empty(len(order), np.bool_)
    shown[order] = kept
    return shown


def _runs(key: Integers, context: Integers, start: Integers, end: Integers) -> Integers:
    """A number for each run of each task; rows are in order of key and start."""
    begins = np.ones(len(key), np.bool_)
    begins[1:] = key[1:] != key[:-1]
    task = np.cumsum(begins) - 1
    # Ends by their rank, raised with each task, so that one running maximum serves all tasks.
    ends = np.sort(end)
    reached = np.maximum.accumulate(task * len(key) + np.searchsorted(ends, end))
    before = ends[np.append(0, reached[:-1]) % len(key)]
    begins[1:] |= (context[1:] == NONE) & (start[1:] >= before[1:])
    _, part = groups(np.cumsum(begins), context)
    _, run = groups(np.cumsum(begins), ranks(part))
    return run


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
