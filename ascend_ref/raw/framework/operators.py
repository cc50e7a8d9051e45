"""``torch.op_range``: operators of the framework, with their call stacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Activities, Capture, Frames, Integers, Texts
from ascend_ref.capture.kinds import MARK, OP
from ascend_ref.capture.model import NONE
from ascend_spec.raw.records import STEP_PREFIX

from ..clocks import Clock
from .files import Files, Spelled, write_records
from .order import enclosing_first

RECORD = "OP_RANGE"
SEPARATOR = ";"
SHOWN_SEPARATOR = ";\r\n"
"""What stands between texts of a record, and what readers show in its place
(upstream-torch-npu REPLACE_FIELDS)."""

BACKWARD, USER = 1, 7
"""Kinds of recorded functions: of the backward pass, and of the program (ATen RecordScope)."""


class Operators(NamedTuple):
    """Operators in order of start, and the frames of their call stacks, which count from 0.

    ``process``: that of the first one in the file, ``None`` without any.
    """

    activities: Activities
    frames: Frames
    process: int | None


def is_operator(activities: Activities) -> Integers:
    """Rows of operators, those that set marks included."""
    return np.flatnonzero((activities.kind == OP) | (activities.kind == MARK))


def write_operators(capture: Capture, folder: Path, clock: Clock) -> None:
    """Write the operators of a capture in order of their ends, as the adapter reports them."""
    rows = is_operator(capture.activities)
    batch = capture.activities.take(rows)
    outer = enclosing_first(batch.start, batch.end, rows)
    turn = np.empty(len(rows), np.int64)
    turn[outer] = np.arange(len(rows))
    # Of those that end at one moment the inner ones are reported first.
    batch = batch.take(np.lexsort((-turn, batch.end)))
    texts = capture.texts.copy()
    stacks = _joined_stacks(capture.frames, texts)
    forward = np.where(batch.forward_thread == NONE, 0, batch.forward_thread)
    columns: dict[str, npt.NDArray[Any] | int] = {
        "start_ns": clock.ticks(batch.start),
        "end_ns": clock.ticks(batch.end),
        "sequence_number": batch.sequence,
        "process_id": capture.origin.pid,
        "start_thread_id": batch.thread,
        "end_thread_id": batch.thread,
        "forward_thread_id": forward,
        "scope": np.where(forward != 0, BACKWARD, np.where(_is_step(batch, texts), USER, 0)),
    }
    tagged = {
        "NAME": Spelled(batch.name),
        "INPUT_DTYPES": Spelled(batch.data_types, stored),
        "INPUT_SHAPES": Spelled(batch.shapes, stored),
        "STACK": Spelled(stacks[batch.stack]),
    }
    write_records(folder, RECORD, columns, texts, tagged)


def _is_step(batch: Activities, texts: Texts) -> npt.NDArray[np.bool_]:
    every = texts.all
    used = np.unique(batch.name)
    steps = [one for one in used.tolist() if one >= 0 and every[one].startswith(STEP_PREFIX)]
    return np.isin(batch.name, steps)


def _joined_stacks(frames: Frames, texts: Texts) -> Integers:
    """For each number of a stack that of its frames as one text, and NONE at the end."""
    number, begin, length, frame = stacks_of(frames)
    found = np.full(int(number.max(initial=NONE)) + 2, NONE)
    every, frame_list = texts.all, frame.tolist()
    # Many stacks are equal, and one text for each of these is enough.
    known: dict[tuple[int, ...], int] = {}
    for one, first, count in zip(number.tolist(), begin.tolist(), length.tolist(), strict=True):
        path = tuple(frame_list[first : first + count])
        if path not in known:
            known[path] = texts.number(SEPARATOR.join(every[part] for part in path))
        found[one] = known[path]
    return found


class Stacks(NamedTuple):
    """Call stacks by their numbers, ascending; ``begin``: where each begins in ``frame``."""

    number: Integers
    begin: Integers
    length: Integers
    frame: Integers


def stacks_of(frames: Frames) -> Stacks:
    """The stacks of frames, innermost frame first."""
    order = np.lexsort((frames.depth, frames.stack))
    number, begin = np.unique(frames.stack[order], return_index=True)
    length = np.diff(np.append(begin, len(order)))
    return Stacks(number, begin.astype(np.int64), length.astype(np.int64), frames.frame[order])


def with_own_stacks(operators: Activities, frames: Frames) -> tuple[Activities, Frames]:
    """The operators, each with a call stack of its own, counted from 0 in their order."""
    number, begin, length, frame = stacks_of(frames)
    place = np.searchsorted(number, operators.stack).clip(max=max(len(number) - 1, 0))
    having = np.isin(operators.stack, number)
    stack = np.where(having, np.cumsum(having) - 1, NONE)
    chosen = place[having]
    return replace(operators, stack=stack), _repeated(begin[chosen], length[chosen], frame)


def _repeated(begin: Integers, length: Integers, frame: Integers) -> Frames:
    """The frames of one stack after the other."""
    stack = np.repeat(np.arange(len(length)), length)
    depth = np.arange(len(stack)) - np.repeat(np.cumsum(length) - length, length)
    return Frames(stack, depth, frame[np.repeat(begin, length) + depth])


def stored(text: str) -> str | None:
    """Types or shapes as a record has them, ``None`` where there are none."""
    return text.replace(SHOWN_SEPARATOR, SEPARATOR) or None


def shown(text: str) -> str | None:
    """Types or shapes as readers show them, ``None`` where there are none."""
    return text.replace(SEPARATOR, SHOWN_SEPARATOR) or None


def read_operators(files: Files, texts: Texts) -> Operators:
    """The operators of a folder."""
    every = files.read(RECORD)
    process = int(every.numbers("process_id")[0]) if len(every) else None
    records, (start, end) = files.times(every, "start_ns", "end_ns")
    # Of those that end at one moment the outer ones are last in the file.
    order = enclosing_first(start, end, -np.arange(len(records)))
    records = records.take(order)
    forward = records.numbers("forward_thread_id")

    def text(name: str, reading: Callable[[str], str | None] = str) -> Integers:
        return records.texts(name, texts, files.damage, reading)

    column = records.column("STACK")
    having = np.array([*(bool(one) for one in column.distinct), False], np.bool_)[column.place]
    name = text("NAME")
    activities = Activities.filled(
        len(records),
        start=start[order],
        end=end[order],
        thread=records.numbers("start_thread_id"),
        kind=OP,
        queue=0,
        name=np.where(name == NONE, texts.number(""), name),
        sequence=records.numbers("sequence_number"),
        forward_thread=forward,
        data_types=text("INPUT_DTYPES", shown),
        shapes=text("INPUT_SHAPES", shown),
        stack=np.where(having, np.cumsum(having) - 1, NONE),
        link=NONE,
    )
    decoded = records.decoded("STACK", column.distinct, files.damage)
    paths = [texts.numbers(one.split(SEPARATOR)) for one in decoded]
    lengths = np.array([len(one) for one in paths], np.int64)
    place = column.place[having]
    flat = np.concatenate([np.empty(0, np.int64), *paths])
    frames = _repeated((np.cumsum(lengths) - lengths)[place], lengths[place], flat)
    return Operators(activities, frames, process)
