"""From the events of block 0x02 to a :class:`Timeline` (bin-blocks.md 3.2).

The viewer's reading of a kernel's timeline: events of phase X, B, E, s, t, M and C count, others do
not; a B and an E of one id make a slice, of SET_FLAG, WAIT_FLAG, set_event and wait_event only.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np

from ascend_ref.bin import MalformedPayload, iterate_events
from ascend_spec import bin_catalog, per_spec

from ..values import integer, member, number_text, text, with_number_texts
from .tables import NONE, SLICES, Course, FlowPoint, Lane, Place, Process, Slice, Timeline

KNOWN_LANES = 9
"""So many lanes, the first by the exporter's order, the viewer puts in that order by itself."""

MAX_EVENTS = 5_000_000
"""Events of one file that are read, so that what is kept of them fits into memory."""

_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)")
_LONGEST = 400

NS_PER_US = 1000

LATEST = (1 << 63) - 1

_SURE = 1e12
"""Below it a product in doubles is nearer to the true one than :data:`_DOUBT`."""

_DOUBT = 1e-3

FIRST_WINDOW = 4 << 10
LAST_WINDOW = 64 << 20

_DECODER = json.JSONDecoder()


@per_spec
def flag_sides() -> Mapping[str | int, str]:
    """Names whose B and E make a slice, to the side of the synchronisation; ids pair within it."""
    members = bin_catalog().enums["synchronisations"].members
    return {member.value: member.label for member in members if member.label}


@per_spec
def _lane_order() -> Mapping[str | int, int]:
    members = bin_catalog().enums["lanes"].members
    return {
        member.value: member.order
        for member in members
        if member.order is not None and member.order <= KNOWN_LANES
    }


def read_timeline(payloads: Iterable[memoryview]) -> Timeline:
    """The timeline of all blocks 0x02 together. Raises :class:`ascend_ref.bin.MalformedPayload`.

    Slices are numbered in the order of the blocks and of their events, one of a pair where its
    second event stands. The viewer reads blocks side by side, so that numbers of the second are
    left to chance there.
    """
    reader = _Reader()
    seen = 0
    for block, payload in enumerate(payloads):
        for offset, event in iterate_events(payload):
            seen += 1
            if seen > MAX_EVENTS:
                raise MalformedPayload(offset, f"more than {MAX_EVENTS:,} events; no more are read")
            if isinstance(event, dict):
                reader.take(event, Place(block, offset))
    return reader.finished()


def args_at(payloads: Sequence[memoryview], place: Place) -> Any:
    """``args`` of the event at a place, numbers as texts, read again; ``None`` without."""
    payload = payloads[place.block]
    window = FIRST_WINDOW
    while window <= LAST_WINDOW:
        part = bytes(payload[place.offset : place.offset + window]).decode("utf-8", "ignore")
        try:
            event, _ = _DECODER.raw_decode(part)
        except ValueError:
            window *= 8
            continue
        return with_number_texts(event.get("args")) if isinstance(event, dict) else None
    return None


class _Half(NamedTuple):
    """What is kept of the first event of a pair, or of an event that is a slice by itself."""

    phase: str
    time: int
    pid: str
    tid: str
    name: str
    colour: str
    group: str
    place: Place


class _Reader:
    def __init__(self) -> None:
        self.timeline = Timeline()
        self._waiting: dict[tuple[str, str], _Half] = {}
        self._touched: dict[int, int] = {}
        self._slices = array("q")

    def take(self, event: dict[str, Any], place: Place) -> None:
        """Adds one event to the timeline."""
        phase = event.get("ph")
        if phase == "X":
            half = _half(event, place)
            end = nanoseconds(event.get("ts"), event.get("dur"))
            self._add_slice(half, max(half.time, end), None)
        elif phase in ("B", "E"):
            self._pair(event, place)
        elif phase in ("s", "t"):
            self._add_flow_point(event)
        elif phase == "M":
            self._describe(event)
        elif phase == "C":
            self._add_count(event, place)

    def finished(self) -> Timeline:
        """The timeline, after the lanes got the places that no event gives."""
        self.timeline.slices = np.frombuffer(self._slices, SLICES)
        for number, order in self._touched.items():
            lane = self.timeline.lanes[number]
            lane.is_named = True
            if lane.name is None:
                lane.name = lane.tid
                lane.sort_index = order if lane.sort_index is None else lane.sort_index
            elif lane.sort_index is None and order:
                lane.sort_index = order
        return self.timeline

    def _add_slice(self, half: _Half, end: int, flag: str | None) -> None:
        if not half.pid or not half.tid:
            return
        names = self.timeline.names
        found = Slice(
            lane=self._touch(half.pid, half.tid, _lane_order().get(half.tid, 0)),
            start=half.time,
            end=end,
            name=names.number(half.name),
            colour=names.number(half.colour),
            flag=NONE if flag is None else names.number(flag),
            group=names.number(half.group) if half.group else NONE,
            block=half.place.block,
            offset=half.place.offset,
        )
        self._slices.extend(found)

    def _pair(self, event: dict[str, Any], place: Place) -> None:
        """Completes a slice with the second event of an id, whichever of the two begins it."""
        side = flag_sides().get(text(event.get("name")))
        if side is None:
            return
        flag = _dumped(event, "id")
        second = _half(event, place)
        first = self._waiting.pop((side, flag), None)
        if first is None:
            self._waiting[side, flag] = second
            return
        begin, other = (second, first) if second.phase == "B" else (first, second)
        if begin.phase == "B":
            self._add_slice(begin, max(begin.time, other.time), flag)

    def _add_flow_point(self, event: dict[str, Any]) -> None:
        pid, tid = _dumped(event, "pid"), _dumped(event, "tid")
        point = FlowPoint(
            name=text(event.get("name")),
            category=_dumped(event, "cat"),
            kind=event["ph"],
            time=nanoseconds(event.get("ts")),
            lane=self._touch(pid, tid, _lane_order().get(tid, 0)),
        )
        self.timeline.flow_points.setdefault(_dumped(event, "id"), []).append(point)

    def _describe(self, event: dict[str, Any]) -> None:
        name, args = text(event.get("name")), event.get("args")
        pid, tid = _dumped(event, "pid"), _dumped(event, "tid")
        if name == "process_name":
            self._process(pid).name = text(member(args, "name"))
        elif name == "process_labels":
            self._process(pid).label = text(member(args, "labels"))
        elif name == "process_sort_index":
            self._process(pid).sort_index = _index(args)
        elif name == "thread_name":
            lane = self._lane(pid, tid)
            lane.name, lane.is_named = text(member(args, "name")), True
        elif name == "thread_sort_index":
            self._lane(pid, tid).sort_index = _index(args)

    def _add_count(self, event: dict[str, Any], place: Place) -> None:
        time = nanoseconds(event.get("ts"))
        if time == 0:
            return
        name = text(event.get("name"))
        if "id" in event:
            name = f"{name}[{integer(with_number_texts(event['id']))}]"
        pid = _dumped(event, "pid")
        self._touch(pid, text(event.get("name")), 0)
        course = self.timeline.courses.setdefault((pid, name), Course())
        course.time.append(time)
        course.block.append(place.block)
        course.offset.append(place.offset)

    def _touch(self, pid: str, tid: str, order: int) -> int:
        """The lane of an event that lies on it; the process comes into being with it."""
        process = self._process(pid)
        if process.name is None:
            process.name = pid
        number = self.timeline.lane(pid, tid)
        self._touched.setdefault(number, order)
        return number

    def _process(self, pid: str) -> Process:
        return self.timeline.processes.setdefault(pid, Process())

    def _lane(self, pid: str, tid: str) -> Lane:
        return self.timeline.lanes[self.timeline.lane(pid, tid)]


def _half(event: dict[str, Any], place: Place) -> _Half:
    return _Half(
        phase=event["ph"],
        time=nanoseconds(event.get("ts")),
        pid=_name_of(event, "pid"),
        tid=_name_of(event, "tid"),
        name=text(event.get("name")),
        colour=text(event.get("cname")),
        group=text(event.get("group_id")),
        place=place,
    )


def _name_of(event: dict[str, Any], key: str) -> str:
    """A text or a number as text; empty for whatever else."""
    value = event.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return text(value)


def _dumped(event: dict[str, Any], key: str) -> str:
    """A text, or any other value as JSON text with numbers as texts; empty where it is missing."""
    if key not in event:
        return ""
    value = with_number_texts(event[key])
    return value if isinstance(value, str) else dumped(value)


def dumped(value: Any) -> str:
    """JSON text without spaces, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _index(args: Any) -> int:
    return integer(with_number_texts(member(args, "sort_index")))


def nanoseconds(*microseconds: Any) -> int:
    """The sum of JSON values as nanoseconds, halves rounded up; what is no number counts as 0.

    A text counts as the number that it begins with. Sums below 0 or beyond 2^63 - 1 give 0, as in
    the viewer numbers do that it cannot hold.
    """
    parts = [_number(value) for value in microseconds]
    product = math.fsum(parts) * NS_PER_US
    if 0 <= product < _SURE:
        whole = math.floor(product)
        if abs(product - whole - 0.5) > _DOUBT:
            return whole if product - whole < 0.5 else whole + 1
    exact = sum((Decimal(repr(part)) for part in parts), Decimal(0)) * NS_PER_US
    try:
        rounded = int(exact.to_integral_value(ROUND_HALF_UP))
    except (InvalidOperation, OverflowError, ValueError):
        return 0
    return rounded if 0 <= rounded <= LATEST else 0


def _number(value: Any) -> float | int:
    if isinstance(value, bool):
        return 0
    if isinstance(value, float):
        return value if math.isfinite(value) else 0
    if isinstance(value, int):
        return value if abs(value) <= LATEST else 0
    if isinstance(value, str) and len(value) < _LONGEST and (found := _NUMBER.match(value)):
        number = float(found[1])
        return number if math.isfinite(number) else 0
    return 0
