"""Blocks that the framework's allocator hands out: which, how large, from when to when.

When operators run on the framework thread, and where their tasks run, says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ascend_ref.capture import Batch, Integers, Texts
from ascend_ref.capture.model import NONE

from ..draws import Draws
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


PAGE = 512
PADDING = 32
"""torch_npu adds so many Byte to a tensor before it rounds up to pages; real sizes show it."""
STAGGER_NS = 50
"""Tensors that die together are given back one after the other."""
REPORT_NS = (330, 910)
"""From the return of a block to the pool until its release is reported, on one stream (I32)."""
MEBI = 1 << 20


@dataclass(frozen=True, slots=True)
class Blocks(Batch):
    """Blocks in order of allocation; times are ns, NONE for what did not happen.

    released: the framework gave the block back. inactive: it returned to the pool; before
    ``released`` is reported when only one stream used the block, else at the first allocation after
    the other stream is done with it. other: belongs to the pool of the second stream. shared: two
    streams used it.
    """

    name: Integers
    size: Integers
    allocated: Integers
    released: Integers
    inactive: Integers
    other: Integers
    shared: Integers


def rounded(size: Integers) -> Integers:
    """Size of the block that holds a tensor."""
    return (size + (PADDING + PAGE - 1)) // PAGE * PAGE


def blocks(timeline: RankTimeline, leaks: Integers, texts: Texts, draws: Draws) -> Blocks:
    """Every block of the captured steps. ``leaks``: Byte per step that nobody gives back."""
    course = Course(timeline)
    taken = _program_blocks(timeline, course, texts, draws)
    leaked = _leaked_blocks(timeline, course, leaks, texts)
    both = taken
    if len(leaked):
        both = Blocks.joined([taken, leaked])
        both = both.take(np.argsort(both.allocated, kind="stable"))
    last = timeline.session[1]
    inactive = np.minimum(both.inactive, last)
    waiting = np.flatnonzero((both.shared == 1) & (both.released != NONE))
    due = np.minimum(np.maximum(both.released, both.inactive)[waiting], last)
    inactive[waiting] = np.append(both.allocated, NONE)[np.searchsorted(both.allocated, due)]
    moments = np.minimum(both.allocated, last), np.minimum(both.released, last)
    return replace(both, allocated=moments[0], released=moments[1], inactive=inactive)


def _program_blocks(timeline: RankTimeline, course: Course, texts: Texts, draws: Draws) -> Blocks:
    """One block per tensor and step; ``inactive`` of shared ones is when the device is done."""
    tensors = [
        (place, number, len(operator.tensors), tensor)
        for place, operator in enumerate(timeline.program.operators)
        for number, tensor in enumerate(operator.tensors)
    ]
    if not tensors:
        return Blocks.empty()
    columns = np.array(
        [
            (place, number, count, tensor.size, -1 if tensor.last_use is None else tensor.last_use)
            for place, number, count, tensor in tensors
        ],
        np.int64,
    ).T
    owner, number, count, size, last_use = columns
    kept = last_use < 0
    user = np.where(kept, owner, last_use)
    shape = (timeline.steps, len(owner))
    allocated = course.within(owner, (number + 1) * SHARE // (count + 1))
    freed = course.left(user) + STAGGER_NS * _places_among_equals(user)
    released = freed + draws.between(*REPORT_NS, len(owner))
    shared = (course.stream[owner] != course.stream[user]) & ~kept
    inactive = np.where(shared, course.ended(user), freed)
    taken = np.ones(shape, bool)
    taken[1:, kept] = False
    names = texts.numbers(timeline.program.operators[place].name for place in owner.tolist())

    def per_step(column: Integers) -> Integers:
        return np.broadcast_to(column, shape)[taken]

    return Blocks(
        per_step(names),
        per_step(rounded(size)),
        allocated[taken],
        np.where(kept, NONE, released)[taken],
        np.where(kept, NONE, inactive)[taken],
        per_step((course.stream[owner] == OTHER).astype(np.int64)),
        per_step(shared.astype(np.int64)),
    )


def _leaked_blocks(timeline: RankTimeline, course: Course, leaks: Integers, texts: Texts) -> Blocks:
    """One block per step that leaks, taken by the first operator of the step that takes any."""
    steps = np.flatnonzero(leaks)
    operators = timeline.program.operators
    if not len(steps) or not operators:
        return Blocks.empty()
    place = next((place for place, each in enumerate(operators) if each.tensors), 0)
    allocated = course.within(np.array([place], np.int64), np.array([SHARE], np.int64))[steps, 0]
    return Blocks.filled(
        len(steps),
        name=texts.number(operators[place].name),
        size=leaks[steps],
        allocated=allocated,
        other=0,
        shared=0,
    )


def _places_among_equals(values: Integers) -> Integers:
    """0, 1, 2, … among equal values, in order of their places."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    within = np.arange(len(values)) - np.repeat(starts, np.diff(np.append(starts, len(values))))
    places = np.empty(len(values), np.int64)
    places[order] = within
    return places
