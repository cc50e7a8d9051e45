"""Iterations of graphs, from the points that devices note of them (ge-profiling 3.4)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.records import Records

from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..fields import whole
from ..iterations import POINT_RECORDS, Points, iterations_of, of_devices
from ..marks import MARK_TAG
from .session import Session
from .times import times_of

_FILE = "ts_track"
_FIELDS = ("modelId", "indexId", "tagId", "streamId", "timestamp")


def read_iterations(session: Session) -> Records:
    """The records of all devices, device after device."""
    found = {}
    for device, context in session.devices.items():
        if _FILE not in context.folder.files:
            continue
        points, unknown = _points(session, context)
        made = iterations_of(points)
        found[device] = made.records
        if made.lost + unknown:
            text = f"{_FILE}: {made.lost + unknown:,} points of iterations are of no whole one"
            session.damage.append(Damage(context.folder.path, text, kind=_FILE))
    return of_devices(found)


def _points(session: Session, context: Context) -> tuple[Points, int]:
    """The points of iterations that a device noted, in the order of its file, and how many more
    have numbers that none has.
    """
    parts = []
    for record in POINT_RECORDS:
        rows = session.rows(context, _FILE, record)
        rows = session.chosen(rows, lambda tag: tag != MARK_TAG, rows["tagId"])
        parts.append([rows[one] for one in _FIELDS])
    columns = [np.concatenate(one) for one in zip(*parts, strict=True)]
    right = np.logical_and.reduce([one < LIMIT for one in columns])
    model, index, tag, stream, ticks = (whole(one[right]) for one in columns)
    time = times_of(session, context, _FILE, "device-counter", ticks)
    known = time != OUT_OF_RANGE
    return Points(model, index, tag, stream, time).taken(known), int(np.sum(~right))
