"""Overlap Analysis: what each device did when."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.intervals import union
from ascend_ref.derive.overlap import KERNEL_TASKS, Overlap, computes, overlap, window
from ascend_spec.text.timeline import Layer

from ..events import Events, Item
from ..lookup import NONE, array_of, filled, holds, integers
from ..session import Session

LAYER = "Overlap Analysis"
KINDS = ("computing", "communication", "not-overlapped", "free")
"""Kinds of events and threads, in the order of ENUM_OVERLAP_ANALYSIS_TYPE."""
TYPES = ("COMPUTE", "COMMUNICATION", "COMM_NOT_OVERLAP_COMP", "FREE")
"""The names in that enum."""
OLD_WINDOW = ("adapter-2025-01",)
"""Writers for which nothing but computing and communication bounds the time (erratum T27)."""


def overlap_analysis(session: Session) -> Iterator[Item]:
    """The intervals of each device, as OVERLAP_ANALYSIS tells them, or as it would."""
    layer = session.layer(LAYER)
    if layer is None:
        return
    table = session.recorded.table("OVERLAP_ANALYSIS")
    if table.num_rows and session.engine not in OLD_WINDOW:
        device = integers(table, "deviceId", session.device)
        start, end = integers(table, "startNs", 0), integers(table, "endNs", 0)
        kinds = [holds(table, "type", name) for name in TYPES]
        for one in np.unique(device).tolist():
            rows = [kind & (device == one) for kind in kinds]
            parts = [(start[chosen], end[chosen]) for chosen in rows]
            yield from _intervals(session, layer, one, parts)
    else:
        for one, parts_of in _derived(session):
            yield from _intervals(session, layer, one, list(parts_of))


def _intervals(
    session: Session, layer: Layer, device: int, parts: list[tuple[Integers, Integers]]
) -> Iterator[Item]:
    yield from session.process(layer, device)
    for kind in KINDS:
        yield from session.thread(layer, kind, device)
    for number, (kind, (start, end)) in enumerate(zip(KINDS, parts, strict=True)):
        if len(start):
            yield Events(
                layer=layer,
                kind=layer.event(kind),
                start=start,
                device=device,
                thread=number,
                length=end - start,
            )


def _derived(session: Session) -> Iterator[tuple[int, Overlap]]:
    """The four kinds of time of each device that computed or communicated."""
    work, operators = session.work, session.communication
    if not len(work):
        return
    kernels = session.kernels
    names = filled(array_of(kernels["name"]), "")
    counted = computes(names, np.zeros(kernels.num_rows, np.bool_))
    computing = work.kernel != NONE
    if len(counted):
        computing &= counted[work.kernel]
    bounding = ~holds(work.tasks, "taskType", *KERNEL_TASKS)
    if session.engine in OLD_WINDOW:
        bounding[:] = False
    for device in np.unique(work.device).tolist():
        here, own = work.device == device, operators.device == device
        kernel_rows, other_rows = here & computing, here & bounding
        computed = union(work.start[kernel_rows], work.end[kernel_rows])
        communicated = union(operators.start[own], operators.end[own])
        bounds = window(computed, communicated, work.start[other_rows], work.end[other_rows])
        if bounds is not None and (len(computed.start) or len(communicated.start)):
            yield device, overlap(computed, communicated, *bounds)
