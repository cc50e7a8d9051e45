"""Numbers of the device's streams, and of the tasks on them."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.derive.tasks import TASK_NUMBERS

from .compiled import Compiled
from .coupled import channel

PROFILING_STREAM = 0
COMPUTE_STREAM = 2
OTHER_STREAM = 3
FIRST_COMMUNICATION_STREAM = 4
PLANES_FROM = 100
FIRST_TASK = 107


def communication_streams(compiled: Compiled) -> Integers:
    """The stream of each collective of a program."""
    numbers: dict[object, int] = {}
    return np.array(
        [
            numbers.setdefault(channel(item), FIRST_COMMUNICATION_STREAM + len(numbers))
            for _, item in compiled.collectives
        ],
        np.int64,
    )


def task_numbers(order: Integers) -> Integers:
    """taskId of the tasks that stand at these places of their stream."""
    return (FIRST_TASK + order) % TASK_NUMBERS


def numbered(stream: Integers, start: Integers) -> Integers:
    """taskId of tasks in any order; tasks that start together keep their order."""
    order = np.lexsort((start, stream))
    starts = np.flatnonzero(np.diff(stream[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    numbers = np.empty_like(order)
    numbers[order] = task_numbers(place)
    return numbers


def unique_numbers(start: Integers) -> Integers:
    """taskId of all tasks of a device, where no two of them share one."""
    numbers = np.empty(len(start), np.int64)
    numbers[np.argsort(start, kind="stable")] = FIRST_TASK + np.arange(len(start))
    return numbers


def plane_streams(stream: int, plane: Integers) -> Integers:
    """Without FFTS+ every plane beyond the first has a stream of its own."""
    return np.where(plane > 0, PLANES_FROM * stream + plane, stream)
