"""Tasks that the log of the scheduler has, and another file as well."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.spill import Spill
from ascend_spec.mindspore import TASK_NUMBERS

from .clock import TICK
from .found import Runs


def rows_of_log(runs: Runs, others: Mapping[str, Integers], spill: Spill) -> Integers:
    """The row of ``runs`` that is the same task as each of ``others``, or NONE.

    others: columns of start, end, stream and task. The same is one with their stream and number
    that runs in their time, since numbers are used again; each row is the task of one of them.
    Kernels of AI CPUs and parts of collectives are tasks that the scheduler starts and ends too.
    """
    keys = _key(others["stream"], others["task"])
    found = np.full(len(keys), NONE)
    distinct = np.unique(keys)
    rows = spill.where(
        lambda stream, task: np.isin(_key(stream, task), distinct), runs.stream, runs.task
    )
    if not len(rows):
        return found
    start, end, stream, task = (
        spill.taken(one, rows) for one in (runs.start, runs.end, runs.stream, runs.task)
    )
    key = _key(stream, task)
    order = np.lexsort((start, key))
    rows, start, end, key = (one[order] for one in (rows, start, end, key))
    first = np.searchsorted(key, keys)
    for one, (begin, stop) in enumerate(
        zip(first.tolist(), np.searchsorted(key, keys, "right").tolist(), strict=True)
    ):
        # Both times of a task are rounded to ticks.
        latest = int(others["end"][one]) + TICK
        place = begin + int(np.searchsorted(start[begin:stop], latest, "right")) - 1
        if place >= begin and end[place] + TICK >= others["start"][one]:
            found[one] = rows[place]
    _, taken = np.unique(found, return_index=True)
    is_first = np.zeros(len(found), np.bool_)
    is_first[taken] = True
    return np.where(is_first, found, NONE)


def _key(stream: Integers, task: Integers) -> Integers:
    return stream * TASK_NUMBERS + task
