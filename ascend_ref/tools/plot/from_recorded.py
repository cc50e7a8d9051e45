"""From a recording of a database to the bars of one device."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import Mask, integers
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import counterparts, groups
from ascend_ref.derive.overlap import COMMUNICATION_KERNELS
from ascend_ref.derive.steps import Spans, StepRange
from ascend_ref.derive.tasks import task_batches
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import NO_ROW, ShownValues, TableRows, every_row
from ascend_spec.core.shows import Show

from .columns import Texts, texts
from .errors import chosen
from .kinds import COMPUTING_KINDS, PROFILER_TASKS, Kind, kind_of, operator_type
from .recording import (
    INFORMATION,
    WHOLE,
    Part,
    Recording,
    Section,
    gather,
    purposes,
    steps_of,
)

NO_CONNECTION = -2
"""Of a task without one: of no call."""
COMPUTE, SMALL = "COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO"
SCHEDULE = "COMMUNICATION_SCHEDULE_TASK_INFO"
"""Tables with further facts of tasks."""
LAUNCHING = "node"
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
    return Recording(
        *gather([*_tasks(recorded, tasks), _operations(recorded, operators)]),
        device=own,
        devices=known,
        steps=tuple(_steps(recorded, tasks)),
        chip=recorded.origin.chip,
        rank=recorded.origin.rank if recorded.origin.rank >= 0 else None,
        groups=_groups(recorded),
    )


def _of_device(table: pa.Table, device: int | None, devices: tuple[int, ...]) -> pa.Table:
    """The rows of a device; rows without one belong to the only one (older files)."""
    here = integers(table["deviceId"])
    own = here == (-1 if device is None else device)
    if len(devices) <= 1:
        own |= here < 0
    # Not from NumPy: pyarrow would import pandas for it.
    return table if own.all() else table.filter(pa.array(own.tolist(), pa.bool_()))


class _Shown:
    """Values of some tasks or other rows, by what their columns show of the recording."""

    def __init__(self, recorded: Recorded, rows: Mapping[str, TableRows]) -> None:
        self._values = ShownValues(recorded.output)
        self._rows = rows

    def knows(self, table: str) -> Mask:
        """Which rows a table has facts of."""
        return np.asarray(self._rows[table].places != NO_ROW)

    def texts(self, name: str) -> Texts:
        return texts(self._column(name))

    def numbers(self, name: str, none: int = -1) -> Integers:
        return integers(self._column(name), none)

    def _column(self, name: str) -> pa.ChunkedArray:
        return pa.chunked_array([self._values.of(Show("plain", (name,)), self._rows)])


def _with_facts(recorded: Recorded, tasks: pa.Table) -> _Shown:
    """The tasks with what other tables state about them."""
    identity = integers(tasks["globalTaskId"])
    facts = {name: recorded.table(name) for name in (COMPUTE, SMALL, SCHEDULE)}
    places = {
        name: TableRows(table, counterparts(identity, 0, integers(table["globalTaskId"])))
        for name, table in facts.items()
    }
    return _Shown(recorded, {"TASK": every_row(tasks), **places})


def _tasks(recorded: Recorded, tasks: pa.Table) -> Iterator[Part]:
    """The bars of the streams, and those of the planes of communication."""
    known = _with_facts(recorded, tasks)
    task_type = known.texts("task.kind")
    kind = _kinds(known, operators=bool(recorded.table(COMPUTE).num_rows))
    name = task_type
    for value in ("transfer.kind", "kernel.name", "kernel.op_type"):
        name = known.texts(value).renamed(operator_type).or_else(name)
    start, end = known.numbers("task.start"), known.numbers("task.end")
    shown = ~task_type.holds(PROFILER_TASKS.__contains__) & ~_enclosing(known, kind)
    plane = known.numbers("transfer.plane")
    small = known.knows(SMALL) & (plane != -1)
    for section, own, group, number in (
        (Section.STREAM, shown, None, known.numbers("task.stream")),
        (Section.PLANE, small, known.texts("transfer.group")[small], plane),
    ):
        yield Part(section, start[own], end[own], kind[own], name[own], group, number[own])


def _kinds(known: _Shown, *, operators: bool) -> Integers:
    """What each task is, by the table that knows best. operators: whether any are known."""
    own = known.texts("task.kind").numbers(kind_of, Kind.OTHER)
    core = np.isin(own, COMPUTING_KINDS)
    # A task of a core without an operator only encloses others, as FFTS+ tasks do.
    kind = np.where(core, Kind.OTHER, own) if operators else own
    stated = known.texts("transfer.kind").numbers(kind_of, Kind.OTHER)
    kind = np.where(stated != Kind.OTHER, stated, kind)
    stated = known.texts("kernel.core").numbers(kind_of, Kind.OTHER)
    # At level 0 the operator's own type is N/A. One that nobody has written down computes too.
    stated = np.where(np.isin(stated, COMPUTING_KINDS), stated, np.where(core, own, Kind.ENGINE))
    kind = np.where(known.knows(COMPUTE), stated, kind)
    name = known.texts("kernel.name")
    scheduling = name.holds(lambda text: text.endswith(COMMUNICATION_KERNELS))
    kind[scheduling | known.knows(SCHEDULE)] = Kind.SCHEDULE
    return kind


def _enclosing(known: _Shown, kind: Integers) -> Mask:
    """FFTS+ tasks whose sub-tasks, with the same stream and number, are bars of their own."""
    inner = known.numbers("task.context") >= 0
    stream, number = known.numbers("task.stream"), known.numbers("task.number")
    batch = task_batches(known.numbers("task.device"), stream, number, known.numbers("task.start"))
    _, place = groups(stream, number, batch)
    encloses: Mask = ~inner & (kind == Kind.OTHER) & np.isin(place, place[inner])
    return encloses


def _operations(recorded: Recorded, operators: pa.Table) -> Part:
    """The bars of the communication operators, a lane for each group."""
    known = _Shown(recorded, {"COMMUNICATION_OP": every_row(operators)})
    stated, name = (
        known.texts(f"collective.{one}").renamed(operator_type) for one in ("kind", "name")
    )
    return Part(
        Section.GROUP,
        known.numbers("collective.start"),
        known.numbers("collective.end"),
        np.full(len(operators), Kind.OPERATION, np.int64),
        stated.or_else(name),
        known.texts("collective.group"),
    )


def _steps(recorded: Recorded, tasks: pa.Table) -> list[StepRange]:
    """The steps as the device saw them."""
    if "STEP_TIME" not in recorded.tables:
        return [WHOLE]
    steps = _Shown(recorded, {"STEP_TIME": every_row(recorded.table("STEP_TIME"))})
    calls = _Shown(recorded, {"CANN_API": every_row(recorded.table("CANN_API"))})
    own = _Shown(recorded, {"TASK": every_row(tasks)})
    launching = calls.texts("host_call.level").holds(lambda level: level == LAUNCHING)
    begin, stop, connection = (
        calls.numbers(f"host_call.{name}")[launching] for name in ("start", "end", "connection")
    )
    return steps_of(
        steps.numbers("step.id"),
        Spans(steps.numbers("step.start"), steps.numbers("step.end")),
        Spans(begin, stop),
        counterparts(own.numbers("task.connection", NO_CONNECTION), 0, connection),
        Spans(own.numbers("task.start"), own.numbers("task.end")),
    )


def _groups(recorded: Recorded) -> Mapping[str, str]:
    facts = recorded.table("META_DATA")
    rows = zip(facts["name"].to_pylist(), facts["value"].to_pylist(), strict=True)
    stated = next(
        (value for name, value in rows if name == INFORMATION and value is not None), "null"
    )
    try:
        return purposes({INFORMATION: json.loads(stated)})
    except (ValueError, RecursionError):
        return {}
