"""Communication: the operators of each group, and the tasks of each plane below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import one_piece
from ascend_ref.derive.transfer_estimates import transfer_estimates
from ascend_ref.spill import batches
from ascend_spec.core.shows import Show
from ascend_spec.timeline import Layer

from ..events import Item, rows_of
from ..lookup import NONE, Columns, filled
from ..notation import reals, wholes
from ..session import Session

LAYER = "Communication"
NAMELESS = ("", "N/A")

OF_TASK: Mapping[str, str] = {
    "task type": "transfer.kind",
    "stream id": "task.stream",
    "task id": "task.number",
    "context id": "task.context",
    "model id": "task.model",
}
"""What small tasks show of their row in TASK, and what they repeat."""


def communication(session: Session) -> Iterator[Item]:
    """Operators and tasks of all groups."""
    layer = session.layer(LAYER)
    groups = session.communication.groups
    if layer is None or not groups:
        return
    for device in dict.fromkeys(group.device for group in groups):
        yield from session.process(layer, device)
    yield from _threads(session, layer)
    if session.recorded.switches.level in layer.event("task").levels:
        yield from _tasks(session, layer)
    yield from _operators(session, layer)


def numbers_groups(layer: Layer, writer: str) -> bool:
    """Whether the groups are known by number alone, as to writers of 2025 (text-outputs.md 5.3)."""
    return "nameless-group" not in {thread.thread for thread in layer.threads_of(writer)}


def _threads(session: Session, layer: Layer) -> Iterator[Item]:
    numbered = numbers_groups(layer, session.style_of(layer))
    for group in session.communication.groups:
        first = {"groupStart": group.first}
        if numbered:
            yield from session.thread(layer, "group", group.device, group=group.number, **first)
        elif group.name in NAMELESS:
            yield from session.thread(layer, "nameless-group", group.device, **first)
        else:
            yield from session.thread(layer, "group", group.device, group=group.name, **first)
        for plane in group.planes:
            yield from session.thread(layer, "plane", group.device, planeId=plane, **first)


def _operators(session: Session, layer: Layer) -> Iterator[Item]:
    found = session.communication
    first = np.array([group.first for group in found.groups])
    for part in batches(len(found.operators)):
        yield session.filling.events(
            layer,
            layer.event("operator"),
            {"COMMUNICATION_OP": rows_of(part)},
            device=found.device[part],
            thread=first[found.operator_group[part]],
            args={
                "rank_size": wholes(found.ranks[part]),
                "model id": wholes(found.model[part]),
            },
        )


def _tasks(session: Session, layer: Layer) -> Iterator[Item]:
    """The tasks that TASK knows and that have a plane."""
    found, work = session.communication, session.work
    table = found.tasks
    first = np.array([group.first for group in found.groups])
    kinds = filled(one_piece(table["taskType"]), "")
    columns = Columns(table, session.spill)
    sizes = columns.integers("size", 0)
    shows = {arg: Show("plain", (column,)) for arg, column in OF_TASK.items()}
    for part in batches(table.num_rows):
        shown = (found.row[part] != NONE) & (found.plane[part] != NONE)
        rows = np.flatnonzero(shown) + part.start
        if not len(rows):
            continue
        task = found.row[rows]
        length, size = work.end[task] - work.start[task], np.maximum(sizes[rows], 0)
        estimates = transfer_estimates(kinds.take(pa.array(rows)), size)
        yield session.filling.events(
            layer,
            layer.event("task"),
            {"COMMUNICATION_TASK_INFO": rows, "TASK": task},
            start=work.start[task],
            device=work.device[task],
            thread=first[found.task_group[rows]] + found.plane[rows] + 1,
            length=length,
            args={
                "duration estimated(us)": reals(estimates),
                "size(Byte)": wholes(size),
                "bandwidth(GB/s)": reals(np.where(length > 0, size / np.maximum(length, 1), 0.0)),
            },
            shows=shows,
        )
