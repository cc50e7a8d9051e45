"""Arrows from the operators of the framework to the work on the devices that they caused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrows import linked
from ..events import Item, Points
from ..flow_ids import flow_ids
from ..lookup import NONE
from ..session import Session
from .batches import batches
from .framework import LAYER

FLOW = "framework"


def launches(session: Session) -> Iterator[Item]:
    """One to the first end of each arrow of HostToDevice, as the exporter pairs them.

    The id is the start of the work, so of several that start at once the first one has the arrow.
    """
    layer, flow = session.layer(LAYER), session.flow(FLOW)
    form = None if layer is None or flow is None else flow.id_of(session.style_of(layer))
    if layer is None or flow is None or form is None or not len(session.activity):
        return
    found, calls = session.activity, session.calls
    shown = np.empty(0, np.int64)
    for _, _, target, ends, _ in linked(session, forward=False):
        operator = found.launching(
            ends.ids["connectionId"], calls.thread[ends.call], calls.start[ends.call]
        )
        rows = np.flatnonzero((operator != NONE) & (found.start[operator] <= ends.start))
        rows = rows[~np.isin(ends.start[rows], shown)]
        moments, first = np.unique(ends.start[rows], return_index=True)
        shown = np.concatenate([shown, moments])
        rows = rows[np.sort(first)]
        for part in batches(len(rows)):
            some, caller = ends.at(rows[part]), operator[rows[part]]
            identity = flow_ids(form, {"endNs": some.start})
            start, thread = found.start[caller], found.thread[caller]
            yield Points(flow, layer, False, identity, start, thread=thread)
            yield Points(flow, target, True, identity, some.start, some.device, some.thread)
