"""From ``kernel_details``, ``op_summary`` and ``task_time`` to the bars of one device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.db.display import show_path
from ascend_ref.derive.overlap import COMMUNICATION_KERNELS
from ascend_ref.derive.steps import StepRange
from ascend_spec import text_catalog

from .columns import Columns, Texts, rows_of, texts
from .csv_columns import NUMBER, TEXT, TIME, header, headers, newest_names, read_sheet
from .errors import CannotDraw, chosen
from .kinds import COMPUTING_KINDS, PROFILER_TASKS, Kind, kind_of, operator_type
from .recording import DIVIDING, LATEST, WHOLE, Part, Recording, Section, gather, spans_of

FILES: Final = ("kernel_details", "op_summary", "task_time")
TASK: Final = {"device": NUMBER, "stream": NUMBER, "start": TIME, "length": TIME, "kind": TEXT}
KERNEL: Final = dict.fromkeys(("name", "op_type", "core"), TEXT)
STEP: Final = "Step Id"
"""Which step a row belongs to; the column shows no value of the recording."""
ITERATION: Final = {
    "device": NUMBER,
    "iteration_id": NUMBER,
    "iteration_end": TIME,
    "iteration_time": TIME,
}


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
    return Recording(
        *gather(_parts(tasks)),
        device=own,
        devices=devices,
        steps=tuple(_steps(tasks) or _iterations(iterations, own) or [WHOLE]),
        communication=bool(_communication(file)),
    )


def enriched(recording: Recording, paths: Sequence[Path]) -> Recording:
    """A timeline with what it does not show: kinds and names of the operators of a kernel_details
    or op_summary that start at the same moments.

    Raises :class:`CannotDraw` for a file that is neither.
    """
    tasks = read_tasks(file_of(paths[0]), paths)
    tasks = tasks.take(np.isin(tasks.kind, COMPUTING_KINDS))
    bars = recording.bars
    row = np.where(np.isin(bars.kind, COMPUTING_KINDS), rows_of(tasks.start, bars.start), -1)
    names = sorted({*recording.names, *tasks.name.values})
    place = {name: number for number, name in enumerate(names)}
    name = tasks.name.at(row).or_else(Texts(bars.name, recording.names))
    kind = np.where(row >= 0, np.append(tasks.kind, 0)[row], bars.kind)
    return replace(
        recording,
        bars=replace(bars, kind=kind, name=name.numbers(place.__getitem__, -1)),
        names=tuple(names),
        dividing=DIVIDING,
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
    table = read_sheet(file, paths, shown, {"step": NUMBER} | TASK | KERNEL)
    task_type = texts(table["core" if "core" in shown else "kind"])
    own = texts(table["name"])
    told = own.renamed(operator_type).or_else(task_type)
    if "op_type" in shown:
        told = texts(table["op_type"]).renamed(operator_type).or_else(told)
    start, length = integers(table["start"]), integers(table["length"])
    tasks = Tasks(
        step=integers(table["step"]),
        device=integers(table["device"]),
        stream=integers(table["stream"]),
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


def _kinds(communication: Sequence[str], task_type: Texts, name: Texts) -> Integers:
    kind = task_type.numbers(kind_of, Kind.OTHER)
    if communication:
        # Every row is an operator. At level 0 its core is not known.
        kind = np.where(np.isin(kind, COMPUTING_KINDS), kind, Kind.ENGINE)
        kind[~task_type.known()] = Kind.CUBE
    else:
        named = name.known()
        # Where operators have names, a task of a core without one only encloses others.
        kind[np.isin(kind, COMPUTING_KINDS) & ~named & named.any()] = Kind.OTHER
    kind[name.holds(lambda text: text.endswith(COMMUNICATION_KERNELS))] = Kind.SCHEDULE
    kind[task_type.holds(communication.__contains__)] = Kind.OPERATION
    return kind


def _parts(tasks: Tasks) -> Iterator[Part]:
    """The bars of the streams, and those of the communication operators, whose group and stream the
    file does not name.
    """
    operates = tasks.kind == Kind.OPERATION
    own = tasks.take(~operates)
    yield Part(Section.STREAM, own.start, own.end, own.kind, own.name, number=own.stream)
    own = tasks.take(operates)
    yield Part(Section.GROUP, own.start, own.end, own.kind, own.name)


def _steps(tasks: Tasks) -> list[StepRange]:
    """The steps by the rows that belong to them."""
    own = tasks.take((tasks.step >= 0) & (tasks.start >= 0))
    number, place = np.unique(own.step, return_inverse=True)
    low, high = np.full(len(number), LATEST), np.zeros(len(number), np.int64)
    np.minimum.at(low, place, own.start)
    np.maximum.at(high, place, own.start)
    return spans_of(number, low, high + 1)


def _iterations(paths: Sequence[Path], device: int | None) -> list[StepRange]:
    """The iterations of a graph."""
    if not paths:
        return []
    shown = headers("step_trace", "step_trace", ITERATION)
    table = read_sheet("step_trace", paths, shown, ITERATION)
    own, number, end, length = (integers(table[name]) for name in ITERATION)
    sane = (number >= 0) & (length > 0) & (end >= length)
    if device is not None:
        sane &= own == device
    order = np.flatnonzero(sane)[np.argsort(end[sane], kind="stable")]
    return spans_of(number[order], (end - length)[order], end[order])
