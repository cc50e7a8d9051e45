"""Work of the engines for pictures and video."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ascend_ref.capture import RECORDS, Integers, Records, Texts

from ..context import Context
from ..engines import FILE, RECORD, TYPES, in_order
from ..moments import MICROSECOND
from .session import Session
from .times import state_wrong

_MOST = 1 << 50
"""µs and frames: 35 years."""
_MOST_ENGINES = 1 << 16
_MOST_SHARE = 100_000_000
"""Thousandths of a percent."""

Key = tuple[int, int, int]
"""Group, type and number of an engine."""


def read_engines(session: Session, texts: Texts) -> Records:
    """The record of all devices. Samples that cannot be are damage."""
    parts = [
        _read(session, context, device)
        for device, context in session.devices.items()
        if FILE in context.folder.files
    ]
    columns = {
        name: np.concatenate([np.zeros(0, np.int64), *(part[name] for part in parts)])
        for name in RECORDS[RECORD].columns
    }
    if not len(columns["device"]):
        return {}
    types = columns["type"]
    names = texts.numbers(TYPES)
    return {RECORD: in_order({**columns, "type": names[types]}, types)}


def _read(session: Session, context: Context, device: int) -> Mapping[str, Integers]:
    """What each engine did between its samples, and its share in the last one."""
    samples: dict[Key, list[tuple[int, int, int]]] = {}
    wrong = every = 0
    for line, parts in session.lines(context, FILE):
        if line == "header":
            continue
        every += 1
        key = (int(parts.get("group", 0)), int(parts["engine_type"]), int(parts["engine"]))
        share = round(Fraction(parts["utilization"]) * 1_000)
        values = (int(parts["busy"]), int(parts["frames"]), share)
        if max(key) < _MOST_ENGINES and key[1] < len(TYPES) and _can_be(*values):
            samples.setdefault(key, []).append(values)
        else:
            wrong += 1
    state_wrong(session, context, FILE, wrong, every, "have numbers that they cannot have")
    rows = [
        {
            "device": device,
            "group": group,
            "type": kind,
            "engine": engine,
            "busy": (max(busy) - min(busy)) * MICROSECOND,
            "frames": max(frames) - min(frames),
            "utilization": share[-1],
        }
        for (group, kind, engine), own in samples.items()
        for busy, frames, share in [tuple(zip(*own, strict=True))]
    ]
    return {
        name: np.array([row[name] for row in rows], np.int64) for name in RECORDS[RECORD].columns
    }


def _can_be(busy: int, frames: int, share: int) -> bool:
    return max(busy, frames) <= _MOST and 0 <= share <= _MOST_SHARE
