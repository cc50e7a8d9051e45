"""A recording of a database to the bars of one device."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.overlap import COMMUNICATION_KERNELS
from ascend_ref.derive.steps import Spans, StepRange
from ascend_ref.derive.task_batches import task_batches
from ascend_ref.derive.transit import groups
from ascend_ref.recorded import Recorded

from .choice import chosen
from .columns import Mask, Texts, pairs_of, rows_of, texts
from .groups import INFORMATION, purposes
from .kinds import COMPUTING_KINDS, PROFILER_TASKS, Kind, kind_of
from .names import UNKNOWN, operator_type
from .recording import WHOLE, Lane, Part, Recording, Section, gather, steps_of

NO_CONTEXT: Final = 4_294_967_295
NO_PLANE: Final = 4_294_967_295
"""At level 0."""
NO_CONNECTION: Final = -2
"""Of a task where it is NULL: of no call."""
LAUNCHING: Final = "node"
"""Level of the host calls that launch tasks."""


def from_recorded(recorded: Recorded, device: int | None) -> Recording:
    """The bars of one device: of ``device``, or of the only or first one.

    Raises :class:`CannotDraw` where the recording does not have the device.
    """
    tasks, operators = recorded.table("TASK"), recorded.table("COMMUNICATION_OP")
    devices = np.union1d(integers(tasks["deviceId"]), integers(operators["deviceId"]))
    known = tuple(devices[devices >= 0].tolist())
    own = chosen("device", device, known)
    tasks, operators = _of_device(tasks, own, known), _of_device(operators, own, known)
    bars, lanes, names, dropped = gather([*_tasks(recorded, tasks), *_operations(operators)])
    return Recording(
        chip=recorded.origin.chip,
        rank=recorded.origin.rank if recorded.origin.rank >= 0 else None,
        device=own,
        devices=known,
        bars=bars,
        lanes=lanes,
        names=names,
        steps=tuple(_steps(recorded, tasks)),
        groups=_groups(recorded),
        divided=bool(np.isin(bars.kind, (Kind.VECTOR, Kind.MIX)).any()),
        communication=True,
        dropped=dropped,
    )


def _of_device(table: pa.Table, device: int | None, devices: tuple[int, ...]) -> pa.Table:
    """The rows of a device; rows without one belong to the only one (older files)."""
    here = integers(table["deviceId"])
    own = here == (-1 if device is None else device)
    if len(devices) <= 1:
        own |= here < 0
    # Not from NumPy: pyarrow would import pandas for it.
    return table if own.all() else table.filter(pa.array(own.tolist(), pa.bool_()))


@dataclass(frozen=True, slots=True)
class _Facts:
    """A table about tasks, looked up for each task. row: -1 where it has none."""

    table: pa.Table
    row: Integers

    @classmethod
    def of(cls, recorded: Recorded, name: str, identity: Integers) -> _Facts:
        table = recorded.table(name)
        return cls(table, rows_of(integers(table["globalTaskId"]), identity))

    @property
    def known(self) -> Mask:
        return self.row >= 0

    def texts(self, column: str) -> Texts:
        return texts(self.table[column]).at(self.row)

    def numbers(self, column: str) -> Integers:
        return np.append(integers(self.table[column]), -1)[self.row]


def _tasks(recorded: Recorded, tasks: pa.Table) -> Iterator[Part]:
    """The bars of the streams, and those of the planes of communication."""
    identity = integers(tasks["globalTaskId"])
    compute = _Facts.of(recorded, "COMPUTE_TASK_INFO", identity)
    small = _Facts.of(recorded, "COMMUNICATION_TASK_INFO", identity)
    schedule = _Facts.of(recorded, "COMMUNICATION_SCHEDULE_TASK_INFO", identity)
    task_type = texts(tasks["taskType"])
    kind = _kinds(task_type, compute, small, schedule)
    name = task_type
    for facts, column in ((small, "taskType"), (compute, "name"), (compute, "opType")):
        told = facts.texts(column).renamed(operator_type)
        name = told.where(told.holds(lambda text: text not in UNKNOWN), name)
    start, end = integers(tasks["startNs"]), integers(tasks["endNs"])
    shown = ~task_type.holds(PROFILER_TASKS.__contains__)
    shown &= ~_enclosing(tasks, kind)
    streams, lane = np.unique(integers(tasks["streamId"])[shown], return_inverse=True)
    yield Part(
        start[shown],
        end[shown],
        kind[shown],
        lane,
        [Lane(Section.STREAM, "", number) for number in streams.tolist()],
        name.take(shown),
    )
    own = small.known & (small.numbers("planeId") != NO_PLANE)
    group = small.texts("groupName").take(own)
    planes, lane = pairs_of(group.codes, small.numbers("planeId")[own])
    yield Part(
        start[own],
        end[own],
        kind[own],
        lane,
        [Lane(Section.PLANE, _text(group, code), plane) for code, plane in planes],
        name.take(own),
    )


def _kinds(task_type: Texts, compute: _Facts, small: _Facts, schedule: _Facts) -> Integers:
    """What each task is, by the table that knows best."""
    own = task_type.numbers(kind_of, Kind.OTHER)
    core = np.isin(own, COMPUTING_KINDS)
    # A task of a core without an operator only encloses others, as FFTS+ tasks do.
    kind = np.where(core, Kind.OTHER, own) if compute.table.num_rows else own
    told = small.texts("taskType").numbers(kind_of, Kind.OTHER)
    kind = np.where(small.known & (told != Kind.OTHER), told, kind)
    told = compute.texts("taskType").numbers(kind_of, Kind.OTHER)
    # At level 0 the operator's own type is N/A. One that nobody has written down computes too.
    told = np.where(np.isin(told, COMPUTING_KINDS), told, np.where(core, own, Kind.ENGINE))
    kind = np.where(compute.known, told, kind)
    scheduling = compute.texts("name").holds(lambda text: text.endswith(COMMUNICATION_KERNELS))
    kind[scheduling | schedule.known] = Kind.SCHEDULE
    return kind


def _enclosing(tasks: pa.Table, kind: Integers) -> Mask:
    """FFTS+ tasks whose sub-tasks, with the same stream and number, are bars of their own."""
    context = integers(tasks["contextId"], NO_CONTEXT)
    inner = (context >= 0) & (context != NO_CONTEXT)
    stream, number, start = (integers(tasks[name]) for name in ("streamId", "taskId", "startNs"))
    batch = task_batches(integers(tasks["deviceId"]), stream, number, start)
    _, place = groups(stream, number, batch)
    encloses: Mask = ~inner & (kind == Kind.OTHER) & np.isin(place, place[inner])
    return encloses


def _operations(operators: pa.Table) -> Iterator[Part]:
    """The bars of the communication operators, a lane for each group."""
    group = texts(operators["groupName"])
    codes, lane = np.unique(group.codes, return_inverse=True)
    told = texts(operators["opType"]).renamed(operator_type)
    name = texts(operators["opName"]).renamed(operator_type)
    yield Part(
        integers(operators["startNs"]),
        integers(operators["endNs"]),
        np.full(len(operators), Kind.OPERATION, np.int64),
        lane,
        [Lane(Section.GROUP, _text(group, code), -1) for code in codes.tolist()],
        told.where(told.holds(lambda text: text not in UNKNOWN), name),
    )


def _text(column: Texts, code: int) -> str:
    return column.values[code] if code >= 0 else ""


def _steps(recorded: Recorded, tasks: pa.Table) -> list[StepRange]:
    """The steps as the device saw them."""
    if "STEP_TIME" not in recorded.tables:
        return [WHOLE]
    table, calls = recorded.table("STEP_TIME"), recorded.table("CANN_API")
    number, start, end = (integers(table[name]) for name in ("id", "startNs", "endNs"))
    launching = texts(calls["type"]).equals(LAUNCHING)
    begin, stop, connection = (
        integers(calls[name])[launching] for name in ("startNs", "endNs", "connectionId")
    )
    return steps_of(
        number,
        Spans(start, end),
        Spans(begin, stop),
        rows_of(connection, integers(tasks["connectionId"], NO_CONNECTION)),
        Spans(integers(tasks["startNs"]), integers(tasks["endNs"])),
    )


def _groups(recorded: Recorded) -> Mapping[str, str]:
    facts = recorded.table("META_DATA")
    for name, value in zip(facts["name"].to_pylist(), facts["value"].to_pylist(), strict=True):
        if name == INFORMATION and value is not None:
            try:
                return purposes(json.loads(value))
            except (ValueError, RecursionError):
                return {}
    return {}
