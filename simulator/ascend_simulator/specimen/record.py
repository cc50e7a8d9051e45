"""From the things that happen in a specimen to the capture that a profiler makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ascend_ref.capture import (
    Activities,
    Batch,
    Capture,
    Collections,
    Collectives,
    Copies,
    Counters,
    Frames,
    Groups,
    HostCalls,
    KernelKinds,
    Kernels,
    Links,
    Marks,
    MemoryBlocks,
    MemoryTotals,
    Origin,
    Schedules,
    Steps,
    Switches,
    SystemCalls,
    Tasks,
    Texts,
    Transfers,
    WorkspaceEvents,
)
from ascend_ref.capture.model import NONE
from ascend_spec import catalog, per_spec

from .instructions import instruction_tables
from .kernels import NOT_KNOWN, output
from .memory import Memory, memory
from .metrics import metrics
from .samples import sample_tables, system_calls
from .shape import Shape
from .world import (
    FIRST_STEP,
    MAIN_THREAD,
    PROCESS,
    SESSION_START_NS,
    Activity,
    Call,
    Kernel,
    Link,
    Mark,
    Task,
    World,
)

HOST_UID = 3_538_958_389_648_580_163
HOST_NAME = "node-1"
SAMPLES_PER_SECOND = 1_000

BatchT = TypeVar("BatchT", bound=Batch)


def record(world: World, shape: Shape) -> Capture:
    """The capture of a world that was played by the script."""
    texts = Texts()
    held = memory(world, shape) if shape.with_memory else Memory()
    computing = sorted((one for one in world.tasks if one.kernel), key=lambda one: one.identity)
    kinds = list(dict.fromkeys(one.kernel for one in computing if one.kernel))
    stacks = {id(row): number for number, row in enumerate(_with_stack(world, shape))}
    rows: Mapping[type[Batch], Iterable[Sequence[object]]] = {
        Tasks: map(_task, world.tasks),
        KernelKinds: map(_kernel_kind, kinds),
        Kernels: ((one.identity, kinds.index(one.kernel)) for one in computing if one.kernel),
        Schedules: (
            (one.identity, one.schedules, "AI_CPU", one.schedules)
            for one in world.tasks
            if one.schedules
        ),
        Copies: ((one.identity, *one.copies) for one in world.tasks if one.copies),
        Groups: [(world.group, "default_group", shape.rank, 0, shape.ranks)],
        Collectives: (
            (
                *(one.name, one.kind, "MESH-RING", 0, one.call.connection, one.device, one.count),
                *(enum_id("ENUM_HCCL_DATA_TYPE", one.data_type), 0, 0, FIRST_STEP + one.step),
            )
            for one in world.collectives
        ),
        Transfers: _transfers(world),
        HostCalls: (
            (*_span(one), enum_id("ENUM_API_TYPE", one.level), one.thread, one.connection, one.name)
            for one in world.calls
        ),
        Activities: _activities(world.activities, stacks),
        Links: (
            (number, call.connection)
            for number, row in enumerate(world.activities)
            for call in row.calls
        ),
        Frames: (
            (stacks[id(row)], depth, frame)
            for row in _with_stack(world, shape)
            for depth, frame in enumerate(row.stack)
        ),
        Steps: ((FIRST_STEP + number, *span) for number, span in enumerate(world.steps)),
        Collections: ((*span, MAIN_THREAD) for span in world.collections),
        SystemCalls: system_calls(shape),
        Marks: (
            (
                *(*_span(one), enum_id("ENUM_MSTX_EVENT_TYPE", one.kind), PROCESS),
                *(one.message, one.domain, one.device_link),
            )
            for one in world.marks
        ),
        MemoryBlocks: held.blocks,
        MemoryTotals: held.totals,
        WorkspaceEvents: held.workspace_events,
    }
    tables: dict[str, Any] = {
        field.name: _batch(_BATCHES[field.name], rows[_BATCHES[field.name]], texts)
        for field in fields(Capture)
        if field.name in _BATCHES
    }
    sampled = sample_tables(world, shape) | instruction_tables(world)
    return Capture(
        origin=_origin(world, shape),
        switches=_switches(shape),
        texts=texts,
        counters=_counters(computing) if shape.with_pmu else Counters.empty(),
        group_ranks=np.arange(shape.ranks),
        samples={name: _columns(found, texts) for name, found in sampled.items() if found},
        **tables,
    )


_BATCHES: Mapping[str, type[Batch]] = {
    "tasks": Tasks,
    "kernel_kinds": KernelKinds,
    "kernels": Kernels,
    "schedules": Schedules,
    "copies": Copies,
    "groups": Groups,
    "collectives": Collectives,
    "transfers": Transfers,
    "calls": HostCalls,
    "activities": Activities,
    "links": Links,
    "frames": Frames,
    "steps": Steps,
    "collections": Collections,
    "system_calls": SystemCalls,
    "marks": Marks,
    "memory_blocks": MemoryBlocks,
    "memory_totals": MemoryTotals,
    "workspace_events": WorkspaceEvents,
}


@per_spec
def _ids(enum: str) -> Mapping[str, int]:
    return {member.name: member.id for member in catalog().enums[enum].members}


def enum_id(enum: str, name: str) -> int:
    """The id of a member, NONE for what a task does not have."""
    return NONE if name == "INVALID_TYPE" else _ids(enum)[name]


def _batch(kind: type[BatchT], rows: Iterable[Sequence[object]], texts: Texts) -> BatchT:
    """Rows of numbers and texts as columns of numbers."""
    numbers = [
        [texts.number(value) if isinstance(value, str) else value for value in row] for row in rows
    ]
    table = np.array(numbers, np.int64).reshape(len(numbers), len(fields(kind)))
    return kind(*(np.ascontiguousarray(column) for column in table.T))


def _columns(rows: Sequence[Mapping[str, object]], texts: Texts) -> dict[str, Any]:
    return {
        name: texts.numbers(str(row[name]) for row in rows)
        if isinstance(rows[0][name], str)
        else np.array([row[name] for row in rows])
        for name in rows[0]
    }


def _span(event: Call | Mark) -> tuple[int, int]:
    return event.start, event.end


def _task(task: Task) -> Sequence[object]:
    connection = task.connection
    if connection is None:
        connection = task.call.connection if task.call else NONE
    place = (task.device, task.stream, task.number, task.context, task.model)
    return task.start, task.end, *place, connection, task.identity, task.kind


def _kernel_kind(kernel: Kernel) -> Sequence[object]:
    simt = kernel.core == "AI_VECTOR_CORE"
    return (
        *(kernel.name, kernel.op_type, kernel.core),
        *(kernel.formats, kernel.data_types, kernel.shapes),
        *output(kernel),
        *(NOT_KNOWN, kernel.dynamic, kernel.hf32),
        *(("8,1,1", "128,1,1") if simt else (NOT_KNOWN, NOT_KNOWN)),
        *(kernel.blocks, 0),
    )


def _transfers(world: World) -> Iterable[Sequence[object]]:
    for number, operator in enumerate(world.collectives):
        for task in operator.tasks:
            if (one := task.transfer) is None:
                continue
            yield (
                *(task.identity, number, one.kind, one.plane, one.notify, one.source, one.target),
                one.size,
                enum_id("ENUM_HCCL_TRANSPORT_TYPE", one.transport),
                enum_id("ENUM_HCCL_LINK_TYPE", one.link),
                enum_id("ENUM_HCCL_DATA_TYPE", one.data_type),
                *(NONE, int(one.master)),
            )


def _with_stack(world: World, shape: Shape) -> list[Activity]:
    return [row for row in world.activities if row.stack] if shape.with_stack else []


def _activities(
    activities: Sequence[Activity], stacks: Mapping[int, int]
) -> Iterable[Sequence[object]]:
    links: dict[int, Link] = {id(row.link): row.link for row in activities if row.link}
    number_of = {key: number for number, key in enumerate(links)}
    for row in activities:
        queue = 0 if row.kind != "queue" else 1 if row.enters_queue else 2
        yield (
            *(row.start, row.end, row.thread, enum_id("ENUM_API_TYPE", row.kind), queue, row.name),
            *(row.sequence, row.forward_thread),
            *(NONE if text is None else text for text in (row.data_types, row.shapes)),
            *(stacks.get(id(row), NONE), number_of[id(row.link)] if row.link else NONE),
        )


def _counters(computing: Sequence[Task]) -> Counters:
    found = [(one.identity, metrics(one, one.kernel)) for one in computing if one.kernel]
    found = [(identity, values) for identity, values in found if values]
    if not found:
        return Counters.empty()
    return Counters(
        tuple(found[0][1]),
        np.array([identity for identity, _ in found]),
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
