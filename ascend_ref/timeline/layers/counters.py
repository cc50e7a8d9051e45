"""Sampled values of devices and hosts: events of phase C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.traffic import MEBIBYTE, share
from ascend_ref.spill import batches
from ascend_spec.timeline import Layer

from ..events import HOST, Events, Item, Values, rows_of
from ..lookup import array_of, filled, holds, integers, reals
from ..notation import reals as real_texts
from ..notation import wholes
from ..rows import Fragment
from ..session import Session

PERCENT = 100.0
NS_PER_US = 1e3
BYTES_PER_KB = 1024.0


class Samples:
    """A sampled table on its way into a layer."""

    def __init__(self, session: Session, layer: Layer, name: str) -> None:
        self.session = session
        self.layer = layer
        self.name = name
        self.table = table = session.recorded.table(name)
        self.time = integers(table, "timestampNs", 0)
        on_device = "deviceId" in table.column_names
        self.device = session.devices_of(table) if on_device else HOST

    def __len__(self) -> int:
        return len(self.time)

    def rate(self, column: str, part: slice) -> Fragment:
        """A data rate in MB/s."""
        return real_texts(reals(self.table, column)[part] / MEBIBYTE)

    def events(
        self,
        kind: str,
        part: slice | Integers,
        args: Values,
        parts: Values | None = None,
    ) -> Events:
        """The values of some rows."""
        device = self.device if isinstance(self.device, int) else self.device[part]
        return Events(
            layer=self.layer,
            kind=self.layer.event(kind),
            start=self.time[part],
            device=device,
            parts=parts or {},
            args=args,
            rows={self.name: rows_of(part) if isinstance(part, slice) else part},
        )


Source = Callable[[Samples, slice], Iterator[Events]]
"""The events of some rows of a table."""


def counter_layer(name: str, table_name: str, source: Source, session: Session) -> Iterator[Item]:
    """A layer that shows one table."""
    layer = session.layer(name)
    if layer is None:
        return
    samples = Samples(session, layer, table_name)
    if not len(samples):
        return
    yield from processes(samples)
    for part in batches(len(samples)):
        yield from source(samples, part)


def processes(samples: Samples) -> Iterator[Item]:
    """The process of each device, or of the host."""
    if isinstance(samples.device, int):
        yield from samples.session.process(samples.layer, samples.device)
    else:
        for device in np.unique(samples.device).tolist():
            yield from samples.session.process(samples.layer, device)


def _levels(samples: Samples, part: slice) -> Iterator[Events]:
    """Stars Soc Info."""
    for kind, name, column in (
        ("l2-buffer", "L2 Buffer Bw Level", "l2BufferBwLevel"),
        ("mata", "Mata Bw Level", "mataBwLevel"),
    ):
        values = wholes(integers(samples.table, column, 0)[part])
        yield samples.events(kind, part, {name: values})


def _memory(samples: Samples, part: slice) -> Iterator[Events]:
    """NPU MEM; Memory is the sum of both kinds."""
    owners = _renamed(samples, "type", {"app": "APP", "device": "Device"})[part]
    ddr, hbm = (integers(samples.table, name, 0)[part] for name in ("ddr", "hbm"))
    for kind, amount in (("DDR", ddr), ("HBM", hbm), ("Memory", ddr + hbm)):
        args = {"KB": real_texts(amount / BYTES_PER_KB)}
        yield samples.events("memory", part, args, {"owner": owners, "kind": kind})


def _hbm(samples: Samples, part: slice) -> Iterator[Events]:
    reading = holds(samples.table, "type", "read")[part]
    unit = integers(samples.table, "hbmId", 0)
    for kind, name, chosen in (
        ("read", "Read(MB/s)", reading),
        ("write", "Write(MB/s)", ~reading),
    ):
        rows = np.flatnonzero(chosen) + part.start
        if len(rows):
            rate = real_texts(reals(samples.table, "bandwidth")[rows] / MEBIBYTE)
            yield samples.events(kind, rows, {name: rate}, {"hbmId": wholes(unit[rows])})


def _ddr(samples: Samples, part: slice) -> Iterator[Events]:
    yield samples.events("read", part, {"Read(MB/s)": samples.rate("read", part)})
    yield samples.events("write", part, {"Write(MB/s)": samples.rate("write", part)})


def _hccs(samples: Samples, part: slice) -> Iterator[Events]:
    yield samples.events("sent", part, {"Tx(MB/s)": samples.rate("txThroughput", part)})
    yield samples.events("received", part, {"Rx(MB/s)": samples.rate("rxThroughput", part)})


def _llc(samples: Samples, part: slice) -> Iterator[Events]:
    """LLC; the hit rate is a share of 1 in spite of its name (erratum T15)."""
    names = {
        "llcId": wholes(integers(samples.table, "llcId", 0)[part]),
        "mode": _renamed(samples, "mode", {"read": "Read", "write": "Write"})[part],
    }
    hits = real_texts(reals(samples.table, "hitRate")[part] / PERCENT)
    yield samples.events(
        "throughput", part, {"Throughput(MB/s)": samples.rate("throughput", part)}, names
    )
    yield samples.events("hit-rate", part, {"Hit Rate(%)": hits}, names)


def _ports(samples: Samples, part: slice) -> Iterator[Events]:
    """NIC and RoCE."""
    table = samples.table
    speed = reals(table, "bandwidth")[part]
    port = wholes(integers(table, "funcId", 0)[part])
    for kind, way, title in (("received", "rx", "Rx"), ("sent", "tx", "Tx")):
        packets = reals(table, f"{way}Packets")[part]
        figures = {
            "Bandwidth Efficiency": share(reals(table, f"{way}ByteRate")[part], speed),
            "Packets": reals(table, f"{way}PacketRate")[part],
            "Error Rate": share(reals(table, f"{way}Errors")[part], packets),
            "Dropped Rate": share(reals(table, f"{way}Dropped")[part], packets),
        }
        args = {f"{title} {name}": real_texts(values) for name, values in figures.items()}
        yield samples.events(kind, part, args, {"portId": port})


def _pcie(samples: Samples, part: slice) -> Iterator[Events]:
    for packets, column in (("post", "Post"), ("nonpost", "Nonpost"), ("cpl", "Cpl")):
        args = {
            "Tx": samples.rate(f"tx{column}Avg", part),
            "Rx": samples.rate(f"rx{column}Avg", part),
        }
        yield samples.events("traffic", part, args, {"packets": packets})
    latency = reals(samples.table, "txNonpostLatencyAvg")[part] / NS_PER_US
    yield samples.events("latency", part, {"Tx": real_texts(latency), "Rx": "0"})


def _usage(samples: Samples, part: slice) -> Iterator[Events]:
    """Load of the host's memory, disk or network."""
    args = {"Usage(%)": real_texts(reals(samples.table, "usage")[part])}
    yield samples.events("usage", part, args)


def _processors(samples: Samples, part: slice) -> Iterator[Events]:
    args = {"Usage(%)": real_texts(reals(samples.table, "usage")[part])}
    number = wholes(integers(samples.table, "cpuId", 0)[part])
    yield samples.events("usage", part, args, {"cpuId": number})


def _unified_bus(samples: Samples, part: slice) -> Iterator[Events]:
    table = samples.table
    args = {
        f"bandwidth_{way}(MB/s)": wholes(integers(table, f"{way}UdmaBind", 0)[part])
        for way in ("rx", "tx")
    }
    ports = pa.array([f"{port:03d}" for port in integers(table, "portId", 0)[part].tolist()])
    yield samples.events("traffic", part, args, {"portId": ports})


def _renamed(samples: Samples, column: str, names: Mapping[str, str]) -> pa.DictionaryArray:
    """A text column with other texts for those that the layer calls by another name."""
    texts = filled(array_of(samples.table[column]), "")
    renamed = [names.get(text, text) for text in texts.dictionary.to_pylist()]
    shown = samples.session.notation.strings(pa.array(renamed, pa.string()))
    return pa.DictionaryArray.from_arrays(texts.indices, shown)


COUNTERS: Mapping[str, Callable[[Session], Iterator[Item]]] = {
    layer: partial(counter_layer, layer, table, source)
    for layer, table, source in (
        ("CPU Usage", "CPU_USAGE", _processors),
        ("Memory Usage", "HOST_MEM_USAGE", _usage),
        ("Network Usage", "HOST_NETWORK_USAGE", _usage),
        ("Disk Usage", "HOST_DISK_USAGE", _usage),
        ("NPU MEM", "NPU_MEM", _memory),
        ("DDR", "DDR", _ddr),
        ("HBM", "HBM", _hbm),
        ("HCCS", "HCCS", _hccs),
        ("NIC", "NIC", _ports),
        ("RoCE", "ROCE", _ports),
        ("PCIe", "PCIE", _pcie),
        ("LLC", "LLC", _llc),
        ("Stars Soc Info", "SOC_BANDWIDTH_LEVEL", _levels),
        ("Ub", "UB", _unified_bus),
    )
}
"""Layers that show their tables row by row."""
