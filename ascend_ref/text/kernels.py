"""The tasks of a recording: each run with what it computes, and task_time (text-outputs.md 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import dictionary, ends_with, first_known, integers, is_one_of
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import NONE, counterparts, groups, ranks
from ascend_ref.derive.tasks import shown_tasks
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import TableRows
from ascend_spec import catalog

from .columns import Columns, ShownColumns, parts, shown_table
from .order import row_order
from .setting import Setting

UNKNOWN = "N/A"
"""Text of what was not collected."""
IGNORED_TYPES = ("WRITE_BACK", "INVALID")
"""Task types that no file about operators shows (text-outputs.md 3.2)."""
SCHEDULING_TYPE = "HCCL_AI_CPU"
"""Task type of kernels that schedule communication, which op_summary leaves out."""
COMMUNICATION_TYPES = ("COMMUNICATION", "HCCL")
"""Task types of communication, the current one first (erratum T4)."""
COMMUNICATION_KERNEL = "AivKernel"
"""So the name of a communication task ends that runs on vector cores and is shown."""
NAMED = ("COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO")
"""Tables that give tasks a name and a kind, the first one first (erratum T29)."""

RUNS = ("startNs", "endNs", "deviceId", "globalTaskId")
DESCRIPTIONS = ("globalTaskId", "name", "taskType")


@dataclass(frozen=True, slots=True)
class Kernels:
    """Runs of compute tasks, in order of start.

    tasks, details: TASK and COMPUTE_TASK_INFO. task, detail: the row of each run in them. start,
    end: ns. identity: globalTaskId. turn: how many runs of that identity came before.
    """

    tasks: pa.Table
    details: pa.Table
    task: Integers
    detail: Integers
    start: Integers
    end: Integers
    device: Integers
    identity: Integers
    turn: Integers

    def __len__(self) -> int:
        return len(self.task)

    def texts(self, name: str) -> pa.DictionaryArray:
        """A text column of COMPUTE_TASK_INFO, for each run."""
        return dictionary(self.details[name]).take(pa.array(self.detail))

    def where(self, mask: npt.NDArray[np.bool_]) -> Kernels:
        """The runs for which a mask is true."""
        rows = (self.task, self.detail, self.start, self.end, self.device, self.identity, self.turn)
        return Kernels(self.tasks, self.details, *(column[mask] for column in rows))


def kernels(tasks: pa.Table, details: pa.Table) -> Kernels:
    """Every run of a task that COMPUTE_TASK_INFO knows, communication on cores among them.

    tasks, details: at least the columns :data:`RUNS` of TASK and :data:`DESCRIPTIONS` of
    COMPUTE_TASK_INFO. A task that ran more often than it is described keeps its last description.
    """
    identity = integers(tasks["globalTaskId"])
    start = integers(tasks["startNs"])
    order = np.argsort(start, kind="stable")
    turn = ranks(identity[order])
    detail = counterparts(identity[order], turn, integers(details["globalTaskId"]), keep_last=True)
    known = np.flatnonzero(detail != NONE)
    task = order[known]
    return Kernels(
        tasks=tasks,
        details=details,
        task=task,
        detail=detail[known],
        start=start[task],
        end=integers(tasks["endNs"])[task],
        device=integers(tasks["deviceId"])[task],
        identity=identity[task],
        turn=turn[known],
    )


def shown_kernels(found: Kernels, session_start: int) -> Kernels:
    """Those that op_summary shows: ended in the session, and no helpers of communication."""
    core = found.texts("taskType")
    hidden = is_one_of(core, [*IGNORED_TYPES, SCHEDULING_TYPE])
    communicates = is_one_of(core, COMMUNICATION_TYPES)
    hidden |= communicates & ~ends_with(found.texts("name"), COMMUNICATION_KERNEL)
    return found.where(~hidden & (found.end >= session_start))


def operator_devices(recorded: Recorded, operators: pa.Table) -> Integers:
    """The device of each row of COMMUNICATION_OP.

    The table states it since 2025-12-25; older recordings are of one device.
    """
    devices = recorded.origin.devices
    return integers(operators["deviceId"], none=devices[0] if devices else NONE)


def operator_models(recorded: Recorded, operators: pa.Table) -> Integers:
    """The model of each row of COMMUNICATION_OP: that of the first of its tasks."""
    parts = recorded.table("COMMUNICATION_TASK_INFO", ("opId", "globalTaskId"))
    tasks = recorded.table("TASK", ("globalTaskId", "modelId"))
    part = counterparts(integers(operators["opId"]), 0, integers(parts["opId"]))
    task = np.append(integers(parts["globalTaskId"]), NONE)[part]
    row = counterparts(task, 0, integers(tasks["globalTaskId"]))
    models = integers(tasks["modelId"], none=no_model())
    return np.append(models, no_model())[row]


def no_model() -> int:
    """What stands for no model."""
    (number,) = catalog().tables["TASK"].columns["modelId"].none
    return number


def task_time(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The tasks that ended in the session, without the parts of FFTS+ tasks."""
    if not any(column.name == "kernel_name" for column in setting.columns()):
        # The family 310 has sums instead, made from records that no recording holds.
        return
    own = ("startNs", "endNs", "contextId", "deviceId", "streamId", "taskId")
    tasks = shown_table(recorded, setting, "TASK", *own)
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
    tasks = recorded.table("TASK", ("startNs", "globalTaskId", "taskType"))
    identity = integers(tasks["globalTaskId"])
    order = np.argsort(integers(tasks["startNs"]), kind="stable")
    turn = np.empty(len(order), np.int64)
    turn[order] = ranks(identity[order])
    names, kinds = [], []
    for name in NAMED:
        table = recorded.table(name, DESCRIPTIONS)
        row = counterparts(identity, turn, integers(table["globalTaskId"]), keep_last=True)
        found = pa.array(row, mask=row == NONE)
        names.append(dictionary(table["name"]).take(found))
        kinds.append(dictionary(table["taskType"]).take(found))
    return (
        first_known(names, UNKNOWN),
        first_known([*kinds, dictionary(tasks["taskType"])], UNKNOWN),
    )
