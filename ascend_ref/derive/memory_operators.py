"""Which operator of the framework a block of memory counts as, by the moment it is taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Activities, Integers, Texts
from ascend_ref.capture.kinds import ENTERS, LEAVES, MARK, OP, QUEUE
from ascend_ref.capture.model import NONE

from .matching import counterparts, values_at
from .nesting import last_reaching, parents

AROUND_MEMORY = ("empty_tensor", "malloc_workspace")
"""Operators that only stand around the taking of memory (upstream-torch-npu
_memory_prepare_parser)."""
OF_QUEUE = ("aten::", "npu::", "atb::")
"""How operators begin that what leaves the queue of tasks can be done for (the same)."""


class MemoryOperators:
    """The operators of a capture, to be asked for moments at which threads take memory.

    Source: exporter of the framework, _get_op_name_of_record.
    """

    def __init__(self, activities: Activities, texts: Texts) -> None:
        kinds = (activities.kind == OP) | (activities.kind == MARK)
        rows = np.flatnonzero(kinds)
        rows = rows[np.argsort(activities.start[rows], kind="stable")]
        names = texts.all
        self.rows = rows
        self.batch = activities.take(rows)
        around = [number for number, one in enumerate(names) if one in AROUND_MEMORY]
        self._own = np.flatnonzero(~np.isin(self.batch.name, around))
        self._starts = _Starts.of(self.batch.thread[self._own], self.batch.start[self._own])
        queued = [number for number, one in enumerate(names) if one.startswith(OF_QUEUE)]
        self._done_for = _nearest(
            np.isin(self.batch.name, queued), parents(self.batch.start, self.batch.end)
        )
        queue = activities.kind == QUEUE
        leaving = np.flatnonzero(queue & (activities.queue == LEAVES))
        self._leaving = activities.take(
            leaving[np.argsort(activities.start[leaving], kind="stable")]
        )
        self._leaves = _Starts.of(self._leaving.thread, self._leaving.start)
        entering = activities.take(queue & (activities.queue == ENTERS))
        # Of several with one number the last one counts.
        self._entering = entering.take(np.argsort(entering.end, kind="stable")[::-1])

    def threads(self) -> Integers:
        """Threads on which memory may be taken for an operator."""
        return np.unique(np.concatenate([self.batch.thread, self._leaving.thread]))

    def at(self, time: Integers, thread: Integers) -> Integers:
        """For each moment and thread the row of the operator in the activities, NONE without one.

        That is the last operator that began on the thread, or the innermost one of any thread
        around it that is not over yet. What leaves the queue at that moment is done for the
        operator in which it entered.
        """
        found = self._around(time, self._last(time, thread))
        left = self._leaves.last(thread, time)
        inside = left != NONE
        inside[inside] = time[inside] < self._leaving.end[left[inside]]
        if inside.any():
            link = self._leaving.link[left[inside]]
            entry = counterparts(link, 0, self._entering.link)
            entry[link == NONE] = NONE
            known = entry != NONE
            of_queue = np.full(len(link), NONE)
            entered = self._entering.take(entry[known])
            last = self._last(entered.end, entered.thread)
            of_queue[known] = values_at(self._done_for, last)
            found[inside] = of_queue
        return values_at(self.rows, found)

    def _last(self, time: Integers, thread: Integers) -> Integers:
        """The last operator that began on the thread until then."""
        return values_at(self._own, self._starts.last(thread, time))

    def _around(self, time: Integers, last: Integers) -> Integers:
        return last_reaching(self.batch.end, last + 1, time)


class _Starts(NamedTuple):
    """Starts on threads, ordered by both. ``keys``: place of the thread, then of the moment."""

    threads: Integers
    moments: Integers
    keys: Integers
    order: Integers

    @classmethod
    def of(cls, thread: Integers, start: Integers) -> _Starts:
        threads, place = np.unique(thread, return_inverse=True)
        moments, turn = np.unique(start, return_inverse=True)
        keys = place.reshape(-1) * (len(moments) + 1) + turn.reshape(-1) + 1
        order = np.argsort(keys, kind="stable")
        return cls(threads, moments, keys[order], order)

    def last(self, thread: Integers, time: Integers) -> Integers:
        """The row of the last start on a thread until a moment, NONE without one."""
        if not len(self.keys):
            return np.full(len(time), NONE)
        place = np.searchsorted(self.threads, thread).clip(max=len(self.threads) - 1)
        wanted = place * (len(self.moments) + 1)
        found = np.searchsorted(
            self.keys, wanted + np.searchsorted(self.moments, time, "right"), "right"
        )
        known = (found > np.searchsorted(self.keys, wanted, "left")) & (
            self.threads[place] == thread
        )
        return np.where(known, self.order[np.maximum(found - 1, 0)], NONE)


def _nearest(right: npt.NDArray[np.bool_], parent: Integers) -> Integers:
    """For each call itself or the nearest one around it that is right, NONE without one."""
    end = len(parent)
    place = np.arange(end)
    # A place behind all stands for none; each round takes twice as many steps outwards.
    towards = np.append(np.where(right, place, np.where(parent == NONE, end, parent)), end)
    while True:
        further = towards[towards]
        if np.array_equal(further, towards):
            return np.where(towards[:-1] == end, NONE, towards[:-1])
        towards = further
