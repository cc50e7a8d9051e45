"""How long operators of the framework took on host and device, computed again from the timeline."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.operator_details import (
    Kernels,
    launching_operators,
    operator_details,
)
from ascend_ref.derive.steps import Spans

from ..database import Facts
from .queue import framework_slices, queue_entries
from .reading import NONE, Asked, integers, read, reals

AI_CORE = "AI_CORE"
NS_PER_US = 1e3
WORK = f"""
SELECT l.moment, l.thread, l.start, w.dur, coalesce(h."Task Type" = '{AI_CORE}', false) AS on_core
FROM (SELECT * FROM view.launch
  QUALIFY row_number() OVER (PARTITION BY file, arrow ORDER BY row) = 1) l
JOIN trace.event w ON w.file = l.file AND w.row = l.work
LEFT JOIN trace.ascend_hardware h ON h.file = l.file AND h.row = l.work
ORDER BY l.moment, l.arrow
"""
"""What calls of CANN launched, in order of the calls."""


def _spans(rows: pa.Table) -> Spans:
    return Spans(integers(rows, "start"), integers(rows, "stop"))


def operator_times(asked: Asked) -> pa.Table:
    """The times of the operators in order of start, steps left out; us. place: among them."""
    facts = asked.facts
    operators, work = framework_slices(facts, "operator"), read(facts, WORK)
    spans, threads = _spans(operators), integers(operators, "tid")
    owner, order = _launchers(facts, spans, threads, work)
    found = operator_details(
        spans,
        Kernels(
            operator=owner[order],
            duration=reals(work, "dur", 0.0)[order],
            on_ai_core=np.asarray(work["on_core"].to_numpy(), np.bool_)[order],
        ),
    )
    listed = np.flatnonzero(~np.asarray(operators["is_step"].to_numpy(), np.bool_))
    return pa.table(
        {
            "file": integers(operators, "file")[listed],
            "row": integers(operators, "row")[listed],
            "place": np.arange(len(listed)),
            "host_self": found.host_self[listed] / NS_PER_US,
            "host_total": found.host_total[listed] / NS_PER_US,
            "device_self": found.device_self[listed],
            "device_total": found.device_total[listed],
            "core_self": found.device_self_with_ai_core[listed],
            "core_total": found.device_total_with_ai_core[listed],
        }
    )


def _launchers(
    facts: Facts, operators: Spans, threads: Integers, work: pa.Table
) -> tuple[Integers, Integers]:
    """For each work the operator that launched it, and the order in which they count.

    Through the task queue that is the one that put it in, without a queue the one that called.
    """
    moment = integers(work, "moment")
    taking, giving = (
        framework_slices(facts, "dequeue"),
        framework_slices(facts, "enqueue", "named-enqueue"),
    )
    if not len(taking):
        owner = launching_operators(operators, threads, moment, integers(work, "thread"))
        return owner, np.arange(len(work))
    opened = launching_operators(
        operators, threads, integers(giving, "start"), integers(giving, "tid")
    )
    queued = queue_entries(taking, giving, moment)
    owner = np.append(opened, NONE)[queued]
    return owner, np.argsort(np.where(queued == NONE, len(giving), queued), kind="stable")
