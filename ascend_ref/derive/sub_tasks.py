"""Which tasks task_time shows: a task that consists of parts is shown once, or not at all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.batch import Integers

from .decimals import Engine
from .matching import NONE, groups, least, ranks

Mask = npt.NDArray[np.bool_]


def shown_tasks(
    key: Integers, context: Integers, start: Integers, end: Integers, engine: Engine
) -> Mask:
    """Which rows are shown; ``key`` is one number for each device, stream and task id.

    ``context`` is NONE for a task as a whole. Rows of one task are a group. The Python engine drops
    a group with a context above 0, an FFTS+ task; of others it keeps the rows of context 0, those
    of a mixed kernel, or all where there is none. The C++ engine looks no further than the first
    context above 0: only the rows of context 0 stay where one came before, else all of them
    (erratum T38). Source: text-outputs.md 3.2.

    Numbers of tasks are used again after an overflow, so a group ends where a context repeats, or
    where a whole task begins after everything before it has ended.
    """
    if not len(key):
        return np.zeros(0, np.bool_)
    order = np.lexsort((context, start, key))
    first, group = groups(_runs(key[order], context[order], start[order], end[order]))
    context, count = context[order], len(first)
    place = np.arange(len(order))
    first_part, first_zero = (
        least(group[kind], place[kind], count) for kind in (context > 0, context == 0)
    )
    has_parts, has_zero = first_part < len(order), first_zero < len(order)
    if engine == "python":
        dropped, only_zero = has_parts, has_zero
    else:
        dropped, only_zero = np.zeros(count, np.bool_), has_zero & (first_zero < first_part)
    alone = np.bincount(group) == 1
    kept = alone[group] | (~dropped[group] & (~only_zero[group] | (context == 0)))
    shown = np.empty(len(order), np.bool_)
    shown[order] = kept
    return shown


def _runs(key: Integers, context: Integers, start: Integers, end: Integers) -> Integers:
    """A number for each run of each task; rows are in order of key and start."""
    begins = np.ones(len(key), np.bool_)
    begins[1:] = key[1:] != key[:-1]
    task = np.cumsum(begins) - 1
    # Ends by their rank, raised with each task, so that one running maximum serves all tasks.
    ends = np.sort(end)
    reached = np.maximum.accumulate(task * len(key) + np.searchsorted(ends, end))
    before = ends[np.append(0, reached[:-1]) % len(key)]
    begins[1:] |= (context[1:] == NONE) & (start[1:] >= before[1:])
    _, part = groups(np.cumsum(begins), context)
    _, run = groups(np.cumsum(begins), ranks(part))
    return run
