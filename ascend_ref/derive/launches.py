"""Which launches of kernels an operator of the framework led to, by times and the task queue."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Activities, Capture, HostCalls, Integers, Links
from ascend_ref.capture.kinds import ENTERS, LEAVES, NODE, OP, QUEUE
from ascend_ref.capture.model import NONE
from ascend_spec.raw.records import MARK_PREFIX

from .matching import counterparts, values_at
from .nesting import last_reaching

LAUNCH = "launch"


def launches(capture: Capture) -> Links:
    """The links of a capture, by operator and connection.

    A launch belongs to what leaves the queue around it on its thread, that to what enters the queue
    with the same number, and that to the innermost operator around it on its own thread. Where
    nothing passes a queue the innermost operator around the launch itself is taken. What is around
    another begins before it and ends after it. Source: exporter of the framework,
    get_torch_op_connection_ids_with_cann_api.
    """
    activities = capture.activities
    calls = _launching(capture)
    operators = _operators(capture)
    entering, leaving = (
        np.flatnonzero((activities.kind == QUEUE) & (activities.queue == side))
        for side in (ENTERS, LEAVES)
    )
    inner: Activities | HostCalls = calls
    made = np.arange(len(calls))
    if len(entering) and len(leaving):
        out = _around(calls, activities, leaving)
        link = values_at(activities.link, out)
        into = counterparts(np.where(out == NONE, NONE, link), 0, activities.link[entering])
        made = np.flatnonzero((out != NONE) & (into != NONE))
        inner = activities.take(entering[into[made]])
    operator = _around(inner, activities, operators)
    found = operator != NONE
    rows, connections = operator[found], calls.connection[made[found]]
    order = np.lexsort((connections, rows))
    return Links(rows[order], connections[order])


def _launching(capture: Capture) -> HostCalls:
    names = [row for row, text in enumerate(capture.texts.all) if text == LAUNCH]
    calls = capture.calls
    return calls.take((calls.level == NODE) & np.isin(calls.name, names))


def _operators(capture: Capture) -> Integers:
    activities = capture.activities
    marks = [row for row, text in enumerate(capture.texts.all) if text.startswith(MARK_PREFIX)]
    return np.flatnonzero((activities.kind == OP) & ~np.isin(activities.name, marks))


def _around(inner: Activities | HostCalls, activities: Activities, rows: Integers) -> Integers:
    """For each call the last of these activities that has begun before it on its thread and ends
    after it, NONE without one.
    """
    if not len(rows) or not len(inner):
        return np.full(len(inner), NONE)
    order = np.lexsort((-activities.end[rows], activities.start[rows], activities.thread[rows]))
    outer = activities.take(rows[order])
    # Times by their places among all, so that threads follow each other however long they are.
    bounds = np.unique(np.concatenate([outer.start, outer.end, inner.start, inner.end]))
    threads = np.unique(outer.thread)

    def ranked(thread: Integers, moment: Integers) -> Integers:
        place: Integers = np.searchsorted(threads, thread) * (len(bounds) + 1)
        return place + np.searchsorted(bounds, moment)

    before = np.searchsorted(ranked(outer.thread, outer.start), ranked(inner.thread, inner.start))
    found = last_reaching(
        ranked(outer.thread, outer.end), before, ranked(inner.thread, inner.end) + 1
    )
    known: npt.NDArray[np.bool_] = found != NONE
    known &= outer.thread[np.where(known, found, 0)] == inner.thread
    return np.where(known, rows[order][np.where(known, found, 0)], NONE)
