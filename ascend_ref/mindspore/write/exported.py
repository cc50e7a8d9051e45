"""What msprof exports of a job, where parsers of the day read that in place of raw files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ascend_ref import names
from ascend_ref.capture import Capture
from ascend_ref.capture.model import NONE
from ascend_ref.derive.transit import task_rows
from ascend_ref.recorded import from_captures
from ascend_ref.text import write_csv_files
from ascend_ref.text.kernels import COMMUNICATION_TYPES
from ascend_ref.timeline import write_timeline
from ascend_spec import catalog, mindspore_catalog
from ascend_spec.core import DAYS

from .job import Job

OPERATORS, STATISTIC, ITERATIONS = "op_summary", "op_statistic", "step_trace"
TABLES = (OPERATORS, STATISTIC, ITERATIONS)
TIMELINE = "msprof_timeline"

WRITER = "python-2025"
"""The oldest writer of these files whose forms are known; those of these years wrote as it does."""

SUMMARY = "summary"
"""Folder of the files of a device, below its own."""

DEVICE_COLUMN = "Device_id"
"""Files of one device lack it."""

COLLECTIVE, OLD_COLLECTIVE = COMMUNICATION_TYPES
"""Task type of collectives, and what it was as each iteration was exported."""


def write_exports(job: Job) -> None:
    """Write the export of the day, on days without one nothing."""
    if not job.writes(OPERATORS):
        return
    capture = named_as_operators(job)
    name = mindspore_catalog().files[OPERATORS].name_on(job.day)
    if name is not None and "iteration" in name.fields:
        _write_iterations(job, capture)
        return
    files = _exported(capture, timeline=job.writes(TIMELINE))
    for kind, content in files.items():
        _write(job, kind, content, timestamp=_timestamp(capture))


def named_as_operators(job: Job) -> Capture:
    """The capture with kernels called as the operators of the graph that launch them."""
    capture, graph = job.capture, job.graph
    rows = task_rows(capture.tasks)[capture.kernels.task]
    operator = graph.operator[rows]
    texts = capture.texts.copy()
    called = np.array([texts.number(one.name) for one in graph.operators] or [NONE], np.int64)
    kinds = capture.kernel_kinds
    name = np.where(operator == NONE, kinds.name[capture.kernels.kind], called[operator])
    pairs = np.stack([capture.kernels.kind, name], 1)
    unique, place = np.unique(pairs, axis=0, return_inverse=True)
    renamed = replace(kinds.take(unique[:, 0]), name=unique[:, 1])
    kernels = replace(capture.kernels, kind=place.reshape(-1).astype(np.int64))
    return replace(capture, texts=texts, kernel_kinds=renamed, kernels=kernels)


def _timestamp(capture: Capture) -> str:
    return names.stamp(capture.origin.start)[:14]


def _exported(
    capture: Capture, tables: Sequence[str] = TABLES, *, timeline: bool = False
) -> dict[str, bytes]:
    """The content of the files of one export, those that have a row."""
    recorded = from_captures([capture], "msprof", catalog().revisions[-1].id)
    with TemporaryDirectory(prefix=".ascend-ref-") as place:
        folder = Path(place)
        stamp = _timestamp(capture)
        write_csv_files(recorded, folder, writer=WRITER, timestamp=stamp, files=tables)
        found = {kind: folder / f"{kind}_{stamp}.csv" for kind in tables}
        if timeline:
            write_timeline(recorded, folder, writer=WRITER, timestamp=stamp)
            found[TIMELINE] = folder / f"msprof_{stamp}.json"
        return {kind: path.read_bytes() for kind, path in found.items() if path.exists()}


def _write_iterations(job: Job, capture: Capture) -> None:
    """Write the files of each iteration, as msprof exports it for itself."""
    iterations = job.graph.iterations
    trace = _exported(capture, [ITERATIONS]).get(ITERATIONS)
    rows = _Rows(job, OPERATORS, _exported(capture, [OPERATORS]).get(OPERATORS, b""))
    start = np.array([float(one) for one in rows.column("start")]) * 1000
    of = iterations.of(start.astype(np.int64))
    task = task_rows(capture.tasks)[capture.kernels.task]
    kernel = iterations.of(capture.tasks.start[task])
    for number in range(len(iterations)):
        parts = {"model": job.graph.model, "iteration": number + 1}
        own = replace(capture, kernels=capture.kernels.take(kernel == number))
        _write(job, OPERATORS, rows.content(np.flatnonzero(of == number).tolist()), **parts)
        found = {**_exported(own, [STATISTIC]), **({} if trace is None else {ITERATIONS: trace})}
        for kind, content in found.items():
            _write(job, kind, _Rows(job, kind, content).content(), **parts)


class _Rows:
    """The rows of a file of CSV, with the columns and words of the day in its header."""

    def __init__(self, job: Job, kind: str, content: bytes) -> None:
        header, *rows = csv.reader(content.decode().splitlines()) if content else [[]]
        columns = mindspore_catalog().files[kind].columns
        today = {one.name: one.takes for one in columns if one.until is None}
        here = {one.takes: one.name for one in columns if DAYS.in_force(one, job.day)}
        self._kept = [at for at, name in enumerate(header) if name != DEVICE_COLUMN]
        self._takes = [today.get(header[at], "") for at in self._kept]
        self._header = [here.get(today.get(header[at], ""), header[at]) for at in self._kept]
        self._rows = [[row[at] for at in self._kept] for row in rows]

    def column(self, takes: str) -> Iterator[str]:
        """The cells of what parsers take a column for."""
        at = self._takes.index(takes) if takes in self._takes else None
        return iter(()) if at is None else (row[at] for row in self._rows)

    def content(self, rows: Sequence[int] | None = None) -> bytes:
        """The file with some of its rows."""
        taken = self._rows if rows is None else [self._rows[at] for at in rows]
        lines = [",".join(map(_cell, self._header))]
        lines += (",".join(_cell(_old(one)) for one in row) for row in taken)
        return "".join(f"{line}\n" for line in lines).encode()


def _old(cell: str) -> str:
    return OLD_COLLECTIVE if cell == COLLECTIVE else cell


def _cell(text: str) -> str:
    if not set(text) & set(',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _write(job: Job, kind: str, content: bytes, **parts: object) -> None:
    file = mindspore_catalog().files[kind]
    dated = next(one for one in reversed(file.names) if DAYS.in_force(one, job.day))
    folder = job.folder
    if dated.folder == SUMMARY:
        folder = folder / f"device_{job.device}"
    place = folder / str(dated.folder)
    place.mkdir(parents=True, exist_ok=True)
    every: Mapping[str, object] = {"device": job.device, **parts}
    own = {name: every[name] for name in dated.form.fields}
    (place / dated.form.of(**own)).write_bytes(content)
