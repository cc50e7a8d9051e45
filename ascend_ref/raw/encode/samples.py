"""What devices sampled: clocks of the cores, memory, accelerators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers
from ascend_spec.raw import records

from ..fields import joined, put, taken, time_field
from ..samples import APP, FILES, OWNERS
from .amounts import die_rows, write_amounts
from .host import write_host
from .traffic import write_traffic
from .tree import RawTree, Rows

Columns = Mapping[str, npt.NDArray[Any]]

_SOC = FILES["ACC_PMU"]
"""The file that records of accelerators, dies and the SoC share."""


def write_samples(capture: Capture, tree: RawTree) -> None:
    """Write the samples of the host and of every device that raw files hold."""
    write_host(capture, tree)
    for device in tree.devices:
        tables = {
            name: {key: column[table["deviceId"] == device] for key, column in table.items()}
            for name, table in capture.samples.items()
            if name in FILES and "deviceId" in table
        }
        found: dict[str, Columns] = {
            name: table for name, table in tables.items() if len(table["deviceId"])
        }
        if "AICORE_FREQ" in found and tree.writes("lpm_freq"):
            _write_clock(capture, tree, found["AICORE_FREQ"], device)
        if "NPU_MEM" in found and tree.writes("npu_mem"):
            _write_memory(capture, tree, found["NPU_MEM"], device)
        if "NPU_MODULE_MEM" in found and tree.writes("npu_module_mem"):
            _write_modules(tree, found["NPU_MODULE_MEM"], device)
        _write_soc(capture, tree, found, device)
        write_traffic(capture, tree, found, device)
        write_amounts(capture, tree, found, device)


def _write_clock(capture: Capture, tree: RawTree, table: Columns, device: int) -> None:
    """The changes of the clock; exporters add the start and the end of the session themselves."""
    bounds = [capture.origin.start, -1 if capture.origin.end is None else capture.origin.end]
    own = ~np.isin(table["timestampNs"], bounds)
    ticks = tree.side[device].device.ticks(table["timestampNs"][own])
    count = len(ticks)
    rows = tree.rows("lpm_freq", -(-count // records.LPM_SAMPLES))
    place, at = np.divmod(np.arange(count), records.LPM_SAMPLES)
    np.add.at(rows["count"], place, 1)
    rows["lpmDataS"]["sysCnt"][place, at] = ticks
    rows["lpmDataS"]["freq"][place, at] = table["freq"][own]
    tree.write("lpm_freq", rows, device)


def _write_memory(capture: Capture, tree: RawTree, table: Columns, device: int) -> None:
    every = capture.texts.all
    rows = tree.rows("npu_mem", len(table["timestampNs"]))
    rows["timestamp"] = tree.ticks("npu_mem", table["timestampNs"], device)
    rows["event"] = [
        OWNERS.index(every[one]) if every[one] in OWNERS else APP for one in table["type"].tolist()
    ]
    rows["ddr"], rows["hbm"] = table["ddr"], table["hbm"]
    tree.write("npu_mem", _in_order(rows, rows["timestamp"]), device)


def _write_modules(tree: RawTree, table: Columns, device: int) -> None:
    rows = tree.rows("npu_module_mem", len(table["timestampNs"]))
    rows["moduleId"] = table["moduleId"]
    rows["timestamp"] = tree.ticks("npu_module_mem", table["timestampNs"], device)
    rows["totalSize"] = table["totalReserved"]
    tree.write("npu_module_mem", _in_order(rows, rows["timestamp"]), device)


def _write_soc(capture: Capture, tree: RawTree, found: Mapping[str, Columns], device: int) -> None:
    """Records of accelerators, dies and the SoC, which stand in one file."""
    if not tree.writes(_SOC):
        return
    parts: list[tuple[Rows, Integers]] = []
    if "ACC_PMU" in found:
        table = found["ACC_PMU"]
        rows, ticks = _soc(tree, "ACC_PMU", table["timestampNs"], device)
        rows["accId"] = table["accId"]
        for name, column in (
            ("writeBandwidth", "writeBwLevel"),
            ("readBandwidth", "readBwLevel"),
            ("writeOst", "writeOstLevel"),
            ("readOst", "readOstLevel"),
        ):
            rows[name] = table[column]
        parts.append((rows, ticks))
    if "SOC_BANDWIDTH_LEVEL" in found and tree.has(_SOC, "INTER_SOC"):
        table = found["SOC_BANDWIDTH_LEVEL"]
        rows, ticks = _soc(tree, "INTER_SOC", table["timestampNs"], device)
        declaration = tree.declaration(_SOC, "INTER_SOC")
        put(declaration, rows, "l2BufferBwLevel", table["l2BufferBwLevel"])
        put(declaration, rows, "mataBwLevel", table["mataBwLevel"])
        parts.append((rows, ticks))
    if "SIO" in found and tree.has(_SOC, "SIO"):
        rows = die_rows(capture, found["SIO"], lambda times: _soc(tree, "SIO", times, device)[0])
        parts.append((rows, rows["sysCnt"].astype(np.int64)))
    if parts:
        rows = joined([one for one, _ in parts])
        order = np.argsort(np.concatenate([ticks for _, ticks in parts]), kind="stable")
        tree.write(_SOC, taken(rows, order), device, record="ACC_PMU")


def _soc(tree: RawTree, record: str, times: Integers, device: int) -> tuple[Rows, Integers]:
    """Records of one kind of the SoC, and their ticks."""
    declaration = tree.declaration(_SOC, record)
    rows = tree.rows(_SOC, len(times), record)
    field, clock = time_field(declaration)
    ticks = tree.side[device].by_name(clock).ticks(times)
    put(declaration, rows, "funcType", tree.kind(_SOC, record))
    rows[field] = ticks
    return rows, ticks


def _in_order(rows: Rows, ticks: npt.NDArray[Any]) -> Rows:
    return taken(rows, np.argsort(ticks, kind="stable"))
