"""From ``kernel_details``, ``op_summary`` and ``task_time`` to the bars of one device."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.db.display import clip, show_path
from ascend_ref.derive.matching import counterparts, greatest, least
from ascend_ref.derive.overlap import COMMUNICATION_KERNELS
from ascend_ref.derive.steps import StepRange
from ascend_spec import text_catalog

from .columns import Columns, Texts, connected, texts
from .errors import CannotDraw, chosen
from .kinds import COMPUTING_KINDS, PROFILER_TASKS, Kind, kind_of, operator_type
from .recording import DIVIDING, WHOLE, Part, Recording, Section, gather, spans_of

HEADER_MAX: Final = 1 << 16
"""Bytes of a first line."""
ROW_MAX: Final = 1 << 24
"""Bytes of any other, with its line breaks."""

TEXT: Final = "{cell}"
# Of a bare column DuckDB would have the cast done by its reader of CSV, which leaves out the rows
# where it fails.
BARE = "trim({cell}, ' ' || chr(9))"
NUMBER: Final = f"TRY_CAST({BARE} AS BIGINT)"
TIME: Final = f"TRY_CAST(floor(TRY_CAST({BARE} AS DECIMAL(30, 6)) * 1000) AS BIGINT)"
"""Values of cells in SQL: whole numbers, and decimal microseconds as ns; NULL for what is none."""

# Real files have short rows, and writers that do not quote have long ones.
QUERY: Final = """
SELECT {wanted} FROM read_csv($path, columns = {columns}, header = true, auto_detect = false,
  delim = ',', quote = '"', escape = '"', null_padding = true, strict_mode = false,
  ignore_errors = true, max_line_size = {longest}, parallel = false)
"""

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
    row = np.where(
        np.isin(bars.kind, COMPUTING_KINDS), counterparts(bars.start, 0, tasks.start), -1
    )
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
    stated = own.renamed(operator_type).or_else(task_type)
    if "op_type" in shown:
        stated = texts(table["op_type"]).renamed(operator_type).or_else(stated)
    start, length = integers(table["start"]), integers(table["length"])
    tasks = Tasks(
        step=integers(table["step"]),
        device=integers(table["device"]),
        stream=integers(table["stream"]),
        kind=_kinds(_communication(file), task_type, own),
        name=stated,
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
    low, high = (bound(place, own.start, len(number)) for bound in (least, greatest))
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


def headers(file: str, entity: str, columns: Iterable[str]) -> dict[str, str]:
    """By columns of an entity the newest names of those that show them in a kind of file."""
    return {
        name: column.name
        for name in columns
        for column in reversed(text_catalog().csv[file].columns)
        if f"{entity}.{name}" in column.shows.of
    }


def read_sheet(
    file: str, paths: Sequence[Path], columns: Mapping[str, str], values: Mapping[str, str]
) -> pa.Table:
    """Columns of a kind of file, by names of ours to their newest names; one that a writer leaves
    out is NULL. paths: the file, or all slices of it. values: SQL of their cells, by our names.

    Raises :class:`CannotDraw` for what is no such file.
    """
    newest, wanted = newest_names(file), [(one, columns[one], values[one]) for one in columns]
    return pa.concat_tables([_read(path, newest, wanted) for path in paths])


def newest_names(file: str) -> Mapping[str, str]:
    """The newest name of each column, by every name that it ever had."""
    return {
        name: column.name for column in text_catalog().csv[file].columns for name in column.names
    }


def header(path: Path) -> list[str]:
    """The texts of the first line. Raises ``OSError``."""
    with path.open("rb") as opened:
        line = opened.readline(HEADER_MAX).decode("utf-8-sig", "replace")
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # one text that is longer than any name
        return []


def _read(
    path: Path, newest: Mapping[str, str], wanted: Sequence[tuple[str, str, str]]
) -> pa.Table:
    import duckdb

    present = header(path)
    # The first of columns that are called alike.
    place = {newest.get(name, name): number for number, name in reversed(list(enumerate(present)))}
    cells = [
        f"c{place[name]}" if name in place else "CAST(NULL AS VARCHAR)" for _, name, _ in wanted
    ]
    query = QUERY.format(
        wanted=", ".join(
            f"{value.format(cell=cell)} AS {own}"
            for cell, (own, _, value) in zip(cells, wanted, strict=True)
        ),
        columns={f"c{number}": "VARCHAR" for number in range(len(present))},
        longest=ROW_MAX,
    )
    # A file name is no pattern: each sign of one stands for itself.
    exact = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(path))
    try:
        with connected() as connection:
            return connection.sql(query, params={"path": exact}).to_arrow_table()
    except (duckdb.Error, UnicodeEncodeError) as error:
        reason = clip(str(error).splitlines()[0], 200)
        raise CannotDraw(f"{show_path(path)}: {reason}; expected a CSV file") from None
