"""What devices sampled, as tables by the name of their database table (raw-prof 4.7 to 4.9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Origin, Texts
from ascend_ref.capture.model import NONE
from ascend_spec.raw import records

from ..context import Context
from ..fields import joined, numbers
from ..samples import CLOCK, MEMORY_FILES, SOC, file_of, owners, with_bounds
from ..voltages import FILE as VOLTAGES
from ..voltages import FREQUENCY, has_voltages
from .amounts import read_caches, read_dies, read_links, read_memory, read_network
from .session import Session
from .times import timed
from .traffic import read_bus, read_hbm, read_pcie, read_port, read_qos
from .voltages import read_changes

Columns = Mapping[str, npt.NDArray[Any]]
Samples = Mapping[str, Columns]


def read_samples(session: Session, origin: Origin, texts: Texts) -> Samples:
    """The tables of all devices, each in order of device and file."""
    found: dict[str, list[Columns]] = {}
    for device, context in session.devices.items():
        for name, read in _READERS.items():
            table = read(session, context, origin, texts)
            count = len(table.get("timestampNs", ()))
            if count:
                found.setdefault(name, []).append({"deviceId": np.full(count, device), **table})
    return {
        name: {key: np.concatenate([one[key] for one in parts]) for key in parts[0]}
        for name, parts in found.items()
    }


def _clock(session: Session, context: Context, origin: Origin, _: Texts) -> Columns:
    """The clock of the cores: that of info.json at the start of the session, and each change.

    At the end of the session the last one is stated again (raw-prof 6.1).
    """
    chip, nominal = context.side.chip, origin.facts.frequency if origin.facts is not None else 0
    kind = None if chip is None else file_of(CLOCK, chip)
    if kind == SOC:
        return _sampled_clock(session, context)
    if kind is None or not nominal:
        return {}
    time, clock = read_changes(session, context, kind, session.rows(context, kind), "freq")
    if not len(time) and has_voltages(chip):
        rows = session.rows(context, VOLTAGES)
        rows = rows[rows["type"] == FREQUENCY]
        time, clock = read_changes(session, context, VOLTAGES, rows, "value")
    time, clock = with_bounds(time, clock, nominal, origin)
    return {"timestampNs": time, "freq": clock, "dieId": np.full(len(time), NONE)}


def _sampled_clock(session: Session, context: Context) -> Columns:
    """The clock of the dies that have cores, where samples of power hold it."""
    declaration = session.declaration(SOC, "LOW_POWER_V6")
    rows, time = timed(session, context, SOC, "LOW_POWER_V6")
    die = numbers(declaration, "dieId", rows)
    own = np.flatnonzero(np.isin(die, records.CORE_DIES))
    own = own[np.argsort(time[own], kind="stable")]
    freq = rows["lpSampleInfo"][own, records.CORE_CLOCK].astype(np.int64)
    return {"timestampNs": time[own], "freq": freq, "dieId": die[own]}


def _memory(session: Session, context: Context, _: Origin, texts: Texts) -> Columns:
    every = owners()
    parts = [
        timed(session, context, kind, right=lambda some: some["event"] < len(every))
        for kind in MEMORY_FILES
    ]
    rows, time = joined([one for one, _ in parts]), np.concatenate([one for _, one in parts])
    order = np.argsort(rows["event"], kind="stable")
    named = texts.numbers(every) if len(rows) else np.zeros(len(every), np.int64)
    return {
        "type": named[rows["event"][order]],
        "ddr": rows["ddr"][order].astype(np.int64),
        "hbm": rows["hbm"][order].astype(np.int64),
        "timestampNs": time[order],
    }


def _modules(session: Session, context: Context, _: Origin, __: Texts) -> Columns:
    rows, time = timed(session, context, "npu_module_mem")
    return {
        "moduleId": rows["moduleId"].astype(np.int64),
        "timestampNs": time,
        "totalReserved": rows["totalSize"].astype(np.int64),
    }


def _accelerators(session: Session, context: Context, _: Origin, __: Texts) -> Columns:
    rows, time = timed(session, context, SOC, "ACC_PMU")
    return {
        "accId": rows["accId"].astype(np.int64),
        "readBwLevel": rows["readBandwidth"].astype(np.int64),
        "writeBwLevel": rows["writeBandwidth"].astype(np.int64),
        "readOstLevel": rows["readOst"].astype(np.int64),
        "writeOstLevel": rows["writeOst"].astype(np.int64),
        "timestampNs": time,
    }


def _levels(session: Session, context: Context, _: Origin, __: Texts) -> Columns:
    declaration = session.declaration(SOC, "INTER_SOC")
    rows, time = timed(session, context, SOC, "INTER_SOC")
    return {
        "l2BufferBwLevel": numbers(declaration, "l2BufferBwLevel", rows),
        "mataBwLevel": numbers(declaration, "mataBwLevel", rows),
        "timestampNs": time,
    }


_READERS: Mapping[str, Callable[[Session, Context, Origin, Texts], Columns]] = {
    "ACC_PMU": _accelerators,
    "AICORE_FREQ": _clock,
    "NPU_MEM": _memory,
    "NPU_MODULE_MEM": _modules,
    "SOC_BANDWIDTH_LEVEL": _levels,
    "DDR": lambda session, context, *_: read_memory(session, context),
    "HBM": lambda session, context, _, texts: read_hbm(
        session, context, texts, context.folder.device or 0
    ),
    "HCCS": lambda session, context, *_: read_links(session, context),
    "LLC": lambda session, context, _, texts: read_caches(session, context, texts),
    "NETDEV_STATS": lambda session, context, *_: read_network(session, context),
    "NIC": lambda session, context, *_: read_port(session, context, "nic"),
    "PCIE": lambda session, context, *_: read_pcie(session, context),
    "QOS": lambda session, context, _, texts: read_qos(session, context, texts),
    "ROCE": lambda session, context, *_: read_port(session, context, "roce"),
    "SIO": lambda session, context, _, texts: read_dies(session, context, texts),
    "UB": lambda session, context, *_: read_bus(session, context),
}
