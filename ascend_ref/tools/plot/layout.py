"""Which lanes the picture has, from above, and what is seen in each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from ascend_ref.derive.intervals import union

from .blocks import Shown, Window, seen
from .kinds import LOOKS, Kind
from .recording import Bars, Recording, Section
from .step import Step

STREAMS: Final = 10
GROUPS: Final = 6
PLANES: Final = 24
"""Lanes that are drawn one by one. Of more streams or groups, those with the least in them are
drawn together; of more planes, all that belong to one group."""

IDLE: Final = (Kind.WAIT, Kind.NOTIFY_WAIT)
"""Kinds in which nothing is done."""

Key = TypeVar("Key", int, str)


@dataclass(frozen=True, slots=True)
class Row:
    """A lane of the picture. bars: those that may carry their name. busy: ns without waiting."""

    label: str
    shown: tuple[Shown, ...]
    bars: Bars
    busy: int
    thin: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """The lanes under one heading. measure: what the lengths next to them are."""

    heading: str
    measure: str
    rows: tuple[Row, ...]


def rows_of(recording: Recording, step: Step, window: Window) -> list[Rows]:
    """All lanes of the picture, in their order; headings without lanes are left out."""
    lanes = _Lanes(recording, step, window)
    found = [
        Rows(
            "Where the time went", "total", tuple(_overlap(step, complete=recording.communication))
        ),
        Rows("Streams and their tasks", "busy", tuple(lanes.streams())),
        Rows("Communication: groups, planes", "busy", tuple(lanes.groups())),
    ]
    return [rows for rows in found if rows.rows]


def _overlap(step: Step, *, complete: bool) -> Iterator[Row]:
    """The four kinds of the overlap analysis; two where nothing is known of communication."""
    kinds = (Kind.COMPUTING, Kind.COMMUNICATION, Kind.EXPOSED, Kind.FREE)
    for kind, intervals in zip(kinds, step.overlap, strict=True):
        if complete or kind in (Kind.COMPUTING, Kind.FREE):
            label = LOOKS[kind].label
            yield Row(label, (Shown(kind, intervals),), Bars.empty(), intervals.total)


class _Lanes:
    """The bars of a step by lane."""

    def __init__(self, recording: Recording, step: Step, window: Window) -> None:
        inside = (step.bars.end >= window.start) & (step.bars.start <= window.end)
        bars = step.bars.take(inside)
        self._lanes, self._groups, self._window = recording.lanes, recording.groups, window
        self._bars = bars.take(np.argsort(bars.lane, kind="stable"))
        self._first = np.searchsorted(self._bars.lane, np.arange(len(self._lanes) + 1)).tolist()
        done = np.where(np.isin(bars.kind, IDLE), 0, bars.end - bars.start)
        load = np.bincount(bars.lane, done, minlength=len(self._lanes))
        self._load: list[float] = load.tolist()

    def streams(self) -> Iterator[Row]:
        """The streams, in order of their numbers."""
        load = {place: self._load[place] for place in self._present(Section.STREAM)}
        kept, others = _split(load, STREAMS)
        for place in kept:
            number = self._lanes[place].number
            yield self._row([place], "Tasks" if number < 0 else f"Stream {number}")
        if others:
            yield self._row(others, f"{len(others)} other streams")

    def groups(self) -> Iterator[Row]:
        """The groups, each followed by its planes."""
        operators = {self._lanes[place].group: place for place in self._present(Section.GROUP)}
        planes: dict[str, list[int]] = {name: [] for name in operators}
        for place in self._present(Section.PLANE):
            planes.setdefault(self._lanes[place].group, []).append(place)
        kept, others = _split(
            {name: self._load[operators[name]] if name in operators else 0.0 for name in planes},
            GROUPS,
        )
        apart = sum(len(planes[name]) for name in kept) <= PLANES
        for name in kept:
            if name in operators:
                yield self._row([operators[name]], self._group_label(name))
            own = planes[name]
            for part in [[place] for place in own] if apart else [own] if own else []:
                yield self._row(
                    part, _planes_label([self._lanes[one].number for one in part]), thin=True
                )
        rest = [operators[name] for name in others if name in operators]
        if rest:
            yield self._row(rest, f"{len(rest)} other groups")

    def _group_label(self, name: str) -> str:
        if name in self._groups:
            return f"Group {self._groups[name]}"
        return f"Group {name}" if name else "Communication"

    def _present(self, section: Section) -> Iterator[int]:
        for place, lane in enumerate(self._lanes):
            if lane.section is section and self._first[place] < self._first[place + 1]:
                yield place

    def _row(self, places: Sequence[int], label: str, *, thin: bool = False) -> Row:
        ranges = [np.arange(self._first[place], self._first[place + 1]) for place in places]
        bars = self._bars.take(np.concatenate(ranges))
        active = ~np.isin(bars.kind, IDLE)
        return Row(
            label,
            tuple(seen(bars.start, bars.end, bars.kind, self._window)),
            bars,
            union(bars.start[active], bars.end[active]).total,
            thin,
        )


def _planes_label(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"plane {numbers[0]}"
    return f"{len(numbers)} planes together"


def _split(load: dict[Key, float], room: int) -> tuple[list[Key], list[Key]]:
    """The keys with the greatest load, as many as there is room for, and the others; in order."""
    order = sorted(load, key=lambda key: (-load[key], key))
    kept = set(order if len(order) <= room else order[: room - 1])
    return [key for key in load if key in kept], [key for key in load if key not in kept]
