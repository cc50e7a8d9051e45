"""Blocks of memory, from the events that take and give them back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.batch import Integers


class MemoryBlocks(NamedTuple):
    """Blocks as rows of events: the one that took it and the one that gave it back.

    -1 where that lies outside of the recording; never for both.
    """

    taken: Integers
    given: Integers


def memory_blocks(
    device: Integers, address: Integers, time: Integers, takes: npt.NDArray[np.bool_]
) -> MemoryBlocks:
    """Each allocation with the release that follows at its address, and releases without one.

    Blocks stand in the order of their allocations, or of the release where that is all there is.
    Source: seed 001 operator_memory (negative size, empty cells).
    """
    order = np.lexsort((time, address, device))
    same = np.zeros(len(order), np.bool_)
    same[1:] = (address[order][1:] == address[order][:-1]) & (
        device[order][1:] == device[order][:-1]
    )
    taking = takes[order]
    paired = np.zeros(len(order), np.bool_)
    paired[1:] = same[1:] & taking[:-1] & ~taking[1:]
    given = np.full(len(order), -1)
    given[:-1][paired[1:]] = order[1:][paired[1:]]
    alone = ~taking & ~paired
    taken = np.concatenate([order[taking], np.full(int(alone.sum()), -1)])
    released = np.concatenate([given[taking], order[alone]])
    first = np.argsort(time[np.where(taken >= 0, taken, released)], kind="stable")
    return MemoryBlocks(taken[first], released[first])
