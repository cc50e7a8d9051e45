"""What ran on the devices, and which host calls it was launched by."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.task_batches import task_batches

from .lookup import NONE, Lookup, Mask, holds, integers, packed

NODE = "node"
EVENT_CALLS = ("aclrtRecordEvent", "aclrtStreamWaitEvent")
"""Calls whose tasks are linked to them although they run no operator (text-outputs.md 6.1)."""
COPY = "MEMCPY_ASYNC"
MARK = "MsTx"
SIMT = "KERNEL_SIMT"
"""Types of tasks that have events of their own kind."""
NO_CONTEXT = 4294967295
NO_CONNECTIONS = (4294967295, -1)
LOW_WORD = (1 << 32) - 1

OF_TASKS = ["taskType", "modelId"]
OF_CALLS = ["type", "name"]
"""Columns that are kept for the layers, beside the arrays."""


class Calls:
    """CANN_API. node: launches of kernels and operators. marks_event: calls about events."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table.select(OF_CALLS)
        self.start = integers(table, "startNs", 0)
        self.end = integers(table, "endNs", 0)
        self.thread = integers(table, "globalTid", 0) & LOW_WORD
        self.connection = integers(table, "connectionId")
        self.node = holds(table, "type", NODE)
        self.about_event = holds(table, "name", *EVENT_CALLS)
        self._rows = Lookup(self.connection)

    def rows(self, connection: Integers) -> Integers:
        """The call of each connection, NONE without one."""
        rows = self._rows.rows(connection)
        for none in NO_CONNECTIONS:
            rows[connection == none] = NONE
        return rows


class DeviceWork:
    """TASK with what belongs to each row.

    kernel: its row in COMPUTE_TASK_INFO, NONE without one. call: the row of its call. shown: false
    for a task that only encloses FFTS+ tasks, which stand for it. batch: as
    :func:`~ascend_ref.derive.task_batches.task_batches` finds it.
    """

    def __init__(self, tasks: pa.Table, kernels: pa.Table, calls: Calls, device: int) -> None:
        self.tasks = tasks.select(OF_TASKS)
        self.start = integers(tasks, "startNs", 0)
        self.end = integers(tasks, "endNs", 0)
        self.device = integers(tasks, "deviceId", device)
        self.stream = integers(tasks, "streamId", 0)
        self.number = integers(tasks, "taskId", 0)
        self.context = integers(tasks, "contextId", NO_CONTEXT)
        self.identity = integers(tasks, "globalTaskId")
        self.connection = integers(tasks, "connectionId")
        self.kernel = Lookup(integers(kernels, "globalTaskId")).rows(self.identity)
        self.call = calls.rows(self.connection)
        self.copies = holds(tasks, "taskType", COPY)
        self.marks = holds(tasks, "taskType", MARK)
        self.simt = holds(tasks, "taskType", SIMT)
        self.batch = task_batches(self.device, self.stream, self.number, self.start)
        self.shown = ~self._enclosing()
        self._calls = calls

    def __len__(self) -> int:
        return len(self.start)

    def _enclosing(self) -> Mask:
        inner: Mask = self.context != NO_CONTEXT
        if not inner.any():
            return inner
        place = packed(self.device, self.stream, self.number, self.batch)
        enclosing: Mask = ~inner & np.isin(place, np.unique(place[inner]))
        return enclosing

    def launched(self, *, by_event_calls: bool) -> Mask:
        """Which tasks an arrow can lead to from a call on the host.

        by_event_calls: tasks of calls about events among them, though they run no operator.
        """
        known: Mask = self.shown & ~self.marks & (self.call != NONE)
        call = self._calls
        if not len(call.start):
            return known
        place = np.where(known, self.call, 0)
        linked: Mask = (self.kernel != NONE) & call.node[place] | self.copies
        if by_event_calls:
            linked |= call.about_event[place]
        known &= linked
        return known
