"""Tables of what ran on the devices: tasks, kernels, copies, counters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ascend_spec import catalog

from .recording import NOT_COLLECTED, Recording, Rows, none_as

QUOTED = ("input_shapes", "output_shapes")


def tasks(recording: Recording) -> Rows:
    """Tasks, in order of start."""
    batch = recording.capture.tasks
    if (batch.start[1:] < batch.start[:-1]).any():
        batch = batch.take(np.argsort(batch.start, kind="stable"))
    return {
        **recording.rows(batch),
        "id": batch.identity,
        "connection": none_as(batch.connection, recording.habits.no_connection),
    }


def kernels(recording: Recording) -> Rows:
    """What compute tasks compute; of the attributes level 0 collects none."""
    capture = recording.capture
    kind = capture.kernels.kind
    kinds = dict(capture.kernel_kinds.columns())
    rows = {"task": capture.kernels.task, "name": kinds["name"][kind]}
    if not recording.level:
        return rows
    quotations = {name: recording.rewritten(kinds[name], quoted) for name in QUOTED}
    return {**{name: column[kind] for name, column in (kinds | quotations).items()}, **rows}


def quoted(shapes: str) -> str:
    """Shapes in double quotes, as every exporter leaves them (db-schema.md 4.11)."""
    if shapes == NOT_COLLECTED or shapes.startswith('"'):
        return shapes
    return f'"{shapes}"'


def schedules(recording: Recording) -> Rows:
    """AI CPU kernels that schedule communication."""
    batch = recording.capture.schedules
    return dict(batch.columns()) if recording.level else {"name": batch.name, "task": batch.task}


def counters(recording: Recording) -> Rows:
    """Counters: from one row per task to one per metric and task, metric after metric.

    Of the other chips the exporter has the counters in text files only.
    """
    wide = recording.capture.counters
    products = recording.schema.tables["TASK_PMU_INFO"].products
    if recording.capture.origin.chip not in chips_of(products):
        return {}
    metrics = recording.texts.numbers(wide.metrics)
    return {
        "task": np.tile(wide.task, len(metrics)),
        "metric": np.repeat(metrics, len(wide.task)),
        "value": wide.values.T.ravel(),
    }


def chips_of(products: Iterable[str]) -> set[str]:
    """The names in NPU_INFO of the chips of these products."""
    return {chip for product in products for chip in catalog().products[product].chips}
