"""``kernel_details``, ``op_summary`` and ``task_time`` to the bars of one device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.db.display import show_path
from ascend_ref.derive.overlap import COMMUNICATION_KERNELS
from ascend_ref.derive.steps import StepRange

from .choice import chosen
from .columns import Columns, Texts, texts
from .csv_columns import header, nanoseconds, newest_names, read_sheet, wholes
from .errors import CannotDraw
from .kinds import COMPUTING_KINDS, PROFILER_TASKS, Kind, kind_of
from .names import UNKNOWN, operator_type
from .recording import LATEST, WHOLE, Lane, Part, Recording, Section, gather

COMMUNICATION: Final = ("COMMUNICATION", "HCCL")
"""Task types of communication operators, the newest first (text-outputs.md 9, E4)."""


class Shape(NamedTuple):
    """The columns of a file that tell about tasks; empty for one that it never has.

    complete: whether communication operators are rows of it; if so, other tasks are not.
    """

    file: str
    complete: bool
    step: str
    device: str
    stream: str
    name: str
    operator: str
    kind: str
    start: str
    duration: str


SHAPES: Final = (
    Shape(
        "kernel_details",
        True,
        "Step Id",
        "Device_id",
        "Stream ID",
        "Name",
        "Type",
        "Accelerator Core",
        "Start Time(us)",
        "Duration(us)",
    ),
    Shape(
        "op_summary",
        True,
        "Step Id",
        "Device_id",
        "Stream ID",
        "Op Name",
        "OP Type",
        "Task Type",
        "Task Start Time(us)",
        "Task Duration(us)",
    ),
    Shape(
        "task_time",
        False,
        "",
        "Device_id",
        "stream_id",
        "kernel_name",
        "",
        "kernel_type",
        "task_start(us)",
        "task_time(us)",
    ),
)
ITERATIONS: Final = ("Device_id", "Iteration ID", "Iteration End(us)", "Iteration Time(us)")


@dataclass(frozen=True)
class Tasks(Columns):
    """The rows of a file. device, stream, step: -1 where they do not tell. start, end: Unix ns."""

    step: Integers
    device: Integers
    stream: Integers
    kind: Integers
    name: Texts
    start: Integers
    end: Integers


def from_tables(paths: Sequence[Path], iterations: Sequence[Path], device: int | None) -> Recording:
    """The bars of one device, from one file or from all slices of one.

    iterations: step_trace files of the same capture. Raises :class:`CannotDraw` for a file of
    another kind, and where it has no such device.
    """
    shape = shape_of(paths[0])
    tasks = read_tasks(shape, paths)
    known = np.unique(tasks.device)
    devices = tuple(known[known >= 0].tolist())
    own = chosen("device", device, devices)
    if own is not None:
        tasks = tasks.take(tasks.device == own)
    bars, lanes, names, dropped = gather(_parts(tasks))
    return Recording(
        chip=None,
        rank=None,
        device=own,
        devices=devices,
        bars=bars,
        lanes=lanes,
        names=names,
        steps=tuple(_steps(tasks) or _iterations(iterations, own) or [WHOLE]),
        groups={},
        divided=bool(np.isin(bars.kind, (Kind.VECTOR, Kind.MIX)).any()),
        communication=shape.complete,
        dropped=dropped,
    )


def shape_of(path: Path) -> Shape:
    """What kind of file its columns say it is. Raises :class:`CannotDraw` where they are none."""
    found = header(path)
    for shape in SHAPES:
        newest = newest_names(shape.file)
        if {shape.kind, shape.start, shape.duration} <= {newest.get(name, name) for name in found}:
            return shape
    files = " or ".join(shape.file for shape in SHAPES)
    raise CannotDraw(f"{show_path(path)}: line 1: columns of another file; expected {files}")


def read_tasks(shape: Shape, paths: Sequence[Path]) -> Tasks:
    """The rows of a file or of all slices of one, without those of the profiler itself."""
    table = read_sheet(shape.file, paths, [name for name in shape[2:] if name])
    none = Texts(np.full(table.num_rows, -1), ())
    nothing = np.full(table.num_rows, -1)
    task_type = texts(table[shape.kind])
    own = texts(table[shape.name])
    told = texts(table[shape.operator]) if shape.operator else none
    name = _known(told.renamed(operator_type), _known(own.renamed(operator_type), task_type))
    start, length = nanoseconds(table[shape.start]), nanoseconds(table[shape.duration])
    tasks = Tasks(
        step=wholes(table[shape.step]) if shape.step else nothing,
        device=wholes(table[shape.device]),
        stream=wholes(table[shape.stream]),
        kind=_kinds(shape, task_type, own),
        name=name,
        start=start,
        end=np.where(length < 0, -1, start + length),
    )
    return tasks.take(~task_type.holds(PROFILER_TASKS.__contains__))


def _known(preferred: Texts, otherwise: Texts) -> Texts:
    return preferred.where(preferred.holds(lambda text: text not in UNKNOWN), otherwise)


def _kinds(shape: Shape, task_type: Texts, name: Texts) -> Integers:
    kind = task_type.numbers(kind_of, Kind.OTHER)
    if shape.complete:
        # Every row is an operator. At level 0 its core is not known.
        known = task_type.holds(lambda text: text not in UNKNOWN)
        kind = np.where(np.isin(kind, COMPUTING_KINDS), kind, Kind.ENGINE)
        kind[~known] = Kind.CUBE
    else:
        named = name.holds(lambda text: text not in UNKNOWN)
        # Where operators have names, a task of a core without one only encloses others.
        kind[np.isin(kind, COMPUTING_KINDS) & ~named & named.any()] = Kind.OTHER
    kind[name.holds(lambda text: text.endswith(COMMUNICATION_KERNELS))] = Kind.SCHEDULE
    kind[task_type.holds(COMMUNICATION.__contains__)] = Kind.OPERATION
    return kind


def _parts(tasks: Tasks) -> Iterator[Part]:
    """The bars of the streams, and those of the communication operators, whose group and stream the
    file does not tell.
    """
    own = tasks.take(tasks.kind != Kind.OPERATION)
    streams, lane = np.unique(own.stream, return_inverse=True)
    lanes = [Lane(Section.STREAM, "", number) for number in streams.tolist()]
    yield Part(own.start, own.end, own.kind, lane, lanes, own.name)
    own = tasks.take(tasks.kind == Kind.OPERATION)
    together = np.zeros(len(own.start), np.int64)
    yield Part(own.start, own.end, own.kind, together, [Lane(Section.GROUP, "", -1)], own.name)


def _steps(tasks: Tasks) -> list[StepRange]:
    """The steps by the rows that belong to them."""
    own = tasks.take((tasks.step >= 0) & (tasks.start >= 0))
    number, place = np.unique(own.step, return_inverse=True)
    low, high = np.full(len(number), LATEST), np.zeros(len(number), np.int64)
    np.minimum.at(low, place, own.start)
    np.maximum.at(high, place, own.start)
    rows = zip(number.tolist(), low.tolist(), (high + 1).tolist(), strict=True)
    return [StepRange(one, None, first, last) for one, first, last in rows]


def _iterations(paths: Sequence[Path], device: int | None) -> list[StepRange]:
    """The iterations of a graph."""
    if not paths:
        return []
    table = read_sheet("step_trace", paths, ITERATIONS)
    own, number, end, length = (
        (wholes if place < 2 else nanoseconds)(table[name]) for place, name in enumerate(ITERATIONS)
    )
    sane = (number >= 0) & (length > 0) & (end >= length)
    if device is not None:
        sane &= own == device
    order = np.argsort(end[sane], kind="stable")
    columns = (number[sane][order], (end - length)[sane][order], end[sane][order])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [StepRange(one, None, first, last) for one, first, last in rows]
