"""The order and the numbers that the framework's exporter gives to its host activity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Activities, Capture, Integers
from ascend_ref.capture.kinds import ENTERS, OP, QUEUE, TRACE
from ascend_ref.capture.model import NONE

from .habits import Habits

PLAIN_CONNECTION_DISTANCE = 8_000
"""How far above CANN's ids the framework counted before it had an offset (db-schema.md 4.5)."""

LATEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Identified:
    """Activities in the order of PYTORCH_API.

    rows: their rows in the capture. key: CONNECTION_IDS.id, NONE without links.
    private: the framework's own connection, NONE without one.
    """

    rows: Integers
    batch: Activities
    key: Integers
    private: Integers


def identify(capture: Capture, habits: Habits) -> Identified:
    """The activities in order, with the numbers that the exporter gives them."""
    batch = capture.activities
    section = np.select(
        [
            batch.kind == TRACE,
            (batch.kind == QUEUE) & (batch.queue == ENTERS),
            batch.kind == QUEUE,
            batch.kind == OP,
        ],
        [0, 1, 2, 3],
        4,
    )
    rows = _order(batch, section)
    ordered = batch.take(rows)
    return Identified(
        rows=rows,
        batch=ordered,
        key=_keys(capture, habits, rows, ordered, section[rows]),
        private=_private(capture, habits, ordered),
    )


def _order(batch: Activities, section: Integers) -> Integers:
    """By section, start, and the longer one first."""
    first = int(batch.start.min(initial=LATEST))
    spread = int(batch.start.max(initial=first)) - first + 1
    key = section * spread + (batch.start - first)
    rows = np.argsort(key)
    moments = key[rows]
    same = moments[1:] == moments[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    ties = rows[tied]
    rows[tied] = ties[np.lexsort((ties, -batch.end[ties], key[ties]))]
    return rows


def _keys(
    capture: Capture, habits: Habits, rows: Integers, ordered: Activities, section: Integers
) -> Integers:
    """Keys for the linked rows: of the queue first, since the offset of private ids its exits."""
    linked = np.zeros(len(rows), np.bool_)
    linked[capture.links.activity] = True
    linked = linked[rows] | (ordered.link != NONE)
    queue = section.copy()
    if habits.private_connections is not None:
        queue[section == 1], queue[section == 2] = 2, 1
    rank = np.where(ordered.kind == QUEUE, queue, 3)
    turn = np.flatnonzero(linked)
    turn = turn[np.argsort(rank[turn], kind="stable")]
    key = np.full(len(rows), NONE)
    key[turn] = np.arange(len(turn))
    return key


def _private(capture: Capture, habits: Habits, ordered: Activities) -> Integers:
    """Connections within the framework: of the task queue first, then of backward operators."""
    base = habits.private_connections
    if base is None:
        largest = capture.calls.connection.max(initial=0)
        base = int(largest) + PLAIN_CONNECTION_DISTANCE
    linked = ordered.link != NONE
    queued = linked & (ordered.kind == QUEUE)
    table = np.full(int(ordered.link.max(initial=0)) + 1, NONE)
    entries, others = _used(ordered.link[queued], table), _used(ordered.link[linked], table)
    others = np.setdiff1d(others, entries, assume_unique=True)
    table[entries] = base + np.arange(len(entries))
    table[others] = base + len(entries) + np.arange(len(others))
    return np.where(linked, table[ordered.link], NONE)


def _used(numbers: Integers, table: Integers) -> Integers:
    """The distinct numbers of places in a table, ascending."""
    used = np.zeros(len(table), np.bool_)
    used[numbers] = True
    return np.flatnonzero(used)
