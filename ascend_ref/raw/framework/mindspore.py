"""What MindSpore itself records into ``FRAMEWORK``, since 2.3 (mindspore-present.md 4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Activities, Capture, Integers, Texts
from ascend_ref.capture.kinds import ENTERS, LEAVES, MARK, OP, QUEUE, TRACE
from ascend_ref.capture.model import NONE
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.mindspore.framework import TAGGED_RECORDS
from ascend_spec.raw.records import STEP_PREFIX

from ..clocks import Clock
from ..moments import MOMENTS, Moments
from .allocator import FRAMEWORK
from .events import FIRST_ADDRESS, PAGE
from .files import Spelled, write_record_file

OF_STEPS = "Python", "PythonObserved"
OF_OPERATORS = "PynativeFramework", "RunOp"
OF_LAUNCHES = "PynativeFramework", "PyNativeLaunchTask"
"""Module and event of what a capture holds."""
FLOW = "flow"
"""Name of the event at which work is handed on; readers show it as the start of an arrow."""
NO_FLOW = (1 << 64) - 1
GIVEN_BACK = (1 << 64) - 1
"""Size in the record of a block that is given back."""
TAKEN, FREE = "kernel", "other"
"""What a block is for (memory_types): that of an operator; of a free block MindSpore leaves it."""
LINE_BREAK, SEPARATOR = "|", ";\r\n"


class _Events(NamedTuple):
    """Events in the order in which they end. ``kind``: module and event, none of a function."""

    batch: Activities
    kind: list[tuple[str, str] | None]
    flow: Integers


def write_mindspore_framework(
    folder: Path, capture: Capture, day: str, rank: int, moments: Moments = MOMENTS
) -> None:
    """Write the files of a day (ISO) into the new folder; those of memory and shapes where their
    switches are on. Raises ``OSError``.

    A capture knows neither what ran on CPUs of the host nor what a graph did, so that there is no
    cpu_op_execute_timestamp, and every launch is that of an operator in PyNative mode.
    """
    folder.mkdir()
    if capture.switches.cpu:
        clock = moments.clocks(capture.origin.start).host
        _write_ranges(folder, capture, day, rank, clock)
        if capture.switches.record_shapes:
            _write_shapes(folder, capture, day)
    if capture.switches.memory:
        _write_blocks(folder, capture, day)
        _write_levels(folder, capture, day, rank)


def _path(folder: Path, kind: str, day: str, rank: int) -> Path | None:
    """The place of a kind of file, ``None`` where there is none on a day."""
    found = mindspore_catalog().files[kind]
    name = found.name_on(day) if DAYS.in_force(found, day) else None
    return None if name is None else folder / name.of(device=rank)


def _events(capture: Capture) -> _Events:
    activities = capture.activities
    named = _name_steps(capture)
    operator = (activities.kind == OP) | (activities.kind == MARK)
    queue = activities.kind == QUEUE
    kinds = (
        (operator & named, OF_STEPS),
        (operator & ~named, OF_OPERATORS),
        (queue & (activities.queue == LEAVES), OF_LAUNCHES),
        (queue & (activities.queue == ENTERS), None),
        (activities.kind == TRACE, None),
    )
    kind: list[tuple[str, str] | None] = [None] * len(activities)
    for mask, one in kinds:
        for row in np.flatnonzero(mask).tolist():
            kind[row] = one
    flow = np.where(queue, activities.link, NONE)
    order = np.argsort(activities.end, kind="stable")
    return _Events(activities.take(order), [kind[row] for row in order.tolist()], flow[order])


def _name_steps(capture: Capture) -> npt.NDArray[np.bool_]:
    """Which activities are called as steps are."""
    every = capture.texts.all
    is_step = np.array([*(one.startswith(STEP_PREFIX) for one in every), False], np.bool_)
    found: npt.NDArray[np.bool_] = is_step[capture.activities.name]
    return found


def _write_ranges(folder: Path, capture: Capture, day: str, rank: int, clock: Clock) -> None:
    found, texts = _events(capture), capture.texts.copy()
    batch = found.batch
    if not len(batch):
        return
    start, end = clock.ticks(batch.start), clock.ticks(batch.end)
    flow = np.where(found.flow == NONE, NO_FLOW, found.flow.astype(np.uint64))
    entered = (batch.kind == QUEUE) & (batch.queue == ENTERS)
    path = _path(folder, "op_range", day, rank)
    members = mindspore_catalog().files["op_range"].members_on(day)
    if path is None or not members:
        return
    member = members[0].record
    declared = TAGGED_RECORDS[member]
    steps = _steps(capture, batch.start)
    flow_name = texts.number(FLOW)
    if member == "RANGE":
        module, event = _numbers(found.kind)
        columns: dict[str, npt.NDArray[Any] | int] = {
            "thread_id": batch.thread,
            "flow_id": flow,
            "step": steps,
            "start_time_ns": start,
            "end_time_ns": end,
            "process_id": capture.origin.pid,
            "module_index": module,
            "event_index": event,
            "is_stack": (batch.kind == TRACE).astype(np.int64),
        }
        tagged = {
            "NAME": Spelled(np.where(entered, flow_name, batch.name)),
            "FULL_NAME": Spelled(np.where(entered, NONE, batch.name)),
        }
    else:
        columns = {
            "start_ns": start,
            "end_ns": end,
            "sequence_number": batch.sequence,
            "process_id": capture.origin.pid,
            "start_thread_id": batch.thread,
            "end_thread_id": batch.thread,
            "forward_thread_id": np.where(batch.forward_thread == NONE, 0, batch.forward_thread),
            "flow_id": flow,
            "step_id": steps,
        }
        shown = _shown(found.kind, batch.name, texts)
        tagged = {
            "NAME": Spelled(np.where(entered, flow_name, shown)),
            "INPUT_DTYPES": Spelled(batch.data_types, _on_one_line),
            "INPUT_SHAPES": Spelled(batch.shapes, _on_one_line),
        }
    write_record_file(path, declared, columns, texts, tagged)


def _steps(capture: Capture, moments: Integers) -> Integers:
    """The step in which each moment lies, 0 outside of all."""
    steps = capture.steps
    if not len(steps):
        return np.zeros(len(moments), np.int64)
    place = np.searchsorted(steps.start, moments, side="right") - 1
    inside = (place >= 0) & (moments <= steps.end[np.maximum(place, 0)])
    return np.where(inside, steps.number[np.maximum(place, 0)], 0)


def _numbers(kinds: list[tuple[str, str] | None]) -> tuple[Integers, Integers]:
    modules, events = (_numbers_of(name) for name in ("range_modules", "range_events"))
    found = [(modules[one[0]], events[one[1]]) if one else (0, 0) for one in kinds]
    both = np.array(found, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _numbers_of(vocabulary: str) -> Mapping[str, int]:
    members = mindspore_catalog().vocabularies[vocabulary].members
    return {str(one.name): int(one.value) for one in members}


def _shown(kinds: list[tuple[str, str] | None], names: Integers, texts: Texts) -> Integers:
    """The names as the older files have them: module, event and name in one."""
    every = texts.all
    return texts.numbers(
        "::".join((*kind, every[name])) if kind else every[name]
        for kind, name in zip(kinds, names.tolist(), strict=True)
    )


def _on_one_line(text: str) -> str:
    return text.replace(SEPARATOR, LINE_BREAK)


def _write_shapes(folder: Path, capture: Capture, day: str) -> None:
    path = _path(folder, "record_shapes", day, 0)
    if path is None:
        return
    activities = capture.activities
    rows = (activities.kind == OP) | (activities.kind == MARK)
    batch = activities.take(rows & (activities.shapes != NONE) & ~_name_steps(capture))
    tagged = {
        "NAME": Spelled(batch.name),
        "INPUT_SHAPES": Spelled(batch.shapes),
        "INPUT_TYPE": Spelled(batch.data_types),
    }
    write_record_file(path, TAGGED_RECORDS["RECORDED_SHAPES"], {}, capture.texts, tagged)


def _write_blocks(folder: Path, capture: Capture, day: str) -> None:
    """Each block that was taken, and its return; the pool sees no end of use."""
    path = _path(folder, "memory_usage", day, 0)
    if path is None:
        return
    blocks = capture.memory_blocks
    blocks = blocks.take((blocks.allocated != NONE) & (blocks.total_active != NONE))
    number = np.arange(len(blocks))
    freed = np.flatnonzero(blocks.released != NONE)
    row = np.concatenate([number, freed])
    is_free = np.arange(len(row)) >= len(blocks)
    time = np.where(is_free, blocks.released[row], blocks.allocated[row])
    order = np.argsort(time, kind="stable")
    row, is_free, time = row[order], is_free[order], time[order]

    def total(name: str) -> Integers:
        later, first = (getattr(blocks, f"{side}total_{name}") for side in ("release_", ""))
        values: Integers = np.where(is_free, later[row], first[row])
        return values

    purposes = _numbers_of("memory_types")
    used, reserved, active = total("allocated"), total("reserved"), total("active")
    columns: dict[str, npt.NDArray[Any] | int] = {
        "device_id": blocks.device[row],
        "tid": capture.origin.pid,
        "pid": capture.origin.pid,
        "create_at": time,
        "addr": FIRST_ADDRESS + PAGE * row,
        "size": np.where(is_free, GIVEN_BACK, blocks.size[row].astype(np.uint64)),
        "used_size": used,
        "peak_size": np.maximum.accumulate(used) if len(used) else used,
        "alloc_size": reserved,
        "used_by_event_size": np.maximum(active - used, 0),
        "stream_ptr": np.where(is_free, 0, blocks.stream[row]),
        "alloc_type": np.where(is_free, purposes[FREE], purposes[TAKEN]),
    }
    texts = capture.texts.copy()
    owner = Spelled(np.where(is_free, texts.number(""), blocks.name[row]))
    write_record_file(path, TAGGED_RECORDS["MEMORY_USAGE"], columns, texts, {"OWNER": owner})


def _write_levels(folder: Path, capture: Capture, day: str, rank: int) -> None:
    path = _path(folder, "cpu_memory", day, rank)
    (name,) = capture.texts.copy().numbers((FRAMEWORK,))
    totals = capture.memory_totals.take(capture.memory_totals.component == name)
    if path is None or not len(totals):
        return
    columns = (totals.time, totals.allocated, totals.reserved, totals.active)
    rows = zip(*(one.tolist() for one in columns), strict=True)
    titles = mindspore_catalog().grammars["cpu_memory"].lines["titles"].form.template
    lines = [titles, *(",".join(map(str, one)) for one in rows)]
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
