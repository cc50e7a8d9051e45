"""A timeline written again: each event as it is, but for the values that a reader goes wrong at."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import BinaryIO

import duckdb
import msgspec

from ascend_ref.timeline.elements import BYTE_ORDER_MARK, EVENTS_KEY, Elements
from ascend_ref.timeline.parts import whole_elements

from ...media.text.database import Facts
from ...media.text.deliverables import Deliverable
from ...media.text.loadtrace import load_timeline
from ..arrows import MISREAD, IdKind, is_text
from ..seeing import ENDS, id_kinds
from ..timelines import ARROWS, CROSSING
from .lanes import find_lanes
from .numbers import Numbers, Track, number_all

SECOND = 10**9
Event = dict[str, msgspec.Raw]
Changed = tuple[int, str | None, int | None, int | None, int | None, int | None, int | None]
"""Row, phase, process, thread, time in ns, lane, number of the arrow."""

COUNTING = frozenset({"float64-times", "needs-times-that-are-numbers"})
AS_OBJECT = "needs-an-object"
CATEGORIES = "drops-slices-without-category"
MENDED = frozenset(
    {
        *CROSSING,
        *MISREAD,
        *COUNTING,
        AS_OBJECT,
        CATEGORIES,
        "draws-deep-slices-at-the-top",
        "process-numbers-of-32-bits",
        "thread-0-is-the-main-thread",
        ARROWS,
    }
)
"""Behaviours of readers that do no harm to what is written here."""


class NotWhole(Exception):
    """A timeline is damaged; the text is one clear line."""


def rewrite_timeline(file: Deliverable, does: Collection[str], target: Path) -> None:
    """Write a timeline into ``target`` for a reader with these behaviours.

    Every event stays, in its order; values that are not changed keep their bytes. Threads whose
    slices cross get further lanes, named after them. Raises :class:`NotWhole`, ``OSError``.
    """
    from ...media.text.database import open_facts

    with open_facts() as facts:
        elements = load_timeline(facts, 0, file)
        if elements.damage is not None:
            damage = elements.damage
            raise NotWhole(f"{file.label}: byte {damage.offset:,}: {damage.reason}; expected JSON")
        deep = "draws-deep-slices-at-the-top" in does
        lanes = find_lanes(facts, deep=deep) if {*CROSSING} & {*does} else {}
        plan = _Plan(facts, elements, does, number_all(facts, does, lanes))
        with target.open("wb") as out:
            _write(plan, out)


@dataclass
class _Plan:
    """What changes of the events of a timeline."""

    facts: Facts
    elements: Elements
    does: Collection[str]
    numbers: Numbers

    @property
    def origin(self) -> int | None:
        """The whole second, in ns, that times are counted from; ``None`` for times as they are."""
        if not COUNTING & {*self.does}:
            return None
        # What is before 0 stays so: no viewer can show it and today in one timeline.
        first = "SELECT min(ts) FROM trace.event WHERE ph <> 'M' AND ts_decimals >= 0 AND ts >= 0"
        least = self.facts.value(first)
        return int(least) // SECOND * SECOND if least is not None else None

    def processes(self) -> Mapping[int, str]:
        """Names of processes, which are those of layers."""
        return {pid: name for pid, _, name in self._named("process_name")}

    def lane_names(self) -> Iterator[Event]:
        """What names the further lanes: each as its thread, with its number."""
        names = {(pid, tid): name for pid, tid, name in self._named("thread_name")}
        for track, threads in self.numbers.lanes.items():
            own = self.numbers.thread(track)
            name = names.get(track) or f"Thread {own}"
            for lane, thread in enumerate(threads, start=2):
                event = {
                    "name": "thread_name",
                    "ph": "M",
                    "pid": self.numbers.process(track[0]),
                    "tid": thread,
                    "args": {"name": f"{name} (lane {lane})"},
                }
                yield {key: _raw(value) for key, value in event.items()}

    def _named(self, kind: str) -> list[tuple[int, int, str]]:
        return self.facts.rows(
            "SELECT pid, coalesce(tid, 0), min(args ->> '$.name') FROM trace.event "
            "WHERE ph = 'M' AND name = ? AND pid IS NOT NULL AND args ->> '$.name' IS NOT NULL "
            "GROUP BY ALL ORDER BY ALL",
            [kind],
        )

    def _misread_ids(self) -> bool:
        """Whether an id of an arrow is not read as it is; then all of them get new ones."""
        conditions = [condition for name, condition in MISREAD.items() if name in self.does]
        if not conditions:
            return False
        kinds = [IdKind(*one) for one in id_kinds(self.facts, self.elements)]
        ends = f"SELECT id, {is_text(kinds)} AS is_text FROM trace.event WHERE ph IN {ENDS}"
        found = f"SELECT 1 FROM ({ends}) WHERE {' OR '.join(conditions)} LIMIT 1"
        return bool(self.facts.rows(found))

    def changes(self) -> Iterator[Changed]:
        """One for each event that is an object, in the order of the file. Ends of arrows with the
        same id, category and name get the same number."""
        lane, lanes, arrow, arrows = "NULL", "", "NULL", ""
        if self.numbers.lanes:
            lane, lanes = "l.lane", "LEFT JOIN fitted.lane l USING (row)"
        if self._misread_ids():
            arrow = f"CASE WHEN e.ph IN {ENDS} THEN n.number END"
            arrows = f"""
LEFT JOIN (
  SELECT id, cat, name, row_number() OVER (ORDER BY min(row)) AS number FROM trace.event
  WHERE ph IN {ENDS} AND id IS NOT NULL GROUP BY ALL
) n ON n.id = e.id AND n.cat IS NOT DISTINCT FROM e.cat AND n.name IS NOT DISTINCT FROM e.name
"""
        select = (
            "SELECT e.row, e.ph, e.pid, coalesce(e.tid, 0), CASE WHEN e.ts_decimals >= 0 "
            f"AND e.ph IS DISTINCT FROM 'M' THEN e.ts END, {lane}, {arrow} "
            f"FROM trace.event e {lanes} {arrows} ORDER BY e.row"
        )
        with self.facts.another() as reading:
            cursor = reading.connection.execute(select)
            while batch := _some_of(cursor):
                yield from batch


def _some_of(cursor: duckdb.DuckDBPyConnection) -> list[Changed]:
    return cursor.fetchmany(50_000)


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def _write(plan: _Plan, out: BinaryIO) -> None:
    elements = plan.elements
    begin = elements.starts[0][1] if elements.starts else 0
    wrapped = AS_OBJECT in plan.does and not elements.in_object
    with elements.path.open("rb") as source:
        head = source.read(begin)
        if elements.marked:
            head = head.removeprefix(BYTE_ORDER_MARK)
        out.write(b'{"%s": ' % EVENTS_KEY.encode() if wrapped else b"")
        out.write(head)
        _write_events(plan, out)
        source.seek(_end_of_events(elements))
        shutil.copyfileobj(source, out)
    if wrapped:
        out.write(b"}")


def _end_of_events(elements: Elements) -> int:
    """The byte behind the last event."""
    begin = elements.starts[-1][1]
    with elements.path.open("rb") as file:
        file.seek(begin)
        spans = whole_elements(b"[" + file.read())
    return begin + spans[-1][1] - 1 if spans else begin


def _write_events(plan: _Plan, out: BinaryIO) -> None:
    elements = plan.elements
    decoder = msgspec.json.Decoder(list[Event | None])
    encoder = msgspec.json.Encoder()
    change = _Change(plan)
    changes = plan.changes()
    pending = next(changes, None)
    between = b""
    for batch in Elements(elements.path, elements.text_lengths).batches():
        first, text = (column[0].as_py() for column in batch.columns)
        for row, event in enumerate(decoder.decode(text), start=first):
            if event is not None and pending is not None and pending[0] == row:
                change.apply(event, pending)
                pending = next(changes, None)
            out.write(between + encoder.encode(event))
            between = b",\n"
    for event in plan.lane_names():
        out.write(between + encoder.encode(event))
        between = b",\n"


class _Change:
    """Changes events in place."""

    def __init__(self, plan: _Plan) -> None:
        self._numbers = plan.numbers
        self._origin = plan.origin
        self._names = plan.processes() if CATEGORIES in plan.does else None

    def apply(self, event: Event, changed: Changed) -> None:
        _, phase, process, thread, time, lane, arrow = changed
        if process is not None and thread is not None:
            self._renumber(event, (process, thread), lane or 0)
        if arrow is not None:
            event["id"] = msgspec.Raw(b"%d" % arrow)
        if self._origin is not None and time is not None:
            event["ts"] = msgspec.Raw(_in_us(time - self._origin))
            _lengthen(event)
        if self._names is not None and phase == "X" and "cat" not in event:
            event["cat"] = _raw(self._names.get(process or 0, "slice"))

    def _renumber(self, event: Event, track: Track, lane: int) -> None:
        process = self._numbers.process(track[0])
        if process != track[0]:
            event["pid"] = msgspec.Raw(b"%d" % process)
        thread = self._numbers.thread(track, lane)
        if thread != track[1]:
            event["tid"] = msgspec.Raw(b"%d" % thread)


def _in_us(ns: int) -> bytes:
    """A time as a number of us with its three decimals; a double holds those of a month."""
    sign, ns = (b"-", -ns) if ns < 0 else (b"", ns)
    return b"%s%d.%03d" % (sign, ns // 1000, ns % 1000)


def _lengthen(event: Event) -> None:
    """A length that is a text becomes the number in it."""
    length = bytes(event.get("dur", b""))
    if length.startswith(b'"'):
        with suppress(ValueError):
            number = float(msgspec.json.decode(length))
            if isfinite(number):
                event["dur"] = _raw(number)
