"""What devices did when, computed again: the overlap analysis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.derive.intervals import union
from ascend_ref.derive.overlap import COMMUNICATION_KERNELS, KERNEL_TASKS, Overlap, overlap, window

from ..database import Facts, quoted, text_literal
from ..sources import Derived, Input
from .operators import DEVICE, FILES
from .reading import integers, read

KINDS = ("computing", "communication", "not-overlapped", "free")
"""Kinds of slices of the layer, in the order of ENUM_OVERLAP_ANALYSIS_TYPE."""
CORES: tuple[str, ...] = (
    *("AI_CORE", "AI_VECTOR_CORE", "AI_CPU", "MIX_AIC", "MIX_AIV", "DSA", "DSA_SQE", "DVPP"),
    *("KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_AICPU", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV"),
)
"""Types of tasks that compute, where no file of operators tells which tasks do."""
COMMUNICATION_TYPES = ("COMMUNICATION", "HCCL", "HCCL_AI_CPU")
WINDOWS = {"marks": ("task", "mark"), "tasks": ("task",), "unions": ()}
"""What bounds free time beside computing and communication: other tasks and the points of marks;
other tasks; nothing, as older writers have it (erratum T27)."""
SCHEMA = pa.schema(
    [
        ("device", pa.int64()),
        ("window", pa.string()),
        ("kind", pa.string()),
        ("start", pa.int64()),
        ("stop", pa.int64()),
    ]
)


def _overlap(facts: Facts) -> pa.Table:
    """The four kinds of time of each device, by window."""
    rows = read(facts, " UNION ALL ".join(_busy(facts)))
    device, start, stop = (integers(rows, name) for name in ("device", "start", "stop"))
    kind = np.array(rows["kind"].to_pylist(), np.str_)
    parts = [SCHEMA.empty_table()]
    for one in np.unique(device).tolist():
        here = device == one
        works, sends = (
            union(start[chosen], stop[chosen])
            for chosen in (here & (kind == name) for name in KINDS[:2])
        )
        if not len(works.start) and not len(sends.start):
            continue
        for name, others in WINDOWS.items():
            bounding = here & np.isin(kind, others)
            bounds = window(works, sends, start[bounding], stop[bounding])
            if bounds is not None:
                parts.append(_table(one, name, overlap(works, sends, *bounds)))
    return pa.concat_tables(parts)


def _table(device: int, name: str, found: Overlap) -> pa.Table:
    kinds = [[kind] * len(part.start) for kind, part in zip(KINDS, found, strict=True)]
    named = [text for texts in kinds for text in texts]
    columns = [
        pa.array([device] * len(named), pa.int64()),
        pa.array([name] * len(named), pa.string()),
        pa.array(named, pa.string()),
        pa.array(np.concatenate([part.start for part in found])),
        pa.array(np.concatenate([part.end for part in found])),
    ]
    return pa.table(columns, schema=SCHEMA)


def _busy(facts: Facts) -> Iterator[str]:
    """Queries of device, kind, start and stop of whatever went on."""
    device = "coalesce(device, -1) AS device"
    yield (
        f"SELECT {device}, CASE kind WHEN 'mark' THEN 'mark' ELSE 'task' END AS kind, ts AS start, "
        "end_ns AS stop FROM layer.ascend_hardware WHERE ts IS NOT NULL AND end_ns IS NOT NULL "
        f"AND coalesce(\"Task Type\", '') NOT IN ({_listed(KERNEL_TASKS)})"
    )
    if facts.columns("layer.communication"):
        yield (
            f"SELECT {device}, 'communication' AS kind, ts AS start, end_ns AS stop "
            "FROM layer.communication WHERE kind = 'operator' AND ts IS NOT NULL "
            "AND end_ns IS NOT NULL"
        )
    file = next((file for file in FILES if facts.columns(f"csv.{file}")), None)
    if file is None:
        yield (
            f"SELECT {device}, 'computing' AS kind, ts AS start, end_ns AS stop "
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
        f"'computing' AS kind, {start} AS start, {start} + ns({quoted(names.duration)}) AS stop "
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
