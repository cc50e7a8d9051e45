"""Blocks that the framework's allocator hands out: which, how large, from when to when.

When operators run on the framework thread, and where their tasks run, says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ascend_ref.capture import Batch, Integers, Texts
from ascend_ref.capture.model import NONE

from ..draws import Draws
from ..host import Allocation, Clock, Moments
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

    allocated: NONE for a block of a step before the captured ones; these stand first. released: the
    framework gave the block back. inactive: it returned to the pool; before ``released`` is
    reported when only one stream used the block, else at the first allocation after the other
    stream is done with it. other: belongs to the pool of the second stream. shared: two streams
    used it.
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


class Takings:
    """When the operators of one rank take memory, and as whose it counts."""

    def __init__(
        self, timeline: RankTimeline, course: Course, allocations: Mapping[int, Allocation]
    ) -> None:
        self._timeline = timeline
        self._course = course
        self._allocations = allocations

    def moments(self, operators: Integers, numbers: Integers, counts: Integers) -> Integers:
        """When the operators take their tensors; shape (steps, tensors).

        numbers, counts: places of the tensors among those of their operators, and how many these
        take. An operator without an allocation takes them evenly over its share of the time.
        """
        found = self._course.within(operators, (numbers + 1) * SHARE // (counts + 1))
        known = [
            (place, self._allocations[operator].moments[number])
            for place, (operator, number) in enumerate(
                zip(operators.tolist(), numbers.tolist(), strict=True)
            )
            if operator in self._allocations
        ]
        if known:
            moments = Moments([moment for _, moment in known], len(self._timeline.program.items))
            times = Clock(self._timeline).times(moments)
            found[:, [place for place, _ in known]] = times.reshape(self._timeline.steps, -1)
        return found

    def names(self, operators: Integers) -> Iterator[str]:
        """What the blocks of these operators are called."""
        for operator in operators.tolist():
            known = self._allocations.get(operator)
            yield known.name if known else self._timeline.program.operators[operator].name


def blocks(
    timeline: RankTimeline,
    allocations: Mapping[int, Allocation],
    leaks: Integers,
    texts: Texts,
    draws: Draws,
) -> Blocks:
    """Every block of the captured steps, and those of the step before that they still hold.

    ``leaks``: Byte per step that nobody gives back.
    """
    course = Course(timeline)
    takings = Takings(timeline, course, allocations)
    taken = _program_blocks(timeline, course, takings, texts, draws)
    leaked = _leaked_blocks(timeline, takings, leaks, texts)
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


def _program_blocks(
    timeline: RankTimeline, course: Course, takings: Takings, texts: Texts, draws: Draws
) -> Blocks:
    """One block per tensor and step; ``inactive`` of shared ones is when the device is done.

    What a step holds beyond its end goes back in the one after it; of the captured ones the first
    gives back the blocks of the step before, unless the program begins with it.
    """
    tensors = [
        (place, number, len(operator.tensors), tensor)
        for place, operator in enumerate(timeline.program.operators)
        for number, tensor in enumerate(operator.tensors)
    ]
    if not tensors:
        return Blocks.empty()
    columns = np.array(
        [
            (
                *(place, number, count, tensor.size),
                NONE if tensor.last_use is None else tensor.last_use,
                NONE if tensor.until is None else tensor.until,
            )
            for place, number, count, tensor in tensors
        ],
        np.int64,
    ).T
    owner, number, count, size, last_use, until = columns
    kept, held = last_use < 0, until >= 0
    user = np.where(held, until, np.where(kept, owner, last_use))
    shape = (timeline.steps + 1, len(owner))
    allocated = np.full(shape, NONE)
    allocated[1:] = takings.moments(owner, number, count)
    freed = course.left(user) + STAGGER_NS * _places_among_equals(user)
    released = freed + draws.between(*REPORT_NS, len(owner))
    shared = (course.stream[owner] != course.stream[user]) & ~kept & ~held
    inactive = np.where(shared, course.ended(user), freed)

    def given(times: Integers) -> Integers:
        """Times of going back, per step that took the block."""
        found = np.full(shape, NONE)
        found[1:] = np.where(kept | held, NONE, times)
        found[:-1, held] = times[:, held]
        return found

    taken = np.ones(shape, bool)
    taken[0] = (held | kept) & bool(timeline.step_numbers[0])
    taken[1:, kept] = False
    taken[1, kept] = not timeline.step_numbers[0]
    names = texts.numbers(takings.names(owner))

    def per_step(column: Integers) -> Integers:
        return np.broadcast_to(column, shape)[taken]

    return Blocks(
        per_step(names),
        per_step(rounded(size)),
        allocated[taken],
        given(released)[taken],
        given(inactive)[taken],
        per_step((course.stream[owner] == OTHER).astype(np.int64)),
        per_step(shared.astype(np.int64)),
    )


def _leaked_blocks(
    timeline: RankTimeline, takings: Takings, leaks: Integers, texts: Texts
) -> Blocks:
    """One block per step that leaks, taken by the first operator of the step that takes any."""
    steps = np.flatnonzero(leaks)
    operators = timeline.program.operators
    if not len(steps) or not operators:
        return Blocks.empty()
    place = next((place for place, each in enumerate(operators) if each.tensors), 0)
    count = len(operators[place].tensors)
    at = (np.array([one], np.int64) for one in (place, count, count))
    allocated = takings.moments(*at)[steps, 0]
    return Blocks.filled(
        len(steps),
        name=texts.numbers(takings.names(np.array([place])))[0],
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
