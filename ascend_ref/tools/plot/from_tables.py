"""From ``kernel_details``, ``op_summary`` and ``task_time`` to the bars of one device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.db.display import show_path
from ascend_ref.derive.overlap import COMMUNICATION_KERNELS
from ascend_ref.derive.steps import StepRange
from ascend_spec import text_catalog

from .choice import chosen
from .columns import Columns, Texts, texts
from .csv_columns import header, headers, nanoseconds, newest_names, read_sheet, wholes
from .errors import CannotDraw
from .kinds import COMPUTING_KINDS, PROFILER_TASKS, Kind, kind_of
from .names import UNKNOWN, operator_type
from .recording import LATEST, WHOLE, Lane, Part, Recording, Section, gather

FILES: Final = ("kernel_details", "op_summary", "task_time")
TASK: Final = ("device", "stream", "start", "length", "kind")
KERNEL: Final = ("name", "op_type", "core")
STEP: Final = "Step Id"
"""Which step a row belongs to; the column shows no value of the recording."""
ITERATION: Final = ("device", "iteration_id", "iteration_end", "iteration_time")


@dataclass(frozen=True)
class Tasks(Columns):
    """The rows of a file. device, stream, step: -1 where a row has none. start, end: Unix ns."""

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
    file = file_of(paths[0])
    tasks = read_tasks(file, paths)
    known = np.unique(tasks.device)
    devices = tuple(known[known >= 0].tolist())
    own = chosen("device", device, devices)
    if own is not None:
        tasks = tasks.take(tasks.device == own)
    bars, lanes, names, dropped = gather(_parts(tasks))
    return Recording(
        device=own,
        devices=devices,
        bars=bars,
        lanes=lanes,
        names=names,
        steps=tuple(_steps(tasks) or _iterations(iterations, own) or [WHOLE]),
        divided=bool(np.isin(bars.kind, (Kind.VECTOR, Kind.MIX)).any()),
        communication=bool(_communication(file)),
        dropped=dropped,
    )


def file_of(path: Path) -> str:
    """What kind of file its columns say it is. Raises :class:`CannotDraw` where they are none."""
    found = header(path)
    for file in FILES:
        newest = newest_names(file)
        shown = headers(file, "task", TASK) | headers(file, "kernel", KERNEL)
        kind = shown.get("core") or shown["kind"]
        if {kind, shown["start"], shown["length"]} <= {newest.get(name, name) for name in found}:
            return file
    files = " or ".join(FILES)
    raise CannotDraw(f"{show_path(path)}: line 1: columns of another file; expected {files}")


def read_tasks(file: str, paths: Sequence[Path]) -> Tasks:
    """The rows of a file or of all slices of one, without those of the profiler itself."""
    shown = {"step": STEP} | headers(file, "task", TASK) | headers(file, "kernel", KERNEL)
    table = read_sheet(file, paths, shown)
    task_type = texts(table["core" if "core" in shown else "kind"])
    own = texts(table["name"])
    told = _known(own.renamed(operator_type), task_type)
    if "op_type" in shown:
        told = _known(texts(table["op_type"]).renamed(operator_type), told)
    start, length = nanoseconds(table["start"]), nanoseconds(table["length"])
    tasks = Tasks(
        step=wholes(table["step"]),
        device=wholes(table["device"]),
        stream=wholes(table["stream"]),
        kind=_kinds(_communication(file), task_type, own),
        name=told,
        start=start,
        end=np.where(length < 0, -1, start + length),
    )
    return tasks.take(~task_type.holds(PROFILER_TASKS.__contains__))


def _communication(file: str) -> tuple[str, ...]:
    """Task types of rows that are communication operators; none of a file without such rows."""
    rows = text_catalog().csv[file].rows
    return rows["collective"].texts if "collective" in rows else ()


def _known(preferred: Texts, otherwise: Texts) -> Texts:
    return preferred.where(preferred.holds(lambda text: text not in UNKNOWN), otherwise)


def _kinds(communication: Sequence[str], task_type: Texts, name: Texts) -> Integers:
    kind = task_type.numbers(kind_of, Kind.OTHER)
    if communication:
        # Every row is an operator. At level 0 its core is not known.
        known = task_type.holds(lambda text: text not in UNKNOWN)
        kind = np.where(np.isin(kind, COMPUTING_KINDS), kind, Kind.ENGINE)
        kind[~known] = Kind.CUBE
    else:
        named = name.holds(lambda text: text not in UNKNOWN)
        # Where operators have names, a task of a core without one only encloses others.
        kind[np.isin(kind, COMPUTING_KINDS) & ~named & named.any()] = Kind.OTHER
    kind[name.holds(lambda text: text.endswith(COMMUNICATION_KERNELS))] = Kind.SCHEDULE
    kind[task_type.holds(communication.__contains__)] = Kind.OPERATION
    return kind


def _parts(tasks: Tasks) -> Iterator[Part]:
    """The bars of the streams, and those of the communication operators, whose group and stream the
    file does not name.
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
    table = read_sheet("step_trace", paths, headers("step_trace", "step_trace", ITERATION))
    own, number = (wholes(table[name]) for name in ITERATION[:2])
    end, length = (nanoseconds(table[name]) for name in ITERATION[2:])
    sane = (number >= 0) & (length > 0) & (end >= length)
    if device is not None:
        sane &= own == device
    order = np.argsort(end[sane], kind="stable")
    columns = (number[sane][order], (end - length)[sane][order], end[sane][order])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [StepRange(one, None, first, last) for one, first, last in rows]
