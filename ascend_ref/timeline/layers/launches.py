"""Arrows from the operators of the framework to the work on the devices that they caused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers
from ascend_ref.spill import batches, first_equal

from ..arrows import linked
from ..events import Item, Points
from ..lookup import NONE, Lookup
from ..session import Session
from .framework import LAYER

FLOW = "framework"


def launches(session: Session) -> Iterator[Item]:
    """One arrow to the first end of each arrow of HostToDevice, as the exporter pairs them.

    The id is the start of the work, so where several start at once only the first has an arrow.
    """
    layer, flow = session.layer(LAYER), session.flow(FLOW)
    if layer is None or flow is None or not len(session.activity):
        return
    found, calls, spill = session.activity, session.calls, session.spill
    shown: list[Lookup] = []

    def has_arrow(operator: Integers, start: Integers) -> Mask:
        known: Mask = (operator != NONE) & (found.start[operator] <= start)
        for moments in shown:
            known &= moments.rows(start) == NONE
        return known

    for _, target, ends, _ in linked(session, forward=False):
        thread, moment = (spill.taken(column, ends.call) for column in (calls.thread, calls.start))
        operator = found.launching(ends.ids["connectionId"], thread, moment)
        rows = spill.where(has_arrow, operator, ends.start)
        moments = spill.taken(ends.start, rows)
        first = spill.where(np.equal, first_equal(spill, moments), spill.rows(len(rows)))
        shown.append(Lookup(spill.taken(moments, first), spill))
        rows = spill.taken(rows, first)
        for batch in batches(len(rows)):
            some, caller = ends.at(rows[batch]), operator[rows[batch]]
            ids = {"endNs": some.start}
            start, thread = found.start[caller], found.thread[caller]
            yield Points(flow, layer, False, ids, start, thread=thread)
            yield Points(flow, target, True, ids, some.start, some.device, some.thread)
