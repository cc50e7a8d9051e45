"""Numbers of calls of Python functions: the places of their calls and returns in their thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.nesting import Heights
from ascend_ref.spill import Spill, batches, sorted_rows

from .lookup import NONE, Lookup
from .threads import ByThread


class Nested(NamedTuple):
    """identity: how many calls and returns of the thread came before. parent: that of the call that
    made it, 0 where none is known.
    """

    identity: Integers
    parent: Integers


def nested(
    spill: Spill, rows: Integers, thread: Integers, start: Integers, end: Integers
) -> Nested:
    """The numbers of calls that nest, as the exporter of the framework counts them.

    rows: which rows of the columns hold these calls.

    Source: exporter of the framework, parser of the Python trace; so in the real timeline, but for
    the calls that the exporter leaves out (data/text/pytorch_level1_rank0).
    """
    identity, parent = (spill.changeable(len(rows), 0) for _ in range(2))
    calls = ByThread(spill, rows, thread, start, end)
    places = Lookup(rows, spill).rows(calls.row)
    for bounds in calls.bounds.values():
        row, begin, stop = places[bounds], calls.start[bounds], calls.end[bounds]
        numbers = _numbers(spill, begin, stop)
        heights = Heights(stop, spill)
        for batch in spill.batches(len(row)):
            place = np.arange(batch.start, batch.stop)
            identity[row[batch]] = numbers[batch]
            above = heights.last_reaching(place, begin[batch] + 1)
            known = np.flatnonzero(above != NONE)
            parent[row[batch][known]] = numbers[above[known]]
    return Nested(identity, parent)


def _numbers(spill: Spill, begin: Integers, stop: Integers) -> Integers:
    """Of the calls of one thread, outer ones first."""
    ended = spill.taken(stop, sorted_rows(spill, stop))
    empties = spill.array(_empties(begin, stop), np.int64)

    def numbers(place: Integers, begin: Integers) -> Integers:
        # A call that ends as another begins has returned before; only one without length that
        # stands behind it has not.
        returned = np.searchsorted(ended, begin, side="right")
        later = empties[np.searchsorted(starts, begin, side="right")] - empties[place]
        return place + returned - later

    starts = begin
    return spill.made(numbers, spill.rows(len(begin)), begin)


def _empties(begin: Integers, stop: Integers) -> Iterator[Integers]:
    """How many calls without length stand before each place, the one behind all too."""
    count = np.zeros(1, np.int64)
    yield count
    for batch in batches(len(begin)):
        counts = count + np.cumsum(begin[batch] == stop[batch])
        count = counts[-1:]
        yield counts
