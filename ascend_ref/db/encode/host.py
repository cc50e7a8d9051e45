"""Tables of what happened on the host below the framework."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE

from .habits import UINT32_NONE
from .recording import Columns, Recording

NO_MARK_CONNECTION = FIRST_MARK_CONNECTION - 1
"""MSTX_EVENTS.connectionId of a mark that no device task follows (db-schema.md 4.4)."""


def calls(recording: Recording) -> Columns:
    """CANN_API."""
    batch = recording.capture.calls
    return {
        "startNs": batch.start,
        "endNs": batch.end,
        "type": batch.level,
        "globalTid": recording.global_threads(batch.thread),
        "connectionId": batch.connection,
        "name": batch.name,
    }


def marks(recording: Recording) -> Columns:
    """MSTX_EVENTS."""
    batch = recording.capture.marks
    thread = recording.global_threads(batch.thread)
    linked = batch.device_link != NONE
    return {
        "startNs": batch.start,
        "endNs": batch.end,
        "eventType": batch.kind,
        "rangeId": np.full(len(batch), UINT32_NONE),
        "category": np.zeros(len(batch), np.int64),
        "message": batch.message,
        "globalTid": thread,
        "endGlobalTid": thread,
        "domainId": batch.domain,
        "connectionId": np.where(
            linked, FIRST_MARK_CONNECTION + batch.device_link, NO_MARK_CONNECTION
        ),
    }


def system_calls(recording: Recording) -> Columns:
    """OSRT_API."""
    batch = recording.capture.system_calls
    return {
        "name": batch.name,
        "globalTid": recording.global_threads(batch.thread),
        "startNs": batch.start,
        "endNs": batch.end,
    }
