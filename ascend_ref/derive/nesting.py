"""Which call was open when another one began."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.spill import Spill, batches

NEVER = np.iinfo(np.int64).min


def parents(start: Integers, end: Integers) -> Integers:
    """For each call the last one before it that had not ended when it began, NONE without one.

    Calls of all threads in order of start, as one stack: a call that begins at the very end of
    another one is within it. Source: exporter of the framework, tree of operators.
    """
    return last_reaching(end, np.arange(len(end)), start)


def innermost(start: Integers, end: Integers, moment: Integers) -> Integers:
    """For each moment the last call that has begun and not ended, both ends included; NONE if none.

    Calls in order of start, as one stack.
    """
    return last_reaching(end, np.searchsorted(start, moment, side="right"), moment)


def last_reaching(values: Integers, before: Integers, threshold: Integers) -> Integers:
    """For each query the last place ``before`` a place whose value reaches a threshold, else NONE.

    Takes time n log n and memory n.
    """
    return Heights(values, Spill()).last_reaching(before, threshold)


class Heights:
    """Greatest values of ever larger blocks: of 1, 2, 4 … places, the last block completed.

    They are climbed until one reaches the threshold, and descended within it.
    """

    def __init__(self, values: Integers, spill: Spill) -> None:
        self._spill = spill
        own = (values[part] for part in batches(len(values)))
        self._blocks = [spill.array(_complete(own, len(values)), np.int64)]
        while len(self._blocks[-1]) > 1:
            below = self._blocks[-1].reshape(-1, 2)
            greatest = (np.maximum(*below[part].T) for part in batches(len(below)))
            self._blocks.append(spill.array(_complete(greatest, len(below)), np.int64))

    def last_reaching(self, before: Integers, threshold: Integers) -> Integers:
        """As :func:`last_reaching`, in these values."""
        return self._spill.made(self._found, before, threshold)

    def _found(self, before: Integers, threshold: Integers) -> Integers:
        blocks = self._blocks
        found = np.full(len(before), NONE)
        height = np.zeros(len(before), np.int64)
        searched = np.flatnonzero(before > 0)
        place = before[searched]
        for level, greatest in enumerate(blocks):
            odd = np.flatnonzero(place % 2)
            block = place[odd] - 1
            hit = greatest[block] >= threshold[searched[odd]]
            hits = searched[odd[hit]]
            found[hits], height[hits] = block[hit], level
            place[odd[hit]] = 0
            place //= 2
            searched, place = searched[place > 0], place[place > 0]
        for level in range(len(blocks) - 1, 0, -1):
            above = np.flatnonzero(height >= level)
            right = 2 * found[above] + 1
            found[above] = right - (blocks[level - 1][right] < threshold[above])
        return found


def _complete(blocks: Iterator[Integers], count: int) -> Iterator[Integers]:
    """Blocks with one that reaches nothing behind an odd number of them, but for a single one."""
    yield from blocks
    if count % 2 and count > 1:
        yield np.array([NEVER])
