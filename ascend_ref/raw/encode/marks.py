"""Marks of the program, and those of them that a device notes as well."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE
from ascend_ref.derive.matching import ranks
from ascend_spec.raw.records import MESSAGE_SIZE

from ..marks import EXTENDED, FIRST_MARK, MARK_TAG, WHOLE, is_mark
from .iterations import step_rows
from .tree import RawTree

_NO_MODEL = (1 << 32) - 1


def write_marks(capture: Capture, tree: RawTree) -> None:
    """Write the marks, in segments those that devices note or whose text is long (raw-prof 4.6).

    A mark and its task share a number; the others have numbers behind those.
    """
    marks = capture.marks
    linked = marks.device_link >= 0
    number = marks.device_link + FIRST_MARK
    first = int(number.max(initial=0)) + 1
    number[~linked] = first + np.arange(int(np.sum(~linked)))
    every = capture.texts.all
    texts = {one: every[one].encode() for one in np.unique(marks.message).tolist()}
    parts = np.array(
        [max(-(-len(texts[one]) // MESSAGE_SIZE), 1) for one in marks.message.tolist()], np.int64
    )
    owner = np.repeat(np.arange(len(marks)), parts)
    segment = ranks(owner)
    rows = tree.rows("msproftx", len(owner))
    clock = tree.host.host
    start, end = clock.ticks(marks.start), clock.ticks(marks.end)
    rows["threadId"] = marks.thread[owner]
    rows["timeStamp"] = start[owner]
    rows["infoType"] = np.where(linked | (parts > 1), EXTENDED, WHOLE)[owner]
    rows["segment"] = segment
    stamp = rows["stampInfo"]
    stamp["magicNumber"] = rows["magicNumber"]
    stamp["processId"] = capture.origin.pid
    stamp["threadId"] = marks.thread[owner]
    stamp["eventType"] = marks.kind[owner]
    stamp["startTime"], stamp["endTime"] = start[owner], end[owner]
    stamp["markId"] = number[owner]
    stamp["domain"] = tree.hashes(capture.texts, marks.domain)[owner]
    stamp["message"] = [
        texts[int(marks.message[one])][at * MESSAGE_SIZE : (at + 1) * MESSAGE_SIZE]
        for one, at in zip(owner.tolist(), segment.tolist(), strict=True)
    ]
    tree.add("msproftx", rows)


def write_device_marks(capture: Capture, tree: RawTree, device: int) -> None:
    """What a device notes of marks, in its record of the run."""
    tasks = capture.tasks
    own = np.flatnonzero(is_mark(capture) & (tasks.device == device))
    rows = step_rows(tree, len(own))
    rows["indexId"] = _links(capture, own) + FIRST_MARK
    rows["modelId"] = _NO_MODEL
    rows["streamId"] = tasks.stream[own]
    rows["taskId"] = tasks.number[own]
    rows["tagId"] = MARK_TAG
    tree.track(rows, tree.side[device].device.ticks(tasks.start[own]), device)


def _links(capture: Capture, own: Integers) -> Integers:
    link = capture.tasks.connection[own] - FIRST_MARK_CONNECTION
    return np.where(link >= 0, link, NONE)
