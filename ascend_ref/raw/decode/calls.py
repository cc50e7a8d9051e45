"""Records of calls as the host's calls, in order of start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import HostCalls, Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import distinct
from ascend_ref.spill import Spill, batches, run_begins, sorted_rows
from ascend_spec.core.packed import dtype_of

from ..binding import Tree
from ..clocks import LIMIT, OUT_OF_RANGE
from ..damage import Damage
from ..fields import in_order, whole
from ..side import Unknown
from ..vocabulary import level, named
from .origins import Origin, Source
from .session import Rows, Session
from .times import demand_within

FIRST_CONNECTION = 1

_NAMED_BY = {"NODE": "node_types", "MODEL": "model_types", "HCCL_NODE": "hccl_types"}
Mask = npt.NDArray[np.bool_]
Item = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Calls:
    """The host's calls, and what of their records others need.

    item: what was worked on, 0 for nothing. tree: which call is part of which.
    """

    spill: Spill
    table: HostCalls
    item: Item
    tree: Tree

    def holding(self, thread: Integers, moment: Integers) -> Integers:
        """The row of :attr:`tree` of the innermost call that a record was reported in."""
        return self.tree.holding(thread, moment)

    def connections(self, rows: Integers) -> Integers:
        """The connections of rows of :attr:`tree`, NONE for none."""
        return self.spill.values_at(self.table.connection, self.places(rows))

    def places(self, rows: Integers) -> Integers:
        """The rows of the table that are rows of :attr:`tree`, NONE for none."""
        return self.spill.values_at(self.tree.place, rows)

    def items(self, rows: Integers) -> Integers:
        """What rows of :attr:`tree` worked on, NONE for none."""
        return self.spill.values_at(self.item.view(np.int64), self.places(rows))


def read_calls(session: Session, texts: Texts) -> Calls:
    """The calls of a host. Each has a connection of its own, ascending.

    Records of level 0, without a start or with an end before it are no calls (raw-prof 4.1).
    """
    spill = session.spill
    plain, (events, opens) = _plain(session), _of_events(session)
    rows = session.joined([plain, events])
    start, end = (spill.made(_ticks, rows[name]) for name in ("beginTime", "endTime"))
    times = (start, end)
    if session.host is not None:
        try:
            clock = session.host.side.host
            times = (spill.made(clock.times, start), spill.made(clock.times, end))
            begun = spill.where(lambda of, at: (of > 0) & (at > 0), rows["level"], start)
            demand_within(session, spill.taken(times[0], begun))
        except Unknown as reason:
            if len(rows):
                text = f"{reason}, so no calls"
                session.damage.append(Damage(session.host.folder.path, text, kind="api_event"))
            rows, start, end = rows[:0], start[:0], end[:0]
            times = (start, end)
    levels = spill.made(whole, rows["level"])
    right = spill.where(_is_call, levels, start, end, *times)
    if session.host is not None and len(right) < len(rows):
        text = (
            f"api_event: {len(rows) - len(right):,} records are no calls: no layer or no interval"
        )
        session.damage.append(Damage(session.host.folder.path, text, kind="api_event"))

    def key(column: npt.NDArray[Any], sign: int = 1) -> Integers:
        return spill.made(lambda row: sign * spill.gathered(column, row), right)

    order = spill.taken(right, sorted_rows(spill, key(start), key(end, -1), key(levels, -1)))
    table = HostCalls(
        start=spill.taken(times[0], order),
        end=spill.taken(times[1], order),
        level=spill.taken(levels, order),
        thread=spill.taken(spill.made(whole, rows["threadId"]), order),
        connection=spill.made(lambda row: FIRST_CONNECTION + row, spill.rows(len(order))),
        name=spill.made(lambda row: _names(session, texts, rows[row]), order),
    )
    ticks = spill.taken(start, order), spill.taken(end, order)
    tree = Tree.of(table.thread, *ticks, table.level, spill)
    _note_origin(session, spill.rows(len(plain)), opens, order)
    return Calls(spill, table, spill.taken(rows["itemId"], order), tree)


def _note_origin(session: Session, plain: Integers, opens: Integers, order: Integers) -> None:
    """Note the records of calls, of two events that of the first."""
    origins, spill = session.origins, session.spill
    if origins is None or session.host is None:
        return
    found = (
        origins.places(spill, Source(session.host, "api_event", record), numbers)
        for record, numbers in (("API_EVENT", plain), ("EVENT", opens))
    )
    places = spill.taken(spill.joined(*found), order)
    origins.tables["CANN_API"] = Origin(places, "connectionId", FIRST_CONNECTION)


def _is_call(level: Integers, start: Integers, end: Integers, *times: Integers) -> Mask:
    right: Mask = (level > 0) & (start > 0) & (end >= start)
    right &= (times[0] != OUT_OF_RANGE) & (times[1] != OUT_OF_RANGE)
    return right


def _plain(session: Session) -> npt.NDArray[Any]:
    return session.rows(session.host, "api_event", "API_EVENT")


def _of_events(session: Session) -> tuple[npt.NDArray[Any], Integers]:
    """Pairs of events that agree in what they are, and the first events of them; what stays alone
    is damage.
    """
    spill = session.spill
    events = session.rows(session.host, "api_event", "EVENT")
    keys = [
        spill.made(in_order, events[name])
        for name in ("itemId", "requestId", "threadId", "type", "level")
    ]
    order = sorted_rows(spill, *keys, spill.made(in_order, events["timeStamp"]))
    begins = run_begins(spill, order, *keys)
    place = spill.rows(len(order))
    opens = spill.where(
        lambda first, next_first, at: (first == next_first) & ((at - first) % 2 == 0),
        *(begins[:-1], begins[1:], place[:-1]),
    )
    alone = len(events) - 2 * len(opens)
    if alone and session.host is not None:
        text = f"api_event: {alone:,} events have no other end"
        session.damage.append(Damage(session.host.folder.path, text, kind="api_event"))
    kind = dtype_of(session.declaration("api_event", "API_EVENT"))
    cut = (opens[batch] for batch in batches(len(opens)))
    made = (_as_call(events[order[own]], events[order[own + 1]], kind) for own in cut)
    return spill.records(made, kind), spill.taken(order, opens)


def _as_call(begin: Rows, end: Rows, kind: np.dtype[Any]) -> Rows:
    made = np.zeros(len(begin), kind)
    for name, of in (("reserve", "requestId"), ("beginTime", "timeStamp")):
        made[name] = begin[of]
    for name in ("magicNumber", "level", "type", "threadId", "itemId"):
        made[name] = begin[name]
    made["endTime"] = end["timeStamp"]
    return made


def _ticks(column: npt.NDArray[Any]) -> Integers:
    """Ticks; what no counter shows becomes negative."""
    found: Integers = np.where(column < LIMIT, column, 0).astype(np.int64)
    return np.where(column < LIMIT, found, NONE)


def _names(session: Session, texts: Texts, rows: npt.NDArray[Any]) -> Integers:
    """What calls are called: by layer and type, those of communication by their item."""
    if not len(rows):
        return np.zeros(0, np.int64)
    communication = rows["level"] == level("HCCL_NODE")
    kind = np.where(communication, rows["itemId"], rows["type"].astype(np.uint64))
    pairs, place = distinct(rows["level"], kind)
    found = [texts.number(_name(session, of, number)) for of, number in pairs]
    return np.array(found, np.int64)[place]


def _name(session: Session, of: int, number: int) -> str:
    if of == level("HCCL_NODE"):
        return session.names.texts.get(number, str(number))
    known = session.names.types.get((of, number))
    if known is not None:
        return known
    values = {level(name): values for name, values in _NAMED_BY.items()}.get(of)
    return named(values).get(number, str(number)) if values else str(number)
