"""task_time: the tasks that the device executed (text-outputs.md 3.2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import dictionary, first_known, integers
from ascend_ref.derive.matching import NONE, counterparts, groups, ranks
from ascend_ref.derive.sub_tasks import shown_tasks
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import TableRows
from ascend_spec import catalog

from .columns import Columns, ShownColumns, parts
from .kernels import UNKNOWN
from .order import row_order
from .setting import Setting

NAMED = ("COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO")
"""Tables that give tasks a name and a kind, the first one first (erratum T29)."""


def task_time(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The tasks that ended in the session, without the parts of FFTS+ tasks."""
    if not any(column.name == "kernel_name" for column in setting.columns()):
        # The family 310 has sums instead, made from records that no recording holds.
        return
    tasks = recorded.table("TASK")
    start, end = integers(tasks["startNs"]), integers(tasks["endNs"])
    (no_context,) = catalog().tables["TASK"].columns["contextId"].none
    context = integers(tasks["contextId"], none=no_context)
    _, key = groups(*(integers(tasks[name]) for name in ("deviceId", "streamId", "taskId")))
    whole = np.where(context == no_context, NONE, context)
    shown = shown_tasks(key, whole, start, end, setting.engine)
    row = np.flatnonzero(shown & (end >= recorded.origin.start))
    names, kinds = _texts(recorded)
    order = row_order(setting, ShownColumns({}, {"TASK": TableRows(tasks, row)}))
    for batch in parts(row[order]):
        columns = {
            "kernel_name": names.take(pa.array(batch)),
            "kernel_type": kinds.take(pa.array(batch)),
        }
        yield ShownColumns(columns, {"TASK": TableRows(tasks, batch)})


def _texts(recorded: Recorded) -> tuple[pa.DictionaryArray, pa.DictionaryArray]:
    """Name and kind of every task; the kind is that of the device where no other is known."""
    tasks = recorded.table("TASK")
    identity = integers(tasks["globalTaskId"])
    order = np.argsort(integers(tasks["startNs"]), kind="stable")
    turn = np.empty(len(order), np.int64)
    turn[order] = ranks(identity[order])
    names, kinds = [], []
    for table in map(recorded.table, NAMED):
        row = counterparts(identity, turn, integers(table["globalTaskId"]), keep_last=True)
        found = pa.array(row, mask=row == NONE)
        names.append(dictionary(table["name"]).take(found))
        kinds.append(dictionary(table["taskType"]).take(found))
    return (
        first_known(names, UNKNOWN),
        first_known([*kinds, dictionary(tasks["taskType"])], UNKNOWN),
    )
