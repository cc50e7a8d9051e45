"""Traffic that devices sampled: memory, ports, links."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.derive.traffic import STREAM
from ascend_spec.raw.records import QOS_STREAMS, STARS_QOS_FIRST

from ..fields import taken
from ..lines import Entry
from ..traffic import BUS_FIELDS, MEBI, PCIE_FIELDS, PORTS, Columns, directions, part_of, pieces
from .tree import RawTree


def traffic_settings(capture: Capture) -> dict[str, Any]:
    """What sample.json has to say for readers of HBM and QOS."""
    found: dict[str, Any] = {}
    if len(capture.samples.get("HBM", {}).get("deviceId", ())):
        found["hbm_profiling_events"] = ",".join(directions())
    events = _streams(capture)
    names = [one.removeprefix(STREAM) for one in events]
    return found | ({"qosEvents": ",".join(names)} if names else {})


def write_traffic(capture: Capture, tree: RawTree, found: dict[str, Columns], device: int) -> None:
    """Write the samples of one device that are there and that its chip has files for."""
    for name in PORTS:
        if name in found and tree.writes(name.lower()):
            _write_port(tree, name.lower(), found[name], device)
    if "HBM" in found and tree.writes("hbm"):
        _write_hbm(capture, tree, found["HBM"], device)
    if "PCIE" in found and tree.writes("pcie"):
        _write_pcie(tree, found["PCIE"], device)
    if "QOS" in found and tree.writes("qos"):
        _write_qos(capture, tree, found["QOS"], device)
    if "UB" in found and tree.writes("ub"):
        _write_bus(tree, found["UB"], device)


def _write_port(tree: RawTree, kind: str, table: Columns, device: int) -> None:
    times = tree.ticks(kind, table["timestampNs"], device)
    parts = {
        part_of(name): (column // MEBI if name == "bandwidth" else column).tolist()
        for name, column in table.items()
        if name not in ("deviceId", "timestampNs")
    }
    rows = (dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True))
    tree.write_lines(
        kind,
        (
            Entry("sample", {"time": time, **row})
            for time, row in zip(times.tolist(), rows, strict=True)
        ),
        device,
    )


def _write_hbm(capture: Capture, tree: RawTree, table: Columns, device: int) -> None:
    every = capture.texts.all
    rows = tree.rows("hbm", len(table["timestampNs"]))
    rows["timestamp"] = tree.ticks("hbm", table["timestampNs"], device)
    rows["count"] = pieces(table)
    ways = directions()
    rows["eventType"] = [ways.index(every[one]) for one in table["type"].tolist()]
    rows["hbmId"] = table["hbmId"]
    tree.write("hbm", taken(rows, np.argsort(rows["timestamp"], kind="stable")), device)


def _write_pcie(tree: RawTree, table: Columns, device: int) -> None:
    rows = tree.rows("pcie", len(table["timestampNs"]))
    rows["timestamp"] = tree.ticks("pcie", table["timestampNs"], device)
    rows["deviceId"] = device
    for name, (field, unit) in PCIE_FIELDS.items():
        rows[field] = table[name] // unit
    tree.write("pcie", rows, device)


def _write_qos(capture: Capture, tree: RawTree, table: Columns, device: int) -> None:
    streams = {name: at for at, name in enumerate(_streams(capture))}
    every = capture.texts.all
    times, place = np.unique(table["timestampNs"], return_inverse=True)
    rows = tree.rows("qos", len(times))
    rows["timestamp"] = tree.ticks("qos", times, device)
    stream = np.array([streams[every[one]] for one in table["eventName"].tolist()], np.int64)
    rows["bandwidth"][place.reshape(-1), stream] = table["bandwidth"] // MEBI
    tree.write("qos", rows, device)


def _write_bus(tree: RawTree, table: Columns, device: int) -> None:
    rows = tree.rows("ub", len(table["timestampNs"]))
    rows["timestamp"] = tree.ticks("ub", table["timestampNs"], device)
    for name, field in BUS_FIELDS.items():
        rows[field] = table[name]
    tree.write("ub", rows, device)


def streams_of_dies(capture: Capture, table: Columns) -> tuple[Integers, Integers, Integers]:
    """Times and dies of records of QOS, and what each stream has in MiB/s, a row for each."""
    streams = {name: at for at, name in enumerate(_streams(capture))}
    every = capture.texts.all
    keys = np.stack([table["timestampNs"], table["dieId"]])
    distinct, place = np.unique(keys, axis=1, return_inverse=True)
    values = np.zeros((distinct.shape[1], QOS_STREAMS - STARS_QOS_FIRST), np.int64)
    stream = np.array([streams[every[one]] for one in table["eventName"].tolist()], np.int64)
    values[place.reshape(-1), stream] = table["bandwidth"] // MEBI
    return distinct[0], distinct[1], values


def _streams(capture: Capture) -> list[str]:
    """The names of the streams in order of appearance."""
    names = capture.samples.get("QOS", {}).get("eventName", np.zeros(0, np.int64))
    every = capture.texts.all
    return [every[one] for one in dict.fromkeys(names.tolist())][:QOS_STREAMS]
