"""When the operators of a program run on the framework thread, and where their tasks run."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ascend_ref.capture import Integers

from ..program.model import OTHER_STREAM, Collective, Launch
from ..world.timeline import RankTimeline

SHARE = 1 << 16
COMPUTE, OTHER, COMMUNICATION = range(3)
"""Where an operator's tasks run; one without tasks counts as COMPUTE."""


class Course:
    """Host times of the operators of one rank, from those of their items.

    An operator without items (such as one that only makes a view or an empty tensor) shares the
    time of the next item with that item's operator, in proportion to what each costs the host.
    """

    def __init__(self, timeline: RankTimeline) -> None:
        self._timeline = timeline
        operators = timeline.program.operators
        self._of_item = np.array([item.operator for item in timeline.program.items], np.int64)
        places = np.arange(len(operators), dtype=np.int64)
        self.first = np.searchsorted(self._of_item, places, "left")
        """Place of each operator's first item, or of the next one's."""
        self.stop = np.searchsorted(self._of_item, places, "right")
        """Place after each operator's last item; equal to ``first`` where it has none."""
        self._anchor = np.minimum(self.first, len(self._of_item) - 1)
        cost = np.maximum(np.array([operator.host for operator in operators], np.int64), 1)
        until = np.cumsum(cost)
        group = np.flatnonzero(np.diff(self._anchor, prepend=-1))
        sizes = np.diff(np.append(group, len(operators)))
        before = np.repeat((until - cost)[group], sizes)
        whole = np.repeat(until[group + sizes - 1], sizes) - before
        self._from = (until - cost - before) * SHARE // whole
        self._to = (until - before) * SHARE // whole

    @cached_property
    def stream(self) -> Integers:
        """COMPUTE, OTHER or COMMUNICATION, per operator."""
        streams = np.full(len(self.first), COMPUTE, np.int64)
        for item in self._timeline.program.items:
            if isinstance(item, Launch) and item.stream == OTHER_STREAM:
                streams[item.operator] = OTHER
            elif isinstance(item, Collective):
                streams[item.operator] = COMMUNICATION
        return streams

    def within(self, operators: Integers, part: Integers) -> Integers:
        """Moments before the operators hand their first item over; shape (steps, operators).

        part: how far each operator is by then, in 1/65536.
        """
        host = self._timeline.host
        anchor = self._anchor[operators]
        begin = host.begin[:, anchor]
        share = self._from[operators] + (
            (self._to[operators] - self._from[operators]) * part // SHARE
        )
        moments: Integers = begin + ((host.handed[:, anchor] - begin) * share // SHARE)
        return moments

    def left(self, operators: Integers) -> Integers:
        """When the framework thread is done with the operators; shape (steps, operators)."""
        host = self._timeline.host
        last = np.maximum(self.stop[operators] - 1, 0)
        busy = self.stop[operators] > self.first[operators]
        end = self.within(operators, np.full(len(operators), SHARE, np.int64))
        return np.where(busy, host.left[:, last], end)

    def ended(self, operators: Integers) -> Integers:
        """When the device is done with the operators' last tasks; -1 where they have none."""
        last = np.maximum(self.stop[operators] - 1, 0)
        busy = self.stop[operators] > self.first[operators]
        return np.where(busy, self._timeline.end[:, last], -1)
