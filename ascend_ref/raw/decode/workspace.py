"""Memory that operators of the graph engine take and give back (raw-prof 4.4)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Texts, WorkspaceEvents

from ..clocks import OUT_OF_RANGE
from ..damage import Damage
from ..side import Unknown
from .nodes import text_numbers
from .origins import Origin, Source
from .session import Session
from .times import demand_within, state_timeless


def read_workspace(session: Session, texts: Texts) -> WorkspaceEvents:
    """The events in order of time."""
    rows = session.rows(session.host, "task_memory_info")
    if not len(rows) or session.host is None:
        return WorkspaceEvents.empty()
    try:
        time = session.host.side.host.times(rows["timeStamp"])
        demand_within(session, time)
    except Unknown as reason:
        text = f"{reason}, so no memory of operators"
        session.damage.append(Damage(session.host.folder.path, text, kind="task_memory_info"))
        return WorkspaceEvents.empty()
    known = np.flatnonzero(time != OUT_OF_RANGE)
    state_timeless(session, session.host, "task_memory_info", len(rows) - len(known))
    known = known[np.argsort(time[known], kind="stable")]
    rows = rows[known]
    if session.origins is not None:
        source = Source(session.host, "task_memory_info", "TASK_MEMORY_INFO")
        places = session.origins.places(session.spill, source, known)
        session.origins.tables["NPU_OP_MEM"] = Origin(places)
    return WorkspaceEvents(
        name=text_numbers(session, texts, rows["nodeId"]),
        address=rows["addr"].astype(np.int64),
        allocate=(rows["size"] > 0).astype(np.int64),
        size=np.abs(rows["size"]),
        time=time[known],
        thread=rows["threadId"].astype(np.int64),
        total_allocated=rows["totalAllocateMemory"].astype(np.int64),
        total_reserved=rows["totalReserveMemory"].astype(np.int64),
        device=rows["deviceId"].astype(np.int64),
    )
