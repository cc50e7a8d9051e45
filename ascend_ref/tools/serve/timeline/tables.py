"""The timeline as columns: what stays in memory of an event is some forty bytes.

Names are kept once. What only ``unit/threadDetail`` and ``unit/counter`` show (``args``) is read
again from the file at the event's place.
"""

from __future__ import annotations

import heapq
from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

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


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event stands: the block among those of type 0x02, and the byte in its payload."""

    block: int
    offset: int


class Slice(NamedTuple):
    """A slice: times in ns, names, colours, flags and groups by number, and its :class:`Place`."""

    lane: int
    start: int
    end: int
    name: int
    colour: int
    flag: int
    group: int
    block: int
    offset: int


SLICES = np.dtype([(name, np.int64) for name in Slice._fields])


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
        self.slices = np.empty(0, SLICES)
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

    def slice_at(self, place: int) -> Slice:
        """One slice by its place in :attr:`slices`, which are in the order in which they end in the
        file; the number of one is its place + 1.
        """
        return Slice(*self.slices[place].tolist())

    def find_lane(self, pid: str, tid: str) -> int | None:
        """The number of a lane that is known."""
        return self._lane_numbers.get((pid, tid))

    def bounds(self) -> tuple[int, int] | None:
        """First and last nanosecond of slices and counters; ``None`` without any."""
        starts = [int(self.slices["start"].min())] if len(self.slices) else []
        ends = [int(self.slices["end"].max())] if len(self.slices) else []
        for course in self.courses.values():
            starts.append(min(course.time))
            ends.append(max(course.time))
        return (min(starts), max(ends)) if starts else None

    def slices_of(self, lane: int) -> Integers:
        """Places of a lane's slices in :attr:`slices`, by start and place."""
        if self._by_lane is None:
            order = np.lexsort((self.slices["start"], self.slices["lane"]))
            found, first = np.unique(self.slices["lane"][order], return_index=True)
            groups = np.split(order, first)[1:]
            self._by_lane = dict(zip(found.tolist(), groups, strict=True))
        return self._by_lane.get(lane, np.empty(0, np.int64))

    def depths_of(self, lane: int) -> Integers:
        """Rows of the slices of :meth:`slices_of`, in that order."""
        if lane not in self._depths:
            places = self.slices_of(lane)
            own = self.slices[places]
            self._depths[lane] = depths(own["start"], own["end"], own["group"])
        return self._depths[lane]


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
