"""What devices sampled: clocks of the cores, memory, accelerators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers
from ascend_spec.raw import records

from ..fields import joined, put, taken, time_field
from ..samples import CLOCK, FILES, MEMORY_FILES, SOC, file_of, owners, soc_record
from .amounts import die_rows, write_amounts
from .chip_links import link_rows
from .host import write_host
from .traffic import streams_of_dies, write_traffic
from .tree import RawTree, Rows

Columns = Mapping[str, npt.NDArray[Any]]


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
        if CLOCK in found and tree.writes(FILES[CLOCK]):
            _write_clock(capture, tree, found[CLOCK], device)
        if "NPU_MEM" in found and tree.writes("npu_mem"):
            _write_memory(capture, tree, found["NPU_MEM"], device)
        if "NPU_MODULE_MEM" in found and tree.writes("npu_module_mem"):
            _write_modules(tree, found["NPU_MODULE_MEM"], device)
        _write_soc(capture, tree, found, device)
        write_traffic(capture, tree, found, device)
        write_amounts(capture, tree, found, device)


def _write_clock(capture: Capture, tree: RawTree, table: Columns, device: int) -> None:
    """The changes of the clock; exporters add the start and the end of the session themselves.

    Of chips that sample it by die, those of the first die.
    """
    bounds = [capture.origin.start, -1 if capture.origin.end is None else capture.origin.end]
    own = ~np.isin(table["timestampNs"], bounds) & (table["dieId"] == table["dieId"].min())
    ticks = tree.side[device].device.ticks(table["timestampNs"][own])
    count = len(ticks)
    rows = tree.rows("lpm_freq", -(-count // records.LPM_SAMPLES))
    place, at = np.divmod(np.arange(count), records.LPM_SAMPLES)
    np.add.at(rows["count"], place, 1)
    rows["lpmDataS"]["sysCnt"][place, at] = ticks
    rows["lpmDataS"]["freq"][place, at] = table["freq"][own]
    tree.write("lpm_freq", rows, device)


def _write_memory(capture: Capture, tree: RawTree, table: Columns, device: int) -> None:
    every, number = capture.texts.all, {name: at for at, name in enumerate(owners())}
    rows = tree.rows("npu_mem", len(table["timestampNs"]))
    rows["timestamp"] = tree.ticks("npu_mem", table["timestampNs"], device)
    # The memory of a process of another name is that of the program, which is 0.
    rows["event"] = [number.get(every[one], 0) for one in table["type"].tolist()]
    rows["ddr"], rows["hbm"] = table["ddr"], table["hbm"]
    for event, kind in enumerate(MEMORY_FILES):
        own = taken(rows, np.flatnonzero(rows["event"] == event))
        tree.write(kind, _in_order(own, own["timestamp"]), device)


def _write_modules(tree: RawTree, table: Columns, device: int) -> None:
    rows = tree.rows("npu_module_mem", len(table["timestampNs"]))
    rows["moduleId"] = table["moduleId"]
    rows["timestamp"] = tree.ticks("npu_module_mem", table["timestampNs"], device)
    rows["totalSize"] = table["totalReserved"]
    tree.write("npu_module_mem", _in_order(rows, rows["timestamp"]), device)


def _write_soc(capture: Capture, tree: RawTree, found: Mapping[str, Columns], device: int) -> None:
    """Records of accelerators, dies, links and the SoC, which stand in one file."""
    if not tree.writes(SOC):
        return
    parts: list[tuple[Rows, Integers]] = []
    parts += link_rows(capture, tree, device, lambda one, times: _soc(tree, one, times, device))
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
    if "SOC_BANDWIDTH_LEVEL" in found and tree.has(SOC, "INTER_SOC"):
        table = found["SOC_BANDWIDTH_LEVEL"]
        rows, ticks = _soc(tree, "INTER_SOC", table["timestampNs"], device)
        declaration = tree.declaration(SOC, "INTER_SOC")
        put(declaration, rows, "l2BufferBwLevel", table["l2BufferBwLevel"])
        put(declaration, rows, "mataBwLevel", table["mataBwLevel"])
        parts.append((rows, ticks))
    record = soc_record("SIO", tree.chip)
    if "SIO" in found and record is not None:
        rows = die_rows(
            capture,
            found["SIO"],
            tree.declaration(SOC, record),
            lambda times: _soc(tree, record, times, device)[0],
        )
        parts.append((rows, rows["sysCnt"].astype(np.int64)))
    if CLOCK in found and file_of(CLOCK, tree.chip) == SOC:
        table = found[CLOCK]
        rows, ticks = _soc(tree, "LOW_POWER_V6", table["timestampNs"], device)
        put(tree.declaration(SOC, "LOW_POWER_V6"), rows, "dieId", table["dieId"])
        rows["lpSampleInfo"][:, records.CORE_CLOCK] = table["freq"]
        parts.append((rows, ticks))
    if "QOS" in found and file_of("QOS", tree.chip) == SOC:
        times, die, values = streams_of_dies(capture, found["QOS"])
        rows, ticks = _soc(tree, "STARS_QOS", times, device)
        put(tree.declaration(SOC, "STARS_QOS"), rows, "dieId", die)
        rows["qosBwData"][:, records.STARS_QOS_FIRST :] = values
        parts.append((rows, ticks))
    if parts:
        rows = joined([one for one, _ in parts])
        order = np.argsort(np.concatenate([ticks for _, ticks in parts]), kind="stable")
        tree.write(SOC, taken(rows, order), device, record="ACC_PMU")


def _soc(tree: RawTree, record: str, times: Integers, device: int) -> tuple[Rows, Integers]:
    """Records of one kind of the SoC, and their ticks."""
    declaration = tree.declaration(SOC, record)
    rows = tree.rows(SOC, len(times), record)
    field, clock = time_field(declaration)
    ticks = tree.side[device].by_name(clock).ticks(times)
    put(declaration, rows, "funcType", tree.kind(SOC, record))
    rows[field] = ticks
    return rows, ticks


def _in_order(rows: Rows, ticks: npt.NDArray[Any]) -> Rows:
    return taken(rows, np.argsort(ticks, kind="stable"))
