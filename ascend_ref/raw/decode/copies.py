"""Copies, which agree with the launch of their task in thread and time (raw-prof 4.3)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Copies
from ascend_ref.derive.matching import counterparts, groups, ranks, values_at

from .launches import Launches
from .session import Session
from .tasks import Launched

COPY = "MEMCPY_ASYNC"


def read_copies(session: Session, launches: Launches, launched: Launched) -> Copies:
    """The copies that are recorded.

    What exceeds the most of one task is left for the next ones of the same thread and time.
    """
    rows = session.rows(session.host, "memcpy_info")
    names = [one for one, name in launches.names.items() if name == COPY]
    launch = launched.launch
    copies = np.flatnonzero(np.isin(values_at(launches.kind, launch), names))
    copies = copies[np.argsort(launched.tasks.identity[copies], kind="stable")]
    if not len(rows) or not len(copies):
        return Copies.empty()
    own = launch[copies]
    _, group = groups(
        np.concatenate([launches.thread[own], rows["threadId"].astype(np.int64)]),
        np.concatenate([launches.moment[own], rows["timeStamp"].astype(np.int64)]),
    )
    wanted, having = group[: len(own)], group[len(own) :]
    turn = ranks(wanted)
    record = counterparts(wanted, turn, having, keep_last=True)
    known = np.flatnonzero(record >= 0)
    record, turn = record[known], turn[known]
    before = np.minimum(turn - ranks(having)[record], 1 << 20)
    most = np.maximum(rows["maxSize"][record].astype(np.int64), 1)
    size = rows["dataSize"][record].astype(np.int64)
    left = np.where(before > 0, size - np.minimum(before, size // most + 1) * most, size)
    return Copies(
        task=launched.tasks.identity[copies[known]],
        size=np.clip(left, 0, most),
        operation=rows["memcpyDirection"][record].astype(np.int64),
    )
