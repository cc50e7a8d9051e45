"""Layers that show a table: what is sampled on devices and hosts, and short slices.

Events are filled from what the spec says that they show (:mod:`..filling`), row by row. Where a
kind makes several events of one row, :data:`MELTED` says which columns each of them shows; layers
whose events are put together from several rows stand in :data:`PUT_TOGETHER`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers, is_one_of, one_piece, reals, text_places
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.traffic import MEBIBYTE, STREAM
from ascend_ref.spill import batches
from ascend_spec.core.shows import Show
from ascend_spec.timeline import EventKind, Layer

from ..events import HOST, Events, Item
from ..lookup import NONE, Rows, filled, packed, taken
from ..notation import reals as real_texts
from ..notation import wholes
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


NO_DIE = -1
CUBE = "AIC"
BY_A_NANOSECOND = 1e5
"""A load in percent above it was divided by 1 ns, as that of the first sample of a core (E48)."""
NANOSECONDS = 1e9
"""Of the second by which the timeline divides it."""
LEVELS = {
    "read_bandwidth": "readBwLevel",
    "read_ost": "readOstLevel",
    "write_bandwidth": "writeBwLevel",
    "write_ost": "writeOstLevel",
}
"""Names of events and columns of ACC_PMU."""


class Samples:
    """The table of a layer on its way into events. device: of each row, or of all."""

    def __init__(self, session: Session, layer: Layer) -> None:
        self.session = session
        self.layer = layer
        (self.name,) = layer.tables
        self.table = table = session.recorded.table(self.name)
        self.device: Integers | int = HOST
        if "deviceId" in table.column_names:
            # Older tables do not name it.
            named = table["deviceId"].null_count < len(table)
            self.device = integers(table["deviceId"], session.device) if named else session.device

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def devices(self) -> Integers:
        """The device of each row."""
        return np.broadcast_to(self.device, len(self))

    @cached_property
    def times(self) -> Integers:
        """When each row was sampled, ns."""
        return integers(self.table["timestampNs"], 0)

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
    """Layers with the processes of their devices."""
    for name in names:
        samples = opened(session, name)
        if samples is not None:
            yield from processes(samples)
            yield from PUT_TOGETHER.get(name, rows_in_turn)(samples)


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


def _accelerators(samples: Samples) -> Iterator[Events]:
    """Levels of each accelerator, or the greatest of those of one moment (erratum T22)."""
    kinds = samples.layer.events_of(samples.session.style_of(samples.layer))
    if "level" not in {kind.kind for kind in kinds}:
        yield from rows_in_turn(samples)
        return
    moment = packed(samples.devices, samples.times)
    order = np.argsort(moment, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(moment[order]) != 0))
    for name, column in LEVELS.items():
        greatest = np.maximum.reduceat(integers(samples.table[column], 0)[order], first)
        for part in batches(len(first)):
            args = {"value": wholes(greatest[part])}
            yield samples.events("level", order[first[part]], parts={"counter": name}, args=args)


def _service(samples: Samples) -> Iterator[Events]:
    """Traffic by class of service."""
    texts = filled(one_piece(samples.table["eventName"]), "")
    names = [text.removeprefix(STREAM) for text in texts.dictionary.to_pylist()]
    streams = pa.DictionaryArray.from_arrays(
        texts.indices, samples.session.notation.strings(pa.array(names, pa.string()))
    )
    rate = integers(samples.table["bandwidth"], 0) // int(MEBIBYTE)
    die = integers(samples.table["dieId"], NO_DIE)
    for part in batches(len(samples)):
        rows = np.flatnonzero(die[part] == NO_DIE) + part.start
        if len(rows):
            shown = wholes(rate[rows])
            args = {"value": shown, "bandwidth(MB/s)": shown}
            stream = {"stream": taken(streams, rows)}
            yield samples.events("traffic", rows, parts=stream, args=args)
    dies = np.flatnonzero(die != NO_DIE)
    if len(dies):
        stream_of = text_places(texts)[dies].astype(np.int64)
        moment = packed(samples.devices[dies], samples.times[dies], stream_of)
        numbers, series = np.unique(die[dies], return_inverse=True)
        for shown, row_of in side_by_side(moment, series):
            args = {f"die {numbers[one]}": wholes(rate[dies[rows]]) for one, rows in row_of.items()}
            stream = {"stream": taken(streams, dies[shown])}
            yield samples.events("traffic-of-dies", dies[shown], parts=stream, args=args)


def _between_dies(samples: Samples) -> Iterator[Events]:
    """Traffic between the dies, those of one moment side by side."""
    texts = filled(one_piece(samples.table["name"]), "")
    names = [samples.session.notation.string(text) for text in texts.dictionary.to_pylist()]
    channels = {
        f"{kind}_{way}": reals(samples.table[f"{way}{kind.capitalize()}"]) / MEBIBYTE
        for way in ("rx", "tx")
        for kind in ("req", "rsp", "snp", "dat")
    }
    (series,) = samples.layer.event("traffic").args
    dies = np.array([series.name.fits(name) for name in names] + [False])
    known = np.flatnonzero(dies[text_places(texts)])
    moment = packed(samples.devices, samples.times)[known]
    for shown, row_of in side_by_side(moment, text_places(texts)[known]):
        for channel, values in channels.items():
            args = {names[one]: real_texts(values[known[rows]]) for one, rows in row_of.items()}
            parts = {"channel": channel}
            yield samples.events("traffic", known[shown], parts=parts, args=args)


def _cores(samples: Samples) -> Iterator[Events]:
    """Share of the time in which cube cores work, each alone and all on the average."""
    usage, core = reals(samples.table["usage"]).copy(), integers(samples.table["coreId"], 0)
    time, device = samples.times, samples.devices
    cubes = np.flatnonzero(is_one_of(samples.table["coreType"], [CUBE]))
    usage[cubes] = _by_a_second(usage[cubes], time[cubes], packed(device, core)[cubes])
    for part in batches(len(cubes)):
        rows = cubes[part]
        args = {"Utilization(%)": real_texts(usage[rows])}
        own = {"start": time[rows], "device": device[rows], "parts": {"coreId": wholes(core[rows])}}
        yield samples.events("core", rows, args=args, **own)
    if len(cubes):
        moment = packed(device, time)[cubes]
        _, first, group = np.unique(moment, return_index=True, return_inverse=True)
        rows = cubes[first]
        mean = np.bincount(group, usage[cubes]) / np.bincount(group)
        args = {"Utilization(%)": real_texts(mean)}
        yield samples.events("average", rows, args=args, start=time[rows], device=device[rows])


def _by_a_second(usage: Reals, time: Integers, core: Integers) -> Reals:
    """The first sample of a core is by 1 ns in the table, and by 1 s in the timeline."""
    _, own = np.unique(core, return_inverse=True)
    first = np.full(len(usage), np.iinfo(np.int64).max)
    np.minimum.at(first, own, time)
    return np.where((time == first[own]) & (usage > BY_A_NANOSECOND), usage / NANOSECONDS, usage)


def side_by_side(
    moment: Integers, series: Integers | Rows
) -> Iterator[tuple[Integers, dict[int, Integers]]]:
    """Rows of one moment together: a row of each moment, and the rows of each series there.

    Moments that have the same series come together.
    """
    _, first, group = np.unique(moment, return_index=True, return_inverse=True)
    row_of = np.full((len(first), int(series.max(initial=0)) + 1), NONE)
    row_of[group, series] = np.arange(len(moment))
    there, pattern = np.unique(row_of != NONE, axis=0, return_inverse=True)
    for number, present in enumerate(there):
        rows = row_of[pattern.reshape(-1) == number]
        members = {one: rows[:, one] for one in np.flatnonzero(present).tolist()}
        yield first[pattern.reshape(-1) == number], members


PUT_TOGETHER: Mapping[str, Callable[[Samples], Iterator[Events]]] = {
    "Acc PMU": _accelerators,
    "SIO": _between_dies,
    "QoS": _service,
    "AI Core Utilization": _cores,
}
"""Layers whose events show several rows, or are in another order than these."""
