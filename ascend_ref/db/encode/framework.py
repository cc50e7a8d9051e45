"""Tables of what the framework and the program did on the host."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Activities, Integers
from ascend_ref.capture.kinds import ENTERS, LEAVES, MARK, OP, QUEUE
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE

from .recording import Recording, Rows, none_as, nullable


def activities(recording: Recording) -> Rows:
    """PYTORCH_API: Python trace, entries and exits of the task queue, operators, marks."""
    found = recording.activities
    batch = found.batch
    operator = (batch.kind == OP) | (batch.kind == MARK)
    chains = _chains(recording, np.where(batch.kind == OP, batch.stack, NONE))
    kind = batch.kind
    if recording.habits.private_connections is not None:
        kind = np.where(kind == MARK, OP, kind)
    return {
        **recording.rows(batch),
        "connection": found.key,
        "name": _names(recording, batch),
        "sequence": nullable(batch.sequence, operator),
        "forward_thread": nullable(none_as(batch.forward_thread, 0), operator),
        "data_types": np.where(operator, batch.data_types, NONE),
        "shapes": np.where(operator, batch.shapes, NONE),
        "stack": chains,
        "kind": kind,
    }


def _names(recording: Recording, batch: Activities) -> Integers:
    names = batch.name.copy()
    for queue, prefix in (
        (ENTERS, "Enqueue@" if recording.habits.enqueue_named else None),
        (LEAVES, "Dequeue@"),
    ):
        rows = (batch.kind == QUEUE) & (batch.queue == queue)
        if prefix is None:
            names[rows] = recording.texts.number("Enqueue")
        else:
            names[rows] = recording.rewritten(names[rows], prefix.__add__)
    return names


def _chains(recording: Recording, stacks: Integers) -> Integers:
    """Dense numbers for the stacks that operators have; NONE stays."""
    used = recording.call_stacks
    return np.where(stacks == NONE, NONE, np.searchsorted(used, stacks))


def frames(recording: Recording) -> Rows:
    """PYTORCH_CALLCHAINS: the stacks that PYTORCH_API refers to."""
    batch = recording.capture.frames
    batch = batch.take(np.isin(batch.stack, recording.call_stacks))
    order = np.lexsort((batch.depth, batch.stack))
    return {
        "id": _chains(recording, batch.stack[order]),
        "frame": batch.frame[order],
        "depth": batch.depth[order],
    }


def connections(recording: Recording) -> Rows:
    """CONNECTION_IDS: for each key the launched host calls, then the private connection."""
    found = recording.activities
    links = recording.capture.links
    key_of = np.empty(len(found.rows), np.int64)
    key_of[found.rows] = found.key
    private = found.private != NONE
    key = np.concatenate([key_of[links.activity], found.key[private]])
    connection = np.concatenate([links.connection, found.private[private]])
    order = np.argsort(key, kind="stable")
    return {"call": key[order], "connection": connection[order]}


def steps(recording: Recording) -> Rows:
    """STEP_TIME."""
    batch = recording.capture.steps
    return {**dict(batch.columns()), "id": batch.number}


def marks(recording: Recording) -> Rows:
    """MSTX_EVENTS: marks of the program; what becomes of one on a device has a connection."""
    batch = recording.capture.marks
    connection = np.where(
        batch.device_link == NONE, NONE, FIRST_MARK_CONNECTION + batch.device_link
    )
    rows = recording.rows(batch)
    ends = {"end_process": rows["process"], "end_thread": batch.thread}
    return {**rows, **ends, "connection": connection}
