"""Overlap Analysis: what each device did at which time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import Mask, one_piece, text_places
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.intervals import Intervals, ends, long_union
from ascend_ref.derive.overlap import KERNEL_TASKS, Overlap, computes, long_overlap, window
from ascend_ref.spill import Spill, batches
from ascend_spec.timeline import Layer

from ..events import Events, Item
from ..lookup import NONE, Columns, combinations, filled
from ..session import Session, total

LAYER = "Overlap Analysis"
KINDS = ("computing", "communication", "not-overlapped", "free")
"""Kinds of events and threads, in the order of ENUM_OVERLAP_ANALYSIS_TYPE."""
OLD_WINDOW = ("adapter-2025-01",)
"""Writers for which nothing but computing and communication bounds the time (erratum T27)."""


def overlap_analysis(session: Session) -> Iterator[Item]:
    """The intervals of each device, from OVERLAP_ANALYSIS, or computed as it would hold them."""
    layer = session.layer(LAYER)
    if layer is None:
        return
    table = session.recorded.table("OVERLAP_ANALYSIS")
    if table.num_rows and session.engine not in OLD_WINDOW:
        found = _recorded(session, layer, table)
    else:
        found = _derived(session)
    for device, kinds in found:
        yield from _intervals(session, layer, device, kinds)


def _intervals(session: Session, layer: Layer, device: int, kinds: Overlap) -> Iterator[Item]:
    yield from session.process(layer, device)
    for kind in KINDS:
        yield from session.thread(layer, kind, device)
    for kind, (start, end) in zip(KINDS, kinds, strict=True):
        thread = session.thread_kind(layer, kind)
        for batch in batches(len(start)):
            yield Events(
                layer=layer,
                kind=layer.event(kind),
                start=start[batch],
                device=device,
                thread=0 if thread is None else total(thread.tid, {}),
                length=end[batch] - start[batch],
            )


def _recorded(session: Session, layer: Layer, table: pa.Table) -> Iterator[tuple[int, Overlap]]:
    """The intervals of each device as the table has them."""
    spill, columns = session.spill, Columns(table, session.spill)
    devices = columns.integers("deviceId", session.device)
    start, end = columns.integers("startNs", 0), columns.integers("endNs", 0)
    names = [str(layer.event(kind).fixed["overlap.kind"]) for kind in KINDS]
    kinds = [columns.holds("type", name) for name in names]
    for (one,) in combinations(spill, devices):
        yield one, Overlap(*(_chosen(spill, start, end, kind, devices, one) for kind in kinds))


def _derived(session: Session) -> Iterator[tuple[int, Overlap]]:
    """The four kinds of time of each device that computed or communicated."""
    work, operators, spill = session.work, session.communication, session.spill
    if not len(work):
        return
    computing, bounding = _computing(session), _bounding(session)
    every = np.ones(len(operators.start), np.bool_)
    for (one,) in combinations(spill, work.device):
        computed = long_union(
            spill, *_chosen(spill, work.start, work.end, computing, work.device, one)
        )
        communicated = long_union(
            spill, *_chosen(spill, operators.start, operators.end, every, operators.device, one)
        )
        others = _chosen(spill, work.start, work.end, bounding, work.device, one)
        outer = [
            np.array(spill.range_of(column) if len(column) else (), np.int64) for column in others
        ]
        bounds = window(ends(computed), ends(communicated), *outer)
        if bounds is not None and (len(computed.start) or len(communicated.start)):
            yield one, long_overlap(spill, computed, communicated, *bounds)


def _computing(session: Session) -> Mask:
    """Which tasks compute."""
    names = filled(one_piece(session.kernels["name"]), "")
    texts, name = names.dictionary, text_places(names)
    computing = np.append(computes(texts, np.zeros(len(texts), np.bool_)), False)

    def made(kernel: Integers) -> Mask:
        known: Mask = kernel != NONE
        return known & computing[name[kernel]] if len(name) else known

    return session.spill.made(made, session.work.kernel, kind=np.bool_)


def _bounding(session: Session) -> Mask:
    """Which tasks open or close the time under analysis."""
    types = one_piece(session.work.tasks["taskType"])
    bounding = np.array(
        [text not in KERNEL_TASKS for text in types.dictionary.to_pylist()] + [True]
    )
    if session.engine in OLD_WINDOW:
        bounding[:] = False
    return session.spill.taken(bounding, text_places(types))


def _chosen(
    spill: Spill, start: Integers, end: Integers, mask: Mask, devices: Integers, device: int
) -> Intervals:
    """The intervals of a device where a mask is true, as they stand."""
    rows = spill.where(lambda mask, devices: mask & (devices == device), mask, devices)
    return Intervals(spill.taken(start, rows), spill.taken(end, rows))
