"""What a deliverable shows of one device, in the form that the picture is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from ascend_ref.capture.batch import Batch, Integers
from ascend_ref.derive.steps import Spans, StepRange, step_ranges

from .columns import Texts

LATEST: Final = 1 << 62
"""Times beyond are no times; differences of those before fit 64 bits."""

WHOLE: Final = StepRange(None, None, 0, LATEST)
"""All of a capture that knows no steps."""


class Section(IntEnum):
    """Parts of the picture, from above."""

    STREAM = 0
    GROUP = 1
    PLANE = 2


class Lane(NamedTuple):
    """A row of the picture; lanes are sorted by section, group and number.

    group: name of the communication group of a GROUP or PLANE, as the deliverable spells it.
    number: of a stream or a plane; -1 where it is not known.
    """

    section: Section
    group: str
    number: int


class Part(NamedTuple):
    """Bars of one origin, in columns of equal length. lane: places in ``lanes``."""

    start: Integers
    end: Integers
    kind: Integers
    lane: Integers
    lanes: Sequence[Lane]
    name: Texts


@dataclass(frozen=True, slots=True)
class Bars(Batch):
    """What happened, in order of start.

    start, end: Unix ns. kind: Kind. lane, name: places in the recording's lanes and names; name -1
    where there is none.
    """

    start: Integers
    end: Integers
    kind: Integers
    lane: Integers
    name: Integers


@dataclass(frozen=True, slots=True)
class Recording:
    """One device of one profile.

    devices: all of the profile. names: operators by their type where that is known.
    steps: at least one. groups: what communication groups are for, by their names.
    divided: whether AI_CORE means the cube cores alone. communication: whether the deliverable
    shows when communication operators ran. dropped: rows without a sane interval.
    """

    device: int | None
    devices: tuple[int, ...]
    bars: Bars
    lanes: tuple[Lane, ...]
    names: tuple[str, ...]
    steps: tuple[StepRange, ...]
    divided: bool
    dropped: int
    chip: str | None = None
    rank: int | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    communication: bool = True


class Gathered(NamedTuple):
    """Bars of all origins with sane intervals, and how many were not."""

    bars: Bars
    lanes: tuple[Lane, ...]
    names: tuple[str, ...]
    dropped: int


def steps_of(
    number: Integers, steps: Spans, launches: Spans, launched: Integers, tasks: Spans
) -> list[StepRange]:
    """The steps with a number and sane times, as the device saw them; all of a capture that has
    none. Arguments as those of :func:`ascend_ref.derive.steps.step_ranges`, in any order.
    """
    sane = np.flatnonzero((number >= 0) & (steps.start >= 0) & (steps.end >= steps.start))
    order = sane[np.argsort(steps.start[sane], kind="stable")]
    if not len(order):
        return [WHOLE]
    return step_ranges(number[order], steps.at(order), launches, launched, tasks)


def gather(parts: Iterable[Part]) -> Gathered:
    """All parts as one, in order of start; equal names become one."""
    given = [part for part in parts if len(part.start)]
    lanes = sorted({lane for part in given for lane in part.lanes})
    lane_place = {lane: place for place, lane in enumerate(lanes)}
    names = sorted({name for part in given for name in part.name.values})
    name_place = {name: place for place, name in enumerate(names)}
    bars = Bars.joined(
        [
            Bars(
                part.start,
                part.end,
                part.kind,
                np.array([lane_place[lane] for lane in part.lanes])[part.lane],
                part.name.numbers(name_place.__getitem__, -1),
            )
            for part in given
        ]
    )
    sane = (bars.start >= 0) & (bars.end >= bars.start) & (bars.end <= LATEST)
    kept = bars.take(sane)
    ordered = kept.take(np.argsort(kept.start, kind="stable"))
    return Gathered(ordered, tuple(lanes), tuple(names), len(bars) - len(kept))
