"""Times of records, as their clock is known, and as it can be right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers
from ascend_spec.core.packed import ClockName

from ..clocks import OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..fields import time_field
from ..moments import MICROSECOND
from ..side import Unknown
from .origin import first_stated
from .session import Rows, Session

MARGIN = 1_000_000_000
"""ns before the start and after the end of a collection in which it may still record."""


def times_of(
    session: Session,
    context: Context,
    kind: str,
    clock: ClockName,
    ticks: npt.NDArray[Any],
) -> Integers:
    """Unix ns of ticks, OUT_OF_RANGE where they are not known.

    Raises nothing: a clock that is not known, or cannot be right, is damage, and so are ticks that
    no clock shows.
    """
    if not len(ticks):
        return np.zeros(0, np.int64)
    try:
        found = session.spill.made(context.side.by_name(clock).times, ticks)
        demand_within(session, found)
    except Unknown as reason:
        text = f"{reason}, so {len(ticks):,} samples of {kind} have no times"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
        return np.full(len(ticks), OUT_OF_RANGE)
    known = session.spill.where(_is_known, found)
    wrong = len(found) - len(known)
    state_wrong(session, context, kind, wrong, len(found), "have times that no clock shows")
    return found


def _is_known(time: Integers) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = time != OUT_OF_RANGE
    return found


def timed(
    session: Session,
    context: Context,
    kind: str,
    record: str | None = None,
    right: Callable[[Rows], npt.NDArray[np.bool_]] | None = None,
) -> tuple[Rows, Integers]:
    """The records of a kind that have times, and these in Unix ns.

    record: the declaration, where files have several at once. right: which of the records can be;
    the others are damage.
    """
    every = session.rows(context, kind, record)
    rows = every if right is None else session.chosen(every, right, every)
    wrong = len(every) - len(rows)
    state_wrong(session, context, kind, wrong, len(every), "have numbers that they cannot have")
    field, clock = time_field(session.declared(context, kind, record))
    time = times_of(session, context, kind, clock, rows[field])
    known = session.spill.where(_is_known, time)
    if len(known) == len(rows):
        return rows, time
    return session.taken(rows, known), session.spill.taken(time, known)


def state_wrong(
    session: Session, context: Context, kind: str, wrong: int, every: int, what: str
) -> None:
    """State as damage how many of all samples of a kind are not read."""
    if wrong:
        text = f"{kind}: {wrong:,} of {every:,} samples {what}"
        session.damage.append(Damage(context.folder.path, text, kind=kind))


def state_timeless(session: Session, context: Context | None, kind: str, count: int) -> None:
    """State as damage how many records of a kind have times that no clock shows."""
    if count and context is not None:
        text = f"{kind}: {count:,} records have times that no clock shows"
        session.damage.append(Damage(context.folder.path, text, kind=kind))


def demand_within(session: Session, times: Integers) -> None:
    """Raise :class:`Unknown` for times most of which lie outside of the collection.

    Their clock is read or stated wrongly, and no one knows by how much: times are never guessed.
    """
    begin = first_stated(session.contexts, "start_info", "collectionTimeBegin")
    end = first_stated(session.contexts, "end_info", "collectionTimeEnd")
    if begin is None:
        return
    count = known = 0
    for batch in session.spill.batches(len(times)):
        own = times[batch][times[batch] != OUT_OF_RANGE]
        outside = own < begin * MICROSECOND - MARGIN
        if end is not None:
            outside |= own > end * MICROSECOND + MARGIN
        count, known = count + int(np.sum(outside)), known + len(own)
    if 2 * count > known:
        raise Unknown(
            f"{count:,} of {known:,} times lie outside of the collection by their clock, as "
            "start_info, info.json, host_start.log and dev_start.log state it"
        )
