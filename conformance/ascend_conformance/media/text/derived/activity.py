"""What devices did when, computed again: the overlap analysis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import arrow, chosen
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.intervals import ends, long_union
from ascend_ref.derive.overlap import (
    COMMUNICATION_KERNELS,
    KERNEL_TASKS,
    Overlap,
    long_overlap,
    window,
)
from ascend_ref.spill import Spill

from ....compare.sql import quoted, text_literal
from ..database import Facts
from .operators import DEVICE, FILES
from .reading import Asked, LacksColumn, integers, read_parts

KINDS = ("computing", "communication", "not-overlapped", "free")
"""Kinds of slices of the layer, in the order of ENUM_OVERLAP_ANALYSIS_TYPE."""
CORES: tuple[str, ...] = (
    *("AI_CORE", "AI_VECTOR_CORE", "AI_CPU", "MIX_AIC", "MIX_AIV", "DSA", "DSA_SQE", "DVPP"),
    *("KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_AICPU", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV"),
)
"""Types of tasks that compute, where no file of operators shows which tasks do."""
COMMUNICATION_TYPES = ("COMMUNICATION", "HCCL", "HCCL_AI_CPU")
COMPUTING, COMMUNICATION, TASK, MARK = range(4)
"""What went on, as numbers: texts of every task would have to be made one by one."""
WINDOWS = {"marks": (TASK, MARK), "tasks": (TASK,), "unions": ()}
"""What bounds free time in addition to computing and communication: other tasks and the points of
marks; other tasks; nothing, as older writers have it (erratum T27)."""
SCHEMA = pa.schema(
    [
        ("device", pa.int64()),
        ("window", pa.dictionary(pa.int32(), pa.string())),
        ("kind", pa.dictionary(pa.int32(), pa.string())),
        ("start", pa.int64()),
        ("stop", pa.int64()),
    ]
)


class _Busy:
    """Whatever went on, row by row. kind: COMPUTING and the others. start, stop: ns."""

    def __init__(self, facts: Facts, spill: Spill) -> None:
        self._spill = spill
        names = ("device", "kind", "start", "stop")
        self._device, self._kind, self._start, self._stop = spill.arrays(
            (
                [integers(rows, name) for name in names]
                for rows in read_parts(facts, " UNION ALL ".join(_busy(facts)))
            ),
            len(names),
            np.int64,
        )

    def devices(self) -> list[int]:
        """Numbers of the devices."""
        batches = self._spill.batches(len(self._device))
        return sorted({one for batch in batches for one in np.unique(self._device[batch]).tolist()})

    def overlaps(self, device: int) -> Iterator[tuple[str, Overlap]]:
        """The four kinds of time by window; nothing where a device has none."""
        works, sends = (
            long_union(self._spill, *self._spans(device, kind))
            for kind in (COMPUTING, COMMUNICATION)
        )
        bounds = {kind: self._bounds(device, kind) for kind in (TASK, MARK)}
        for name, others in WINDOWS.items():
            outer = window(ends(works), ends(sends), *(bounds[kind] for kind in others))
            if outer is not None and (len(works.start) or len(sends.start)):
                yield name, long_overlap(self._spill, works, sends, *outer)

    def _spans(self, device: int, kind: int) -> tuple[Integers, Integers]:
        rows = self._spill.where(
            lambda devices, kinds: (devices == device) & (kinds == kind), self._device, self._kind
        )
        return self._spill.taken(self._start, rows), self._spill.taken(self._stop, rows)

    def _bounds(self, device: int, kind: int) -> Integers:
        bounds = [self._spill.range_of(one) for one in self._spans(device, kind) if len(one)]
        return np.array(bounds, np.int64).reshape(-1)


def overlap(asked: Asked) -> pa.RecordBatchReader:
    """The four kinds of time of each device, by window."""
    spill = Spill()
    busy = _Busy(asked.facts, spill)
    return pa.RecordBatchReader.from_batches(SCHEMA, _batches(spill, busy))


def _batches(spill: Spill, busy: _Busy) -> Iterator[pa.RecordBatch]:
    for device in busy.devices():
        for name, found in busy.overlaps(device):
            for number, intervals in enumerate(found):
                for batch in spill.batches(len(intervals.start)):
                    yield _batch(device, name, number, intervals.start[batch], intervals.end[batch])


def _batch(device: int, window: str, kind: int, start: Integers, stop: Integers) -> pa.RecordBatch:
    """Rows that are alike. All batches have the same dictionaries: readers may keep the first."""
    rows = len(start)
    windows = chosen(list(WINDOWS), np.full(rows, list(WINDOWS).index(window)))
    kinds = chosen(KINDS, np.full(rows, kind))
    columns = [arrow(np.full(rows, device)), windows, kinds, arrow(start), arrow(stop)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _require_cores(facts: Facts) -> None:
    """Raises :class:`LacksColumn` where types of tasks do not state the cores, as on Ascend910."""
    ((others, known),) = facts.rows(
        "SELECT count(*) FILTER (\"Task Type\" = 'Other'), "
        f'count(*) FILTER ("Task Type" IN ({_listed(CORES)})) FROM layer.ascend_hardware'
    )
    if others > known:
        raise LacksColumn("Accelerator Core")


def _busy(facts: Facts) -> Iterator[str]:
    """Queries of device, kind, start and stop of whatever went on."""
    device = "coalesce(device, -1) AS device"
    yield (
        f"SELECT {device}, CASE kind WHEN 'mark' THEN {MARK} ELSE {TASK} END AS kind, ts AS start, "
        "end_ns AS stop FROM layer.ascend_hardware WHERE ts IS NOT NULL AND end_ns IS NOT NULL "
        f"AND coalesce(\"Task Type\", '') NOT IN ({_listed(KERNEL_TASKS)})"
    )
    if facts.columns("layer.communication"):
        yield (
            f"SELECT {device}, {COMMUNICATION} AS kind, ts AS start, end_ns AS stop "
            "FROM layer.communication WHERE kind = 'operator' AND ts IS NOT NULL "
            "AND end_ns IS NOT NULL"
        )
    file = next((file for file in FILES if facts.columns(f"csv.{file}")), None)
    if file is None:
        _require_cores(facts)
        yield (
            f"SELECT {device}, {COMPUTING} AS kind, ts AS start, end_ns AS stop "
            "FROM layer.ascend_hardware WHERE kind IN ('task', 'simt-task', 'timed-task') "
            f'AND ts IS NOT NULL AND end_ns IS NOT NULL AND "Task Type" IN ({_listed(CORES)}) '
            f"AND {_computes('name')}"
        )
        return
    names = FILES[file]
    has_device = DEVICE in facts.columns(f"csv.{file}")
    only = "(SELECT coalesce(min(device), -1) FROM layer.ascend_hardware)"
    start = quoted(names.start)
    yield (
        f"SELECT coalesce({quoted(DEVICE) if has_device else 'NULL'}, {only}) AS device, "
        f"{COMPUTING} AS kind, {start} AS start, {start} + ns({quoted(names.duration)}) AS stop "
        f"FROM csv.{file} WHERE {start} IS NOT NULL AND {quoted(names.duration)} IS NOT NULL "
        f"AND coalesce({quoted(names.core)}, '') NOT IN ({_listed(COMMUNICATION_TYPES)}) "
        f"AND {_computes(quoted(names.name))}"
    )


def _computes(name: str) -> str:
    """SQL for a name that is not that of a kernel of communication."""
    return " AND ".join(f"NOT ends_with({name}, '{end}')" for end in COMMUNICATION_KERNELS)


def _listed(texts: tuple[str, ...]) -> str:
    return ", ".join(map(text_literal, texts))
