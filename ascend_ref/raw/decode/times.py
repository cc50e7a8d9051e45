"""Times of records, as their clock is known, and as it can be right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers

from ..clocks import OUT_OF_RANGE, Clock
from ..context import Context
from ..damage import Damage
from ..side import Unknown
from .origin import first_stated
from .session import Session

MARGIN = 1_000_000_000
"""ns before the start and after the end of a collection in which it may still record."""

_MICROSECOND = 1_000


def times_of(
    session: Session,
    context: Context,
    kind: str,
    clock: Callable[[], Clock],
    ticks: npt.NDArray[Any],
) -> Integers:
    """Unix ns of ticks, OUT_OF_RANGE where they are not known.

    Raises nothing: a clock that is not known, or cannot be right, is damage.
    """
    if not len(ticks):
        return np.zeros(0, np.int64)
    try:
        found = clock().times(ticks)
        demand_within(session, found)
    except Unknown as reason:
        text = f"{reason}, so {len(ticks):,} samples of {kind} have no times"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
        return np.full(len(ticks), OUT_OF_RANGE)
    return found


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
        outside = own < begin * _MICROSECOND - MARGIN
        if end is not None:
            outside |= own > end * _MICROSECOND + MARGIN
        count, known = count + int(np.sum(outside)), known + len(own)
    if 2 * count > known:
        raise Unknown(
            f"{count:,} of {known:,} times lie outside of the collection by their clock, as "
            "start_info, info.json, host_start.log and dev_start.log state it"
        )
