"""What devices did when, computed again: the overlap analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.intervals import Intervals, joined, union
from ascend_ref.derive.overlap import (
    COMMUNICATION_KERNELS,
    KERNEL_TASKS,
    Overlap,
    hull,
    overlap,
    window,
)

from ..database import Facts, quoted, text_literal
from ..sources import Derived, Input
from .operators import DEVICE, FILES
from .reading import integers, read_parts

EMPTY = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
KINDS = ("computing", "communication", "not-overlapped", "free")
"""Kinds of slices of the layer, in the order of ENUM_OVERLAP_ANALYSIS_TYPE."""
CORES: tuple[str, ...] = (
    *("AI_CORE", "AI_VECTOR_CORE", "AI_CPU", "MIX_AIC", "MIX_AIV", "DSA", "DSA_SQE", "DVPP"),
    *("KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_AICPU", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV"),
)
"""Types of tasks that compute, where no file of operators tells which tasks do."""
COMMUNICATION_TYPES = ("COMMUNICATION", "HCCL", "HCCL_AI_CPU")
COMPUTING, COMMUNICATION, TASK, MARK = range(4)
"""What went on, as numbers: texts of every task would have to be made one by one."""
WINDOWS = {"marks": (TASK, MARK), "tasks": (TASK,), "unions": ()}
"""What bounds free time beside computing and communication: other tasks and the points of marks;
other tasks; nothing, as older writers have it (erratum T27)."""
SCHEMA = pa.schema(
    [
        ("device", pa.int64()),
        ("window", pa.dictionary(pa.int8(), pa.string())),
        ("kind", pa.dictionary(pa.int8(), pa.string())),
        ("start", pa.int64()),
        ("stop", pa.int64()),
    ]
)


@dataclass
class _Device:
    """What a device did: both unions, and the least and greatest bound of other tasks by kind."""

    works: Intervals = EMPTY
    sends: Intervals = EMPTY
    bounds: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, kind: Integers, start: Integers, stop: Integers) -> None:
        """Take in some rows."""
        works, sends = (
            union(start[chosen], stop[chosen])
            for chosen in (kind == COMPUTING, kind == COMMUNICATION)
        )
        self.works, self.sends = joined(self.works, works), joined(self.sends, sends)
        for one in (TASK, MARK):
            before = np.array(self.bounds.get(one, ()), np.int64)
            bounds = hull(before, start[kind == one], stop[kind == one])
            if bounds is not None:
                self.bounds[one] = bounds

    def overlap(self, others: Iterable[int]) -> Overlap | None:
        """The four kinds of time, within the bounds of these kinds of tasks."""
        if not len(self.works.start) and not len(self.sends.start):
            return None
        bounds = (np.array(self.bounds[one]) for one in others if one in self.bounds)
        within = window(self.works, self.sends, *bounds)
        return None if within is None else overlap(self.works, self.sends, *within)


def _overlap(facts: Facts) -> pa.Table:
    """The four kinds of time of each device, by window."""
    devices: dict[int, _Device] = {}
    for rows in read_parts(facts, " UNION ALL ".join(_busy(facts))):
        device, *columns = (integers(rows, name) for name in ("device", "kind", "start", "stop"))
        for number in np.unique(device).tolist():
            here = device == number
            devices.setdefault(number, _Device()).add(*(column[here] for column in columns))
    parts = [SCHEMA.empty_table()]
    for number in sorted(devices):
        for name, others in WINDOWS.items():
            found = devices[number].overlap(others)
            if found is not None:
                parts.append(_table(number, name, found))
    return pa.concat_tables(parts)


def _table(device: int, name: str, found: Overlap) -> pa.Table:
    counts = [len(part.start) for part in found]
    kinds = pa.array(np.repeat(np.arange(len(KINDS), dtype=np.int8), counts))
    windows = pa.array(np.zeros(len(kinds), np.int8))
    columns = [
        pa.repeat(pa.scalar(device, pa.int64()), len(kinds)),
        pa.DictionaryArray.from_arrays(windows, pa.array([name])),
        pa.DictionaryArray.from_arrays(kinds, pa.array(KINDS)),
        pa.array(np.concatenate([part.start for part in found])),
        pa.array(np.concatenate([part.end for part in found])),
    ]
    return pa.table(columns, schema=SCHEMA)


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
        yield (
            f"SELECT {device}, {COMPUTING} AS kind, ts AS start, end_ns AS stop "
            "FROM layer.ascend_hardware WHERE kind IN ('task', 'simt-task', 'timed-task') "
            f'AND ts IS NOT NULL AND end_ns IS NOT NULL AND "Task Type" IN ({_listed(CORES)}) '
            f"AND {_computes('name')}"
        )
        return
    names = FILES[file]
    told = DEVICE in facts.columns(f"csv.{file}")
    only = "(SELECT coalesce(min(device), -1) FROM layer.ascend_hardware)"
    start = quoted(names.start)
    yield (
        f"SELECT coalesce({quoted(DEVICE) if told else 'NULL'}, {only}) AS device, "
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


TABLES = (
    Derived(
        "overlap",
        "The four kinds of time of each device, by what bounds the free time; ns.",
        ("layer.ascend_hardware", "layer.overlap_analysis"),
        _overlap,
        takes=("layer.communication", *(f"csv.{file}" for file in FILES)),
        inputs=(
            Input("csv.op_summary", "Task Duration(us)"),
            Input("csv.kernel_details", "Duration(us)"),
            Input("trace.communication", "dur", "kind = 'operator'"),
        ),
    ),
)
