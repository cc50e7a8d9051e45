"""task_time: the tasks that the device executed (text-outputs.md 3.2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import NONE, counterparts, ranks
from ascend_ref.derive.sub_tasks import shown_tasks
from ascend_ref.derive.transit import groups
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import TableRows

from .columns import (
    Columns,
    ShownColumns,
    device_texts,
    dictionary,
    integers,
    is_one_of,
    parts,
    text_places,
)
from .kernels import UNKNOWN
from .order import row_order
from .setting import Setting

NO_CONTEXT = (1 << 32) - 1
NAMED = ("COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO")
"""Tables that give tasks a name and a kind, the first one first (erratum T29)."""


def task_time(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The tasks that ended in the session, without the parts of FFTS+ tasks."""
    if not any(column.name == "kernel_name" for column in setting.columns()):
        # The family 310 has sums instead, made from records that no recording holds.
        return
    tasks = recorded.table("TASK")
    start, end = integers(tasks["startNs"]), integers(tasks["endNs"])
    device, stream = integers(tasks["deviceId"]), integers(tasks["streamId"])
    number, context = integers(tasks["taskId"]), integers(tasks["contextId"], none=NO_CONTEXT)
    _, key = groups(device, stream, number)
    whole = np.where(context == NO_CONTEXT, NONE, context)
    shown = shown_tasks(key, whole, start, end, setting.engine)
    row = np.flatnonzero(shown & (end >= recorded.origin.start))
    names, kinds = _texts(recorded)
    keys = {"Device_id": device_texts(device[row]), "task_start(us)": pa.array(start[row])}
    for batch in parts(row[row_order(setting, keys)]):
        columns = {
            "Device_id": device_texts(device[batch]),
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
        names.append(_at(dictionary(table["name"]), row))
        kinds.append(_at(dictionary(table["taskType"]), row))
    return _first_known(names), _first_known([*kinds, dictionary(tasks["taskType"])])


def _at(texts: pa.DictionaryArray, row: Integers) -> pa.DictionaryArray:
    """The texts of rows; NULL for the row NONE."""
    return texts.take(pa.array(row, mask=row == NONE))


def _first_known(columns: list[pa.DictionaryArray]) -> pa.DictionaryArray:
    """In each row the first text that says something."""
    number = np.full(len(columns[0]), NONE)
    before = 0
    for texts in columns:
        own = text_places(texts)
        says = (own != NONE) & ~is_one_of(texts, [UNKNOWN])
        number = np.where((number == NONE) & says, own + before, number)
        before += len(texts.dictionary)
    return pa.DictionaryArray.from_arrays(
        pa.array(number.astype(np.int32), mask=number == NONE),
        pa.concat_arrays([texts.dictionary for texts in columns]),
    )
