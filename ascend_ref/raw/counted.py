"""What counters make of a capture: times that they can show, and what records do not hold.

Read back, the raw files of a counted capture show exactly that capture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE

from .clocks import Clock
from .encode.calls import HostTicks
from .side import SideFiles


def counted(capture: Capture, side: Mapping[int | None, SideFiles]) -> Capture:
    """The capture with the nearest times that host and devices count.

    side: what the side files of the host (``None``) and of each device state. Connections of calls
    that are not recorded are gone, and so are models that no call of one shows.
    """
    host = side[None].host
    calls = replace(
        capture.calls,
        start=_nearest(host, capture.calls.start),
        end=_nearest(host, capture.calls.end),
    )
    tasks = capture.tasks
    start, end = tasks.start.copy(), tasks.end.copy()
    for device, one in side.items():
        if device is not None:
            own = tasks.device == device
            start[own] = _nearest(one.device, tasks.start[own])
            end[own] = _nearest(one.device, tasks.end[own])
    known = np.isin(tasks.connection, calls.connection)
    connection = np.where(known, tasks.connection, NONE)
    in_model = HostTicks(replace(capture, calls=calls), host).models(connection) >= 0
    return replace(
        capture,
        calls=calls,
        tasks=replace(
            tasks,
            start=start,
            end=end,
            connection=connection,
            model=np.where(in_model, tasks.model, NONE),
        ),
    )


def _nearest(clock: Clock, times: Integers) -> Integers:
    return clock.times(clock.ticks(times))
