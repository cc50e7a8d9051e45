"""What ran on the devices, and which host calls it was launched by."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.tasks import task_batches
from ascend_ref.recorded import Recorded
from ascend_ref.spill import Spill, first_equal

from .lookup import NONE, Columns, Lookup

NODE = "node"
EVENT_CALLS = ("aclrtRecordEvent", "aclrtStreamWaitEvent")
"""Calls whose tasks are linked to them although they run no operator (text-outputs.md 6.1)."""
COPY = "MEMCPY_ASYNC"
MARK = "MsTx"
SIMT = "KERNEL_SIMT"
"""Types of tasks that have events of their own kind."""


CALLS = ("startNs", "endNs", "type", "globalTid", "connectionId", "name")


class Calls:
    """CANN_API. node: launches of kernels and operators. about_event: calls about events."""

    def __init__(self, recorded: Recorded) -> None:
        self.table = table = recorded.table("CANN_API", CALLS)
        spill = recorded.spill
        columns = Columns(table, spill)
        self.start = columns.integers("startNs", 0)
        self.end = columns.integers("endNs", 0)
        self.thread = columns.low_words("globalTid")
        self.connection = columns.integers("connectionId")
        self.node = columns.holds("type", NODE)
        self.about_event = columns.holds("name", *EVENT_CALLS)
        self._spill = spill
        self._unconnected = recorded.absent("TASK", "connectionId")
        self._rows = Lookup(self.connection, spill)

    def rows(self, connection: Integers) -> Integers:
        """The call of each connection, NONE without one."""
        return self._spill.made(self._found, connection)

    def _found(self, connection: Integers) -> Integers:
        none = np.isin(connection, self._unconnected)
        return np.where(none, NONE, self._rows.rows(connection))


TASKS = (
    *("startNs", "endNs", "deviceId", "streamId", "taskId", "contextId"),
    *("globalTaskId", "connectionId", "modelId", "taskType"),
)


class DeviceWork:
    """TASK with what belongs to each row.

    kernel: its row in COMPUTE_TASK_INFO, NONE without one. call: the row of its call. shown: false
    for a task that only encloses FFTS+ tasks, which stand for it. batch: as
    :func:`~ascend_ref.derive.tasks.task_batches` finds it.
    """

    def __init__(self, recorded: Recorded, kernels: pa.Table, calls: Calls, device: int) -> None:
        self.tasks = tasks = recorded.table("TASK", TASKS)
        spill = recorded.spill
        self._whole = recorded.absent("TASK", "contextId")[0]
        columns = Columns(tasks, spill)
        self.start = columns.integers("startNs", 0)
        self.end = columns.integers("endNs", 0)
        self.device = columns.integers("deviceId", device)
        self.stream = columns.integers("streamId", 0)
        self.number = columns.integers("taskId", 0)
        self.context = columns.integers("contextId", self._whole)
        self.identity = columns.integers("globalTaskId")
        self.connection = columns.integers("connectionId")
        self.kernel = Lookup(Columns(kernels, spill).integers("globalTaskId"), spill).rows(
            self.identity
        )
        self.call = calls.rows(self.connection)
        self.copies = columns.holds("taskType", COPY)
        self.marks = columns.holds("taskType", MARK)
        self._columns = columns
        self._calls = calls
        self._spill = spill
        self.shown = self._shown(spill)

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def simt(self) -> Mask:
        """Which tasks are kernels of SIMT threads."""
        return self._columns.holds("taskType", SIMT)

    @cached_property
    def batch(self) -> Integers:
        """The batch of each task."""
        return task_batches(self.device, self.stream, self.number, self.start, self._spill)

    def _shown(self, spill: Spill) -> Mask:
        def encloses(context: Integers) -> Mask:
            found: Mask = context == self._whole
            return found

        inner = spill.where(lambda context: ~encloses(context), self.context)
        if not len(inner):
            return spill.made(encloses, self.context, kind=np.bool_)
        place = first_equal(spill, self.device, self.stream, self.number, self.batch)
        holds_inner = spill.changeable(len(self), False, np.bool_)
        for part in spill.batches(len(inner)):
            holds_inner[place[inner[part]]] = True
        return spill.made(
            lambda context, place: ~(encloses(context) & holds_inner[place]),
            self.context,
            place,
            kind=np.bool_,
        )

    def launched(self, *, by_event_calls: bool) -> Mask:
        """Which tasks an arrow can lead to from a call on the host.

        by_event_calls: tasks of calls about events among them, though they run no operator.
        """
        calls = self._calls

        def holds(shown: Mask, marks: Mask, kernel: Integers, call: Integers, copies: Mask) -> Mask:
            known: Mask = shown & ~marks & (call != NONE)
            if not len(calls.start):
                return known
            linked: Mask = (kernel != NONE) & calls.node[call] | copies
            if by_event_calls:
                linked |= calls.about_event[call]
            return known & linked

        columns = self.shown, self.marks, self.kernel, self.call, self.copies
        return self._spill.made(holds, *columns, kind=np.bool_)
