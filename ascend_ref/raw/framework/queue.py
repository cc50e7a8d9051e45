"""``torch.op_mark``: what enters the queue of tasks and leaves it, as the moments of both ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ascend_ref.capture import Activities, Capture, Integers, Texts
from ascend_ref.capture.kinds import ENTERS, LEAVES, QUEUE

from ..clocks import Clock
from ..damage import Damage
from .files import Files, Spelled, write_records
from .order import enclosing_first

RECORD = "OP_MARK"


def write_queue(capture: Capture, folder: Path, clock: Clock) -> None:
    """Write the entries of a capture in order of time."""
    batch = capture.activities.take(capture.activities.kind == QUEUE)
    batch = batch.take(enclosing_first(batch.start, batch.end, np.arange(len(batch))))
    ends = np.tile([0, 1], len(batch))
    entry = np.repeat(np.arange(len(batch)), 2)
    time = np.where(ends, clock.ticks(batch.end)[entry], clock.ticks(batch.start)[entry])
    order = np.argsort(time, kind="stable")
    entry, ends, time = entry[order], ends[order], time[order]
    columns = {
        "time_ns": time,
        "category": 2 * (batch.queue[entry] == LEAVES) + ends,
        "correlation_id": batch.link[entry],
        "thread_id": batch.thread[entry],
        "process_id": capture.origin.pid,
    }
    write_records(folder, RECORD, columns, capture.texts, {"NAME": Spelled(batch.name[entry])})


def read_queue(files: Files, texts: Texts) -> Activities:
    """The entries of a folder: first what enters, then what leaves, each in order of start.

    The end of an entry belongs to the mark of its thread, side and name just before it, if that is
    a start (upstream-torch-npu get_task_queue_data). Marks that have no other end are damage.
    """
    records, (time,) = files.times(files.read(RECORD), "time_ns")
    category = records.rows["category"].astype(np.uint64)
    known = category < 4
    if not known.all():
        text = f"{int(np.sum(~known)):,} marks of an unknown category; expected 0 to 3"
        first = int(records.tagged.offset[np.flatnonzero(~known)[0]])
        files.damage.append(Damage(records.path, text, first))
        records, time, category = records.take(known), time[known], category[known]
    name = records.texts("NAME", texts, files.damage)
    name = np.where(name < 0, texts.number(""), name)
    thread, side = records.numbers("thread_id"), (category // 2).astype(np.int64)
    is_end = category % 2 == 1
    order = np.lexsort((np.arange(len(time)), time, name, thread, side))
    keys = np.stack([side, thread, name])[:, order]
    same = np.append(False, (keys[:, 1:] == keys[:, :-1]).all(axis=0))[: len(order)]
    begins = np.append(False, ~is_end[order][:-1])[: len(order)]
    closing = np.flatnonzero(is_end[order] & same & begins)
    start, end = order[closing - 1], order[closing]
    alone = len(order) - 2 * len(closing)
    if alone:
        text = f"{alone:,} marks of the queue without their other end"
        files.damage.append(Damage(records.path, text))
    queue = np.where(side[start] == 0, ENTERS, LEAVES)
    correlation = records.numbers("correlation_id")[end]
    found = Activities.filled(
        len(start),
        start=time[start],
        end=time[end],
        thread=thread[start],
        kind=QUEUE,
        queue=queue,
        name=name[start],
        link=dense(correlation),
    )
    return found.take(np.lexsort((end, -found.end, found.start, found.queue)))


def dense(numbers: Integers) -> Integers:
    """The numbers of links, which are unsigned, counted from 0 in the order that they have."""
    _, place = np.unique(numbers.view(np.uint64), return_inverse=True)
    found: Integers = place.reshape(-1).astype(np.int64)
    return found
