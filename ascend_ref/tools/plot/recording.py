"""What a deliverable shows of one device, in the form that the picture is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np

from ascend_ref.capture.batch import Batch, Integers
from ascend_ref.derive.steps import Spans, StepRange, step_ranges

from .columns import Texts, pairs_of
from .kinds import Kind

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
    """Bars of one origin, in columns of equal length. group, number: of their lanes."""

    section: Section
    start: Integers
    end: Integers
    kind: Integers
    name: Texts
    group: Texts | None = None
    number: Integers | None = None

    def lanes(self) -> tuple[list[Lane], Integers]:
        """The lanes that occur, and the place among them of each bar."""
        none = np.full(len(self.start), -1)
        group = Texts(none, ()) if self.group is None else self.group
        keys, place = pairs_of(group.codes, none if self.number is None else self.number)
        texts = (*group.values, "")  # the last one for -1
        return [Lane(self.section, texts[code], number) for code, number in keys], place


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


DIVIDING: Final = (Kind.VECTOR, Kind.MIX)


@dataclass(frozen=True, slots=True)
class Recording:
    """One device of one profile.

    names: operators by their type where that is known. dropped: rows without a sane interval.
    devices: all of the profile. steps: at least one. groups: what communication groups are for, by
    their names. dividing: kinds whose tasks show that AI_CORE means the cube cores alone.
    communication: whether the deliverable shows when communication operators ran.
    """

    bars: Bars
    lanes: tuple[Lane, ...]
    names: tuple[str, ...]
    dropped: int
    device: int | None
    devices: tuple[int, ...]
    steps: tuple[StepRange, ...]
    dividing: tuple[Kind, ...] = DIVIDING
    chip: str | None = None
    rank: int | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    communication: bool = True

    @property
    def divided(self) -> bool:
        """Whether AI_CORE means the cube cores alone."""
        return bool(np.isin(self.bars.kind, self.dividing).any())

    @property
    def step_numbers(self) -> list[int]:
        """Of the steps that have one."""
        return [step.number for step in self.steps if step.number is not None]


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


def spans_of(number: Integers, start: Integers, end: Integers) -> list[StepRange]:
    """Steps that the deliverable itself bounds."""
    rows = zip(number.tolist(), start.tolist(), end.tolist(), strict=True)
    return [StepRange(one, None, first, last) for one, first, last in rows]


def gather(parts: Iterable[Part]) -> tuple[Bars, tuple[Lane, ...], tuple[str, ...], int]:
    """The first fields of a recording: all parts as one, in order of start; equal names become one,
    rows without a sane interval are left out and counted.
    """
    given = [(part, *part.lanes()) for part in parts if len(part.start)]
    lanes = sorted({lane for _, own, _ in given for lane in own})
    lane_place = {lane: place for place, lane in enumerate(lanes)}
    names = sorted({name for part, _, _ in given for name in part.name.values})
    name_place = {name: place for place, name in enumerate(names)}
    bars = Bars.joined(
        [
            Bars(
                part.start,
                part.end,
                part.kind,
                np.array([lane_place[lane] for lane in own])[place],
                part.name.numbers(name_place.__getitem__, -1),
            )
            for part, own, place in given
        ]
    )
    kept = bars.take((bars.start >= 0) & (bars.end >= bars.start) & (bars.end <= LATEST))
    ordered = kept.take(np.argsort(kept.start, kind="stable"))
    return ordered, tuple(lanes), tuple(names), len(bars) - len(kept)


INFORMATION: Final = "parallel_group_info"
"""What the framework's metadata calls the communication groups."""


def purposes(metadata: Mapping[str, Any]) -> Mapping[str, str]:
    """What communication groups are for, by their names, as ``tp of 2 ranks``; what is odd in the
    description is left out.
    """
    found: dict[str, str] = {}
    described = metadata.get(INFORMATION)
    for name, group in described.items() if isinstance(described, dict) else ():
        if isinstance(group, dict) and isinstance(group.get("group_name"), str):
            ranks = group.get("global_ranks")
            size = f" of {len(ranks)} ranks" if isinstance(ranks, list) and len(ranks) > 1 else ""
            found[name] = group["group_name"] + size
    return found
