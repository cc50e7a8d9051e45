"""From what happens in a specimen to the capture that a profiler makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, Literal, cast, get_type_hints

import numpy as np

from ascend_ref.capture import Batch, Capture, Counters, Integers, Origin, Switches, Texts
from ascend_ref.capture.model import NONE
from ascend_spec import per_spec

from ..world.small_tasks import enum_ids
from .instructions import instruction_tables
from .kernels import metrics
from .memory import take_memory
from .samples import sample_tables, system_calls
from .shape import Shape
from .world import PROCESS, SESSION_START_NS, Row, World

HOST_UID = 3_538_958_389_648_580_163
HOST_NAME = "node-1"
SAMPLES_PER_SECOND = 1_000


def record(world: World, shape: Shape) -> Capture:
    """The capture of a world that was played by the script."""
    group = world.add("groups", name=world.group, purpose="default_group", rank=shape.rank)
    group |= {"first": 0, "size": shape.ranks}
    for number, stack in enumerate(world.frames):
        for depth, frame in enumerate(stack):
            world.add("frames", stack=number, depth=depth, frame=frame)
    for call in system_calls(shape):
        world.add("system_calls", **call)
    if shape.with_memory:
        take_memory(world, shape)
    texts = Texts()
    tables: dict[str, Any] = {
        name: kind(**_columns(name, kind, world.rows[name], texts))
        for name, kind in _batches().items()
    }
    sampled = sample_tables(world, shape) | instruction_tables(world)
    return Capture(
        origin=_origin(world, shape),
        switches=_switches(shape),
        texts=texts,
        counters=_counters(world) if shape.with_pmu else Counters.empty(),
        group_ranks=np.arange(shape.ranks),
        samples={name: _sampled(found, texts) for name, found in sampled.items() if found},
        **tables,
    )


@cache
def _batches() -> Mapping[str, type[Batch]]:
    """The tables of a capture by name."""
    kinds = get_type_hints(Capture)
    return {
        one.name: kinds[one.name]
        for one in fields(Capture)
        if isinstance(kinds[one.name], type) and issubclass(kinds[one.name], Batch)
    }


ENUMS = {
    "calls.level": "ENUM_API_TYPE",
    "activities.kind": "ENUM_API_TYPE",
    "marks.kind": "ENUM_MSTX_EVENT_TYPE",
    "copies.operation": "ENUM_MEMCPY_OPERATION",
    "collectives.data_type": "ENUM_HCCL_DATA_TYPE",
    "transfers.data_type": "ENUM_HCCL_DATA_TYPE",
    "transfers.transport": "ENUM_HCCL_TRANSPORT_TYPE",
    "transfers.link": "ENUM_HCCL_LINK_TYPE",
}
"""Columns that hold ids of an enum, whose members stand in the rows."""


@per_spec
def _ids(column: str) -> Mapping[str, int]:
    return enum_ids(ENUMS[column]) if column in ENUMS else {}


def _columns(
    table: str, kind: type[Batch], rows: Sequence[Row], texts: Texts
) -> dict[str, Integers]:
    """Rows of numbers, words and references as columns of numbers."""
    names = [one.name for one in fields(kind)]
    enums = [_ids(f"{table}.{name}") for name in names]
    numbers = [
        [_number(row.get(name, NONE), enum, texts) for name, enum in zip(names, enums, strict=True)]
        for row in rows
    ]
    columns = np.array(numbers, np.int64).reshape(len(rows), len(names)).T
    return dict(zip(names, map(np.ascontiguousarray, columns), strict=True))


def _number(value: object, enum: Mapping[str, int], texts: Texts) -> int:
    if isinstance(value, Row):
        return value.number
    if isinstance(value, str):
        return enum[value] if enum else texts.number(value)
    return cast("int", value)


def _sampled(rows: Sequence[Mapping[str, object]], texts: Texts) -> dict[str, Any]:
    return {
        name: texts.numbers(str(row[name]) for row in rows)
        if isinstance(rows[0][name], str)
        else np.array([row[name] for row in rows])
        for name in rows[0]
    }


def _counters(world: World) -> Counters:
    counted = [(one["task"], metrics(one["task"], one["kind"])) for one in world.rows["kernels"]]
    found = [(task.number, values) for task, values in counted if values]
    if not found:
        return Counters.empty()
    return Counters(
        tuple(found[0][1]),
        np.array([number for number, _ in found]),
        np.array([list(values.values()) for _, values in found]),
    )


def _switches(shape: Shape) -> Switches:
    """The switches that a capture of this shape had."""
    sampled = SAMPLES_PER_SECOND if shape.with_samples else 0
    return Switches(
        level=cast("Literal[0, 1, 2]", shape.level),
        aic_metrics="PipeUtilization" if shape.with_pmu else None,
        memory=shape.with_memory,
        stack=shape.with_stack,
        mstx=shape.with_mstx,
        gc=shape.with_gc,
        sys_hardware_mem=sampled,
        sys_io=sampled,
        sys_interconnection=sampled,
        host_sys=("cpu", "mem", "disk", "network", "osrt") if shape.with_host else (),
    )


def _origin(world: World, shape: Shape) -> Origin:
    described = {
        "tensor_model_parallel_size": 1,
        "pipeline_model_parallel_size": 1,
        "data_parallel_size": shape.ranks,
        "context_parallel_size": 1,
        "expert_model_parallel_size": 1,
        "sequence_parallel": False,
        "rank": shape.rank,
        "world_size": shape.ranks,
    }
    return Origin(
        rank=shape.rank,
        ranks=shape.ranks,
        devices=world.devices,
        chip=shape.product,
        pid=PROCESS,
        host_name=HOST_NAME,
        host_uid=HOST_UID,
        start=SESSION_START_NS,
        end=world.session[1],
        metadata={"distributed_args": described},
    )
