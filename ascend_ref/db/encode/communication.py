"""Tables of the communication operators and the tasks that they consist of."""

from __future__ import annotations

import numpy as np

from .recording import Recording, Rows, none_as

OF_EVERY_LEVEL = ("task", "collective", "name", "group", "master")
"""Columns of transfers that level 0 collects; what it writes for the others stands in 4.4."""


def operators(recording: Recording) -> Rows:
    """Communication operators, in order of their numbers."""
    found = recording.operators
    batch = recording.capture.collectives.take(found.rows)
    groups = recording.capture.groups
    rows = {
        **dict(batch.columns()),
        "start": found.start,
        "end": found.end,
        "connection": none_as(batch.connection, recording.habits.no_connection),
        "group": groups.name[batch.group],
        "id": found.number,
        "kind": recording.rewritten(batch.kind, lambda kind: f"hcom_{kind}_"),
        "ranks": groups.size[batch.group],
    }
    return rows if recording.level else {name: rows[name] for name in rows if name != "kind"}


def transfers(recording: Recording) -> Rows:
    """Small tasks, in order of their operators; an operator without interval has no tasks."""
    capture = recording.capture
    batch = recording.transfers
    place = recording.task_rows(batch.task)
    length = capture.tasks.end[place] - capture.tasks.start[place]
    rows = {
        **dict(batch.columns()),
        "name": capture.collectives.name[batch.collective],
        "group": capture.groups.name[capture.collectives.group[batch.collective]],
        "collective": recording.operators.number_of[batch.collective],
        # Formed from GB/s of 10^9 Byte (4.2); a task without length has no rate.
        "bandwidth": np.where(length, batch.size * 1e9 / np.maximum(length, 1), 0.0),
    }
    if recording.level:
        return rows
    return {name: rows[name] for name in OF_EVERY_LEVEL} | {
        "notify": np.zeros(len(batch), np.int64),
        "bandwidth": np.zeros(len(batch)),
    }
