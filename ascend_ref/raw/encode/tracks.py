"""When the host launched tasks: a moment within the call that each of them belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts, greatest, groups, least, ranks, values_at
from ascend_ref.derive.tasks import task_batches

from ..binding import Tree
from ..vocabulary import level
from .calls import HostTicks
from .tree import RawTree

NOWHERE = 0
"""Thread of tasks that no recorded call launched."""


@dataclass(frozen=True)
class Tracks:
    """What the host launched: one row for each task, its sub-tasks together.

    task: the row of a task of the capture that stands for it, the whole one where there is one.
    of_task: for each task of the capture its row here. batch: how often the numbers of its stream
    had started again. thread, moment: of the launch, in ticks. misplaced: how many lie in no call
    or in another one than theirs, because it leaves no room.
    """

    task: Integers
    of_task: Integers
    batch: Integers
    thread: Integers
    moment: Integers
    misplaced: int


def place_tracks(capture: Capture, tree: RawTree, ticks: HostTicks, within: Integers) -> Tracks:
    """The launches of the tasks of a capture.

    within: for each task the row of the call that it was launched in, NONE for none; that of a
    communication task is the call of its own.
    """
    tasks = capture.tasks
    batch = task_batches(tasks.device, tasks.stream, tasks.number, tasks.start)
    whole = tasks.context == NONE
    order = np.lexsort((tasks.identity, ~whole))
    first, group = groups(
        tasks.device[order], tasks.stream[order], batch[order], tasks.number[order]
    )
    of_task = np.empty(len(order), np.int64)
    of_task[order] = group
    chosen = order[first]
    call = within[chosen]
    if len(capture.calls):
        inner = np.flatnonzero(values_at(capture.calls.level, within) == level("HCCL_NODE"))
        inner = inner[within[inner] >= 0]
        call[of_task[inner]] = within[inner]
    moment, thread, misplaced = _moments(capture, tree, ticks, chosen, call)
    return Tracks(chosen, of_task, batch[chosen], thread, moment, misplaced)


def _moments(
    capture: Capture, tree: RawTree, ticks: HostTicks, chosen: Integers, call: Integers
) -> tuple[Integers, Integers, int]:
    rows = np.full(len(capture.calls), NONE)
    rows[ticks.tree.place] = np.arange(len(ticks.tree.place))
    row = values_at(rows, call)
    thread = np.full(len(chosen), NOWHERE)
    moment = tree.host.host.ticks(capture.tasks.start[chosen])
    found = np.flatnonzero(row >= 0)
    if len(found):
        launch = np.lexsort((capture.tasks.identity[chosen[found]], row[found]))
        found = found[launch]
        thread[found] = ticks.tree.thread[row[found]]
        moment[found], crowded = moments_within(ticks.tree, row[found])
    else:
        crowded = 0
    return moment, thread, crowded + int(np.sum((call >= 0) & (row < 0)))


def moments_within(calls: Tree, rows: Integers) -> tuple[Integers, int]:
    """For each row of a tree a moment that lies in this call and in none that is part of it.

    Rows that name the same call follow each other; theirs ascend, and differ where there is room.
    Behind all parts, else before them. Returns as well how many have no such moment.
    """
    count = len(calls.place)
    inner = np.flatnonzero(calls.parents >= 0)
    owner = calls.parents[inner]
    behind = np.maximum(greatest(owner, calls.end[inner], count), calls.start)[rows]
    before = np.minimum(least(owner, calls.start[inner], count), calls.end)[rows]
    end, start = calls.end[rows], calls.start[rows]
    turn = ranks(rows)
    left = np.bincount(rows, minlength=count)[rows] - 1 - turn
    found = np.where(
        behind < end, np.maximum(end - left, behind + 1), np.maximum(before - left, start + 1)
    )
    crowded = (behind >= end) & (before <= start)
    return np.where(crowded, end, found), int(np.sum(crowded))


def launching_calls(capture: Capture, ticks: HostTicks) -> Integers:
    """For each task the row of the call by its connection; of communication that of its own task.

    Those calls are part of the one that the collective names; each is used for one task of its
    name, in order, as long as there are any, else the last one.
    """
    tasks = capture.tasks
    found = ticks.rows_of(tasks.connection)
    if not len(capture.transfers):
        return found
    calls, inner = capture.calls, ticks.tree
    hccl = np.flatnonzero(inner.level == level("HCCL_NODE"))
    node = inner.up_to(hccl, level("NODE"))
    hccl, node = hccl[node >= 0], inner.place[node[node >= 0]]
    if not len(hccl):
        return found
    transfers = capture.transfers
    task = task_rows(capture, transfers.task)
    own = found[task]
    order = np.lexsort((tasks.context[task], tasks.start[task], tasks.identity[task]))
    wanted = own[order] * len(capture.texts) + transfers.kind[order]
    having = node * len(capture.texts) + calls.name[inner.place[hccl]]
    place = counterparts(wanted, ranks(wanted), having)
    last = counterparts(own[order], ranks(own[order]), node, keep_last=True)
    chosen = np.where(place >= 0, place, last)
    known = chosen >= 0
    found[task[order[known]]] = inner.place[hccl[chosen[known]]]
    return found


def task_rows(capture: Capture, identities: Integers) -> Integers:
    """The rows of tasks by their identities."""
    every = capture.tasks.identity
    order = np.argsort(every)
    return order[np.searchsorted(every, identities, sorter=order)]
