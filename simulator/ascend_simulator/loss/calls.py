"""A capture of some host calls and what they launched, as if nothing else had run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from ascend_ref.capture import Capture, Collectives, HostCalls, Integers
from ascend_ref.capture.model import NONE

from ..world.layout import operator_names
from .without import without_tasks


def outermost_calls(calls: HostCalls) -> Integers:
    """For each row the number of the outermost call that it is, or is inside of, on its thread.

    They are counted from 0 in order of start.
    """
    outer = np.empty(len(calls), np.int64)
    for thread in np.unique(calls.thread):
        rows = np.flatnonzero(calls.thread == thread)
        ends = np.maximum.accumulate(calls.end[rows])
        begins = np.append(True, calls.start[rows[1:]] >= ends[:-1])
        outer[rows] = rows[np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))]
    found: Integers = np.unique(outer, return_inverse=True)[1].reshape(-1)
    return found


def with_calls(capture: Capture, kept: Collection[int]) -> Capture:
    """With only some of the outermost calls, and without the tasks that others launched.

    ``kept``: numbers of :func:`outermost_calls`. Tasks that no call launched stay, and so do
    samples, marks and all of the framework but its links to the calls that are gone. Collectives
    are counted anew, as their names count what was recorded.
    """
    calls = capture.calls
    stays = np.isin(outermost_calls(calls), list(kept))
    gone = calls.connection[~stays]
    held = ~np.isin(capture.collectives.connection, gone)
    of_gone = ~held[capture.transfers.collective]
    lost = np.isin(capture.tasks.connection, gone)
    lost |= np.isin(capture.tasks.identity, capture.transfers.task[of_gone])
    left = without_tasks(capture, lost)
    number = np.where(held, np.cumsum(held) - 1, NONE)
    transfers = left.transfers
    return replace(
        left,
        calls=calls.take(stays),
        collectives=_counted(capture, capture.collectives.take(held)),
        transfers=replace(transfers, collective=number[transfers.collective]),
        links=capture.links.take(~np.isin(capture.links.connection, gone)),
    )


def _counted(capture: Capture, left: Collectives) -> Collectives:
    """Collectives with the names that they have where no other one was recorded."""
    texts = capture.texts.all

    def names() -> Iterator[str]:
        before: Counter[int] = Counter()
        for kind, group in zip(left.kind.tolist(), left.group.tolist(), strict=True):
            name = texts[int(capture.groups.name[group])]
            yield from operator_names(texts[kind], name, (before[group],))
            before[group] += 1

    return replace(left, name=capture.texts.numbers(names()))
