"""Copies, which agree with the launch of their task in thread and time (raw-prof 4.3)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Copies, Integers
from ascend_ref.spill import counterparts, ranks, sorted_rows

from ..damage import Damage
from ..fields import whole
from .launches import Launches
from .origins import Source
from .session import Session
from .tasks import Launched

COPY = "MEMCPY_ASYNC"


def read_copies(session: Session, launches: Launches, launched: Launched) -> Copies:
    """The copies that are recorded.

    What exceeds the most of one task is left for the next ones of the same thread and time.
    """
    spill = session.spill
    rows = session.rows(session.host, "memcpy_info")
    names = [one for one, name in launches.names.items() if name == COPY]
    launch = spill.values_at(launches.kind, launched.launch)
    copies = spill.where(lambda kind: np.isin(kind, names), launch)
    copies = spill.taken(copies, sorted_rows(spill, spill.taken(launched.tasks.identity, copies)))
    if not len(rows) or not len(copies):
        _state_unused(session, len(rows))
        return Copies.empty()
    own = spill.taken(launched.launch, copies)
    wanted = [spill.taken(one, own) for one in (launches.thread, launches.moment)]
    having = [spill.made(whole, rows[name]) for name in ("threadId", "timeStamp")]
    record = counterparts(spill, wanted, having, keep_last=True)
    known = spill.where(lambda one: one >= 0, record)
    record = spill.taken(record, known)
    used = np.zeros(len(rows), np.bool_)
    for batch in spill.batches(len(record)):
        used[record[batch]] = True
    _state_unused(session, int(np.sum(~used)))
    turn = spill.taken(ranks(spill, *wanted), known)
    first = spill.taken(ranks(spill, *having), record)

    def left(turn: Integers, first: Integers, record: Integers) -> Integers:
        before = np.minimum(turn - first, 1 << 20)
        most = np.maximum(rows["maxSize"][record].astype(np.int64), 1)
        size = rows["dataSize"][record].astype(np.int64)
        rest = np.where(before > 0, size - np.minimum(before, size // most + 1) * most, size)
        return np.clip(rest, 0, most)

    task = spill.taken(launched.tasks.identity, spill.taken(copies, known))
    if session.origins is not None and session.host is not None:
        source = Source(session.host, "memcpy_info", "MEMCPY_INFO")
        places = session.origins.places(spill, source, record)
        session.origins.by_number(spill, "MEMCPY_INFO", len(launched.tasks), task, places)
    return Copies(
        task=task,
        size=spill.made(left, turn, first, record),
        operation=spill.made(whole, spill.taken(rows["memcpyDirection"], record)),
    )


def _state_unused(session: Session, count: int) -> None:
    if count and session.host is not None:
        text = f"memcpy_info: {count:,} records are of no copy that ran"
        session.damage.append(Damage(session.host.folder.path, text, kind="memcpy_info"))
