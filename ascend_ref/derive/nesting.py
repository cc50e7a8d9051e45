"""Which call was open when another one began."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.capture.model import NONE

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

    Takes time n log n and memory n: greatest values of ever larger blocks are climbed until one
    reaches the threshold, and descended within it.
    """
    blocks = _pyramid(values)
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


def _pyramid(values: Integers) -> list[Integers]:
    """Greatest values of blocks of 1, 2, 4 … places, the last block completed."""
    blocks = [np.append(values, NEVER)]
    while len(blocks[-1]) > 1:
        below = blocks[-1] if len(blocks[-1]) % 2 == 0 else np.append(blocks[-1], NEVER)
        blocks[-1] = below
        blocks.append(np.maximum(below[::2], below[1::2]))
    return blocks
