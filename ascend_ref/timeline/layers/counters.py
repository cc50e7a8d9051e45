"""Layers that show a table row by row: what is sampled on devices and hosts, and short slices.

Events are filled from what the spec says that they show (:mod:`..filling`). Where a kind makes
several events of one row, :data:`MELTED` says which columns each of them shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.spill import batches
from ascend_spec.core.shows import Show
from ascend_spec.timeline import EventKind, Layer

from ..events import HOST, Events, Item
from ..session import Session

Melted = tuple[Mapping[str, str], Mapping[str, str]]
"""The parts of an event's name, and by arg the column of the recording that it shows."""

MELTED: Mapping[tuple[str, str], Sequence[Melted]] = {
    ("NPU MEM", "memory"): [
        ({"kind": kind}, {"KB": f"process_memory.{column}"})
        for kind, column in (("DDR", "ddr"), ("HBM", "hbm"), ("Memory", "total"))
    ],
    ("PCIe", "traffic"): [
        ({"packets": packets}, {way: f"pcie.{way.lower()}_{packets}_avg" for way in ("Tx", "Rx")})
        for packets in ("post", "nonpost", "cpl")
    ],
    ("PCIe", "latency"): [({}, {"Tx": "pcie.tx_nonpost_latency_avg"})],
    ("Acc PMU", "level-of-one"): [
        ({"counter": counter}, {"value": f"accelerator_level.{column}"})
        for counter, column in (
            ("read_bandwidth", "read_bandwidth"),
            ("read_ost", "read_requests"),
            ("write_band_width", "write_bandwidth"),
            ("write_ost", "write_requests"),
        )
    ],
}


class Samples:
    """The table of a layer on its way into events. device: of each row, or of all."""

    def __init__(self, session: Session, layer: Layer) -> None:
        self.session = session
        self.layer = layer
        (self.name,) = layer.tables
        self.table = table = session.recorded.table(self.name)
        on_device = "deviceId" in table.column_names
        self.device = session.devices_of(table) if on_device else HOST

    def __len__(self) -> int:
        return len(self.table)

    def events(self, kind: str, rows: Integers, **own: Any) -> Events:
        """The events of some rows; ``own``: what they do not show as it is."""
        shown = self.layer.event(kind)
        return self.session.filling.events(self.layer, shown, {self.name: rows}, **own)

    def melted(self, kind: EventKind, rows: Integers, **own: Any) -> Iterator[Events]:
        """The events of some rows, for each entry of the kind in :data:`MELTED`."""
        for parts, columns in MELTED.get((self.layer.name, kind.kind), [({}, {})]):
            shows = {arg: Show("plain", (column,)) for arg, column in columns.items()}
            yield self.events(kind.kind, rows, parts=parts, shows=shows, **own)


def opened(session: Session, name: str) -> Samples | None:
    """The table of a layer; None where this file does not show it."""
    layer = session.layer(name)
    if layer is None:
        return None
    samples = Samples(session, layer)
    return samples if len(samples) else None


def counters(session: Session, names: Sequence[str]) -> Iterator[Item]:
    """Layers whose tables are shown as they are."""
    for samples in (opened(session, name) for name in names):
        if samples is not None:
            yield from processes(samples)
            yield from rows_in_turn(samples)


def rows_in_turn(samples: Samples) -> Iterator[Events]:
    """Some rows after the other, each kind of event of them."""
    session, layer = samples.session, samples.layer
    kinds = layer.events_of(session.style_of(layer))
    for part in batches(len(samples)):
        for kind in kinds:
            rows = session.filling.shown_rows(kind, samples.name, part)
            if len(rows):
                yield from samples.melted(kind, rows)


def processes(samples: Samples) -> Iterator[Item]:
    """The process of each device, or of the host."""
    if isinstance(samples.device, int):
        yield from samples.session.process(samples.layer, samples.device)
    else:
        for device in np.unique(samples.device).tolist():
            yield from samples.session.process(samples.layer, device)
