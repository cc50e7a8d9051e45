"""Tables of what ran on the devices: tasks, kernels, copies, counters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import catalog

from .habits import UINT32_NONE
from .recording import NOT_COLLECTED, Columns, Recording, none_as

KIND_TEXTS = {
    "taskType": "core",
    "opType": "op_type",
    "inputFormats": "input_formats",
    "inputDataTypes": "input_data_types",
    "inputShapes": "input_shapes",
    "outputFormats": "output_formats",
    "outputDataTypes": "output_data_types",
    "outputShapes": "output_shapes",
    "attrInfo": "attributes",
    "opState": "op_state",
    "hf32Eligible": "hf32",
}
"""Attributes of COMPUTE_TASK_INFO, of which level 0 collects none, to columns of KernelKinds."""

QUOTED = ("inputShapes", "outputShapes")


def tasks(recording: Recording) -> Columns:
    """TASK, in order of start."""
    batch = recording.capture.tasks
    if (batch.start[1:] < batch.start[:-1]).any():
        batch = batch.take(np.argsort(batch.start, kind="stable"))
    return {
        "startNs": batch.start,
        "endNs": batch.end,
        "deviceId": batch.device,
        "connectionId": none_as(batch.connection, recording.habits.no_connection),
        "globalTaskId": batch.identity,
        "globalPid": np.full(len(batch), recording.capture.origin.pid),
        "taskType": batch.kind,
        "contextId": none_as(batch.context, UINT32_NONE),
        "streamId": batch.stream,
        "taskId": batch.number,
        "modelId": none_as(batch.model, UINT32_NONE),
    }


def kernels(recording: Recording) -> Columns:
    """COMPUTE_TASK_INFO."""
    capture = recording.capture
    kind, kinds = capture.kernels.kind, capture.kernel_kinds
    rows = len(kind)
    nothing = recording.text(NOT_COLLECTED, rows)
    attributes: dict[str, Integers] = {}
    for column, field in KIND_TEXTS.items():
        texts = getattr(kinds, field)
        if column in QUOTED:
            texts = recording.rewritten(texts, quoted)
        attributes[column] = texts[kind] if recording.level else nothing
    grid, threads = (
        recording.text_or(texts, NOT_COLLECTED)[kind] for texts in (kinds.grid_dim, kinds.block_dim)
    )
    blocks = kinds.blocks[kind] if recording.level else np.zeros(rows, np.int64)
    mixed = kinds.mix_blocks[kind] if recording.level else np.zeros(rows, np.int64)
    # blockDim was the core count; where blockNum is, the name means the threads of SIMT kernels.
    renamed = "blockNum" in recording.schema.tables["COMPUTE_TASK_INFO"].columns
    return {
        "name": kinds.name[kind],
        "globalTaskId": capture.kernels.task,
        "blockNum": blocks,
        "mixBlockNum": mixed,
        "blockDim": threads if renamed else blocks,
        "mixBlockDim": mixed,
        "gridDim": grid,
        **attributes,
    }


def quoted(shapes: str) -> str:
    """Shapes in double quotes, as every exporter leaves them (db-schema.md 4.11)."""
    if shapes == NOT_COLLECTED or shapes.startswith('"'):
        return shapes
    return f'"{shapes}"'


def schedules(recording: Recording) -> Columns:
    """COMMUNICATION_SCHEDULE_TASK_INFO."""
    batch = recording.capture.schedules
    nothing = recording.text(NOT_COLLECTED, len(batch))
    return {
        "name": batch.name,
        "globalTaskId": batch.task,
        "taskType": batch.core if recording.level else nothing,
        "opType": batch.op_type if recording.level else nothing,
    }


def copies(recording: Recording) -> Columns:
    """MEMCPY_INFO."""
    batch = recording.capture.copies
    return {
        "globalTaskId": batch.task,
        "size": batch.size,
        "memcpyOperation": batch.operation,
    }


def counters(recording: Recording) -> Columns:
    """TASK_PMU_INFO: from one row per task to one per metric and task, metric after metric.

    Of the other chips the exporter has the counters in text files only.
    """
    wide = recording.capture.counters
    products = recording.schema.tables["TASK_PMU_INFO"].products
    if recording.capture.origin.chip not in chips_of(products):
        return {}
    metrics = recording.texts.numbers(wide.metrics)
    return {
        "globalTaskId": np.tile(wide.task, len(metrics)),
        "name": np.repeat(metrics, len(wide.task)),
        "value": wide.values.T.ravel(),
    }


def chips_of(products: Iterable[str]) -> set[str]:
    """The names in NPU_INFO of the chips of these products."""
    return {chip for product in products for chip in catalog().products[product].chips}
