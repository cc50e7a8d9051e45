"""The compute tasks of a recording: each run with what it computes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import dictionary, ends_with, integers, is_one_of
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import NONE, counterparts, ranks
from ascend_ref.recorded import Recorded

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


def kernels(recorded: Recorded) -> Kernels:
    """Every run of a task that COMPUTE_TASK_INFO knows, communication on cores among them.

    A task that ran more often than it is described keeps its last description.
    """
    tasks, details = recorded.table("TASK"), recorded.table("COMPUTE_TASK_INFO")
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
