"""Tables of the communication operators and the tasks that they consist of."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Transfers

from .habits import UINT32_NONE
from .recording import NOT_COLLECTED, Columns, Recording, none_as

NOT_APPLICABLE = "INVALID_TYPE"
"""Name in the HCCL enums of what a task does not have (db-schema.md 4.4)."""

HCCL_ENUMS = {
    "rdmaType": ("rdma", "ENUM_HCCL_RDMA_TYPE"),
    "transportType": ("transport", "ENUM_HCCL_TRANSPORT_TYPE"),
    "dataType": ("data_type", "ENUM_HCCL_DATA_TYPE"),
    "linkType": ("link", "ENUM_HCCL_LINK_TYPE"),
}
"""Column of COMMUNICATION_TASK_INFO to column of Transfers and enum."""


def operators(recording: Recording) -> Columns:
    """COMMUNICATION_OP, in order of opId."""
    found = recording.operators
    batch = recording.capture.collectives.take(found.rows)
    groups = recording.capture.groups
    kind = recording.rewritten(batch.kind, lambda kind: f"hcom_{kind}_")
    return {
        "opName": batch.name,
        "startNs": found.start,
        "endNs": found.end,
        "connectionId": none_as(batch.connection, recording.habits.no_connection),
        "groupName": groups.name[batch.group],
        "opId": found.number,
        "relay": batch.relay,
        "retry": batch.retry,
        "dataType": batch.data_type,
        "algType": batch.algorithm,
        "count": batch.count,
        "opType": kind if recording.level else recording.text(NOT_COLLECTED, len(batch)),
        "deviceId": batch.device,
        "rankSize": groups.size[batch.group],
    }


def transfers(recording: Recording) -> Columns:
    """COMMUNICATION_TASK_INFO, in order of opId; an operator without interval has no tasks."""
    capture = recording.capture
    batch = recording.transfers
    details = _details(recording, batch) if recording.level else _no_details(recording, len(batch))
    return {
        "name": capture.collectives.name[batch.collective],
        "globalTaskId": batch.task,
        "groupName": capture.groups.name[capture.collectives.group[batch.collective]],
        "opId": recording.operators.number_of[batch.collective],
        "isMaster": batch.master,
        **details,
    }


def _details(recording: Recording, batch: Transfers) -> Columns:
    rows = recording.task_rows(batch.task)
    length = recording.capture.tasks.end[rows] - recording.capture.tasks.start[rows]
    enums = {
        column: none_as(getattr(batch, field), recording.enum_id(enum, NOT_APPLICABLE))
        for column, (field, enum) in HCCL_ENUMS.items()
    }
    return {
        "taskType": batch.kind,
        "planeId": none_as(batch.plane, UINT32_NONE),
        "notifyId": batch.notify,
        "srcRank": none_as(batch.source, UINT32_NONE),
        "dstRank": none_as(batch.target, UINT32_NONE),
        "size": batch.size,
        # Formed from GB/s of 10^9 Byte (4.2); a task without length has no rate.
        "bandwidth": np.where(length, batch.size * 1e9 / np.maximum(length, 1), 0.0),
        **enums,
    }


def _no_details(recording: Recording, rows: int) -> Columns:
    """What level 0 writes in their place (4.4)."""
    none = np.full(rows, UINT32_NONE)
    enums = {
        column: np.full(rows, recording.enum_id(enum, NOT_COLLECTED))
        for column, (_, enum) in HCCL_ENUMS.items()
    }
    return {
        "taskType": recording.text(NOT_COLLECTED, rows),
        "planeId": none,
        "notifyId": np.zeros(rows, np.int64),
        "srcRank": none,
        "dstRank": none,
        "size": np.full(rows, -1),
        "bandwidth": np.zeros(rows),
        **enums,
    }
