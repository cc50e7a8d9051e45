"""The timeline as columns: what stays in memory of an event is some forty bytes.

Names are kept once. What only ``unit/threadDetail`` and ``unit/counter`` show (``args``) is read
again from the file at the event's place.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

NONE = -1
"""Of a slice's flag or group: it has none."""


class Names:
    """Texts by number, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def number(self, text: str) -> int:
        """The number of a text, a new one for a new text."""
        number = self._numbers.setdefault(text, len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        return number

    def __getitem__(self, number: int) -> str:
        return self._texts[number]

    def find(self, text: str) -> int | None:
        """The number of a text that is known."""
        return self._numbers.get(text)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event stands: the block among those of type 0x02, and the byte in its payload."""

    block: int
    offset: int


@dataclass(slots=True)
class Slices:
    """All slices in the order in which they end in the file; the number of one is its place + 1."""

    lane: array[int] = field(default_factory=lambda: array("q"))
    start: array[int] = field(default_factory=lambda: array("q"))
    end: array[int] = field(default_factory=lambda: array("q"))
    name: array[int] = field(default_factory=lambda: array("q"))
    colour: array[int] = field(default_factory=lambda: array("q"))
    flag: array[int] = field(default_factory=lambda: array("q"))
    group: array[int] = field(default_factory=lambda: array("q"))
    block: array[int] = field(default_factory=lambda: array("q"))
    offset: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class FlowPoint:
    """An ``s`` or ``t`` event."""

    name: str
    category: str
    kind: str
    time: int
    lane: int


@dataclass(slots=True)
class Course:
    """The points of one counter in the order of the file."""

    time: array[int] = field(default_factory=lambda: array("q"))
    block: array[int] = field(default_factory=lambda: array("q"))
    offset: array[int] = field(default_factory=lambda: array("q"))


@dataclass(slots=True)
class Process:
    """What is known of a process; ``name`` and ``sort_index`` may never be given."""

    name: str | None = None
    label: str = ""
    sort_index: int | None = None


@dataclass(slots=True)
class Lane:
    """What is known of a lane. ``is_named``: an event lies on it or gives its name, not only its
    place among the others."""

    pid: str
    tid: str
    name: str | None = None
    sort_index: int | None = None
    is_named: bool = False


class Timeline:
    """All of a file's timeline; see :func:`read_timeline`."""

    def __init__(self) -> None:
        self.names = Names()
        self.slices = Slices()
        self.lanes: list[Lane] = []
        self.processes: dict[str, Process] = {}
        self.flow_points: dict[str, list[FlowPoint]] = {}
        self.courses: dict[tuple[str, str], Course] = {}
        self._lane_numbers: dict[tuple[str, str], int] = {}
        self._by_lane: dict[int, Integers] | None = None
        self._depths: dict[int, Integers] = {}

    def lane(self, pid: str, tid: str) -> int:
        """The number of a lane, a new one for a new pair."""
        number = self._lane_numbers.setdefault((pid, tid), len(self.lanes))
        if number == len(self.lanes):
            self.lanes.append(Lane(pid, tid))
        return number

    def find_lane(self, pid: str, tid: str) -> int | None:
        """The number of a lane that is known."""
        return self._lane_numbers.get((pid, tid))

    def bounds(self) -> tuple[int, int] | None:
        """First and last nanosecond of slices and counters; ``None`` without any."""
        starts = [min(self.slices.start)] if self.slices.start else []
        ends = [max(self.slices.end)] if self.slices.end else []
        for course in self.courses.values():
            starts.append(min(course.time))
            ends.append(max(course.time))
        return (min(starts), max(ends)) if starts else None

    def slices_of(self, lane: int) -> Integers:
        """Places of a lane's slices in :attr:`slices`, by start and place."""
        if self._by_lane is None:
            self._by_lane = dict(_grouped(self.slices))
        return self._by_lane.get(lane, np.empty(0, np.int64))

    def depths_of(self, lane: int) -> Integers:
        """Rows of the slices of :meth:`slices_of`, in that order."""
        if lane not in self._depths:
            places = self.slices_of(lane)
            self._depths[lane] = depths(
                np.asarray(self.slices.start)[places],
                np.asarray(self.slices.end)[places],
                np.asarray(self.slices.group)[places],
            )
        return self._depths[lane]


def _grouped(slices: Slices) -> Iterator[tuple[int, Integers]]:
    lanes, starts = np.asarray(slices.lane), np.asarray(slices.start)
    order = np.lexsort((starts, lanes))
    found, first = np.unique(lanes[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, first)[1:], strict=True)


def depths(start: Integers, end: Integers, group: Integers) -> Integers:
    """The row of each slice of one lane, 0 at the top; slices are sorted by start.

    Each goes into the highest row that is free from its start on; a row is free again at the very
    end of what lies in it. Slices of one group share a row, which is taken from the first start to
    the last end of the group.
    """
    rows = np.zeros(len(start), np.int64)
    last_end = _last_ends(end, group)
    row_of_group: dict[int, int] = {}
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    in_use = 0
    columns = zip(start.tolist(), end.tolist(), group.tolist(), strict=True)
    for place, (begins, ends, number) in enumerate(columns):
        if number in row_of_group:
            rows[place] = row_of_group[number]
            continue
        while busy and busy[0][0] <= begins:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            row = heapq.heappop(free)
        else:
            row, in_use = in_use, in_use + 1
        rows[place] = row
        if number != NONE:
            row_of_group[number] = row
        heapq.heappush(busy, (last_end.get(number, ends), row))
    return rows


def _last_ends(end: Integers, group: Integers) -> dict[int, int]:
    grouped = group != NONE
    last: dict[int, int] = {}
    for number, ends in zip(group[grouped].tolist(), end[grouped].tolist(), strict=True):
        last[number] = max(last.get(number, ends), ends)
    return last
