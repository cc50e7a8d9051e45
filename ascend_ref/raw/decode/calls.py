"""Records of calls as the host's calls, in order of start."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import HostCalls, Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import distinct

from ..binding import Tree
from ..clocks import LIMIT, OUT_OF_RANGE
from ..damage import Damage
from ..fields import joined
from ..side import Unknown
from ..vocabulary import level, named
from .session import Session
from .times import demand_within

FIRST_CONNECTION = 1

_NAMED_BY = {"NODE": "node_types", "MODEL": "model_types", "HCCL_NODE": "hccl_types"}
Item = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Calls:
    """The host's calls, and what of their records others need.

    start, end: ticks of the host's counter. item: what was worked on, 0 for nothing.
    """

    table: HostCalls
    start: Integers
    end: Integers
    item: Item

    @cached_property
    def tree(self) -> Tree:
        """Which call is part of which."""
        return Tree.of(self.table.thread, self.start, self.end, self.table.level)

    def holding(self, thread: Integers, moment: Integers) -> Integers:
        """The row of :attr:`tree` of the innermost call that a record was reported in."""
        return self.tree.holding(thread, moment)

    def connections(self, rows: Integers) -> Integers:
        """The connections of rows of :attr:`tree`, NONE for none."""
        known = rows >= 0
        found = np.full(len(rows), NONE)
        found[known] = self.table.connection[self.tree.place[rows[known]]]
        return found


def read_calls(session: Session, texts: Texts) -> Calls:
    """The calls of a host. Each has a connection of its own, ascending.

    Records of level 0, without a start or with an end before it are no calls (raw-prof 4.1).
    """
    rows = joined([_plain(session), _of_events(session)])
    start, end = _ticks(rows["beginTime"]), _ticks(rows["endTime"])
    times = (start, end)
    if session.host is not None:
        try:
            clock = session.host.side.host
            times = (clock.times(start), clock.times(end))
            demand_within(session, times[0][(rows["level"] > 0) & (start > 0)])
        except Unknown as reason:
            if len(rows):
                text = f"{reason}, so no calls"
                session.damage.append(Damage(session.host.folder.path, text, kind="api_event"))
            rows, start, end = rows[:0], start[:0], end[:0]
            times = (start, end)
    right = (rows["level"] > 0) & (start > 0) & (end >= start)
    right &= (times[0] != OUT_OF_RANGE) & (times[1] != OUT_OF_RANGE)
    if session.host is not None and not right.all():
        text = f"api_event: {int(np.sum(~right)):,} records are no calls: no layer or no interval"
        session.damage.append(Damage(session.host.folder.path, text, kind="api_event"))
    levels = rows["level"].astype(np.int64)
    order = np.lexsort((-levels, -end, start))
    order = order[right[order]]
    table = HostCalls(
        start=times[0][order],
        end=times[1][order],
        level=levels[order],
        thread=rows["threadId"][order].astype(np.int64),
        connection=np.arange(FIRST_CONNECTION, FIRST_CONNECTION + len(order)),
        name=_names(session, texts, rows[order]),
    )
    return Calls(table, start[order], end[order], rows["itemId"][order])


def _plain(session: Session) -> npt.NDArray[Any]:
    return session.rows(session.host, "api_event", "API_EVENT")


def _of_events(session: Session) -> npt.NDArray[Any]:
    """Pairs of events that agree in what they are; what stays alone is damage."""
    events = session.rows(session.host, "api_event", "EVENT")
    made = np.zeros(len(events) // 2, _plain_type(session))
    if not len(events):
        return made
    keys = ("level", "type", "threadId", "requestId", "itemId")
    order = np.lexsort((events["timeStamp"], *(events[key] for key in keys)))
    events = events[order]
    same = np.ones(len(events), np.bool_)
    for key in keys:
        same[1:] &= events[key][1:] == events[key][:-1]
    same[0] = False
    group = np.cumsum(~same)
    first = np.searchsorted(group, group, side="left")
    opens = (np.arange(len(events)) - first) % 2 == 0
    paired = opens & np.append(same[1:], False)
    before = np.flatnonzero(paired)
    made = np.zeros(len(before), _plain_type(session))
    for name, of in (("reserve", "requestId"), ("beginTime", "timeStamp")):
        made[name] = events[of][before]
    for name in ("magicNumber", "level", "type", "threadId", "itemId"):
        made[name] = events[name][before]
    made["endTime"] = events["timeStamp"][before + 1]
    alone = len(events) - 2 * len(before)
    if alone and session.host is not None:
        text = f"api_event: {alone:,} events have no other end"
        session.damage.append(Damage(session.host.folder.path, text, kind="api_event"))
    return made


def _plain_type(session: Session) -> np.dtype[Any]:
    from ascend_spec.core.packed import dtype_of

    return dtype_of(session.declaration("api_event", "API_EVENT"))


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
