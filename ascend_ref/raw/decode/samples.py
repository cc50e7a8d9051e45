"""What devices sampled, as tables by the name of their database table (raw-prof 4.7 to 4.9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, Origin, Texts
from ascend_ref.capture.model import NONE
from ascend_spec import raw_catalog
from ascend_spec.raw import records

from ..clocks import OUT_OF_RANGE
from ..context import Context
from ..fields import numbers, time_field
from ..samples import (
    ACCELERATOR,
    CLOCK,
    DIES,
    LEVELS,
    OWNERS,
    POWER,
    SERVICE,
    SOC,
    file_of,
    soc_record,
    with_bounds,
)
from .amounts import read_caches, read_dies, read_links, read_memory, read_network
from .session import Rows, Session
from .times import times_of
from .traffic import read_hbm, read_pcie, read_port, read_qos, read_qos_of_dies

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
    rows = session.rows(context, "lpm_freq")
    width = rows["lpmDataS"].shape[1]
    count = np.minimum(rows["count"], width).astype(np.int64)
    inside = np.arange(width) < count[:, None]
    ticks = rows["lpmDataS"]["sysCnt"][inside]
    time = times_of(session, context, "lpm_freq", lambda: context.side.device, ticks)
    known = time != OUT_OF_RANGE
    time, clock = time[known], rows["lpmDataS"]["freq"][inside][known].astype(np.int64)
    order = np.argsort(time, kind="stable")
    time, clock = time[order], clock[order]
    time, clock = with_bounds(time, clock, nominal, origin)
    return {"timestampNs": time, "freq": clock, "dieId": np.full(len(time), NONE)}


def _sampled_clock(session: Session, context: Context) -> Columns:
    """The clock of the dies that have cores, where samples of power hold it."""
    declaration = session.declaration(SOC, "LOW_POWER_V6")
    rows, time = _soc(session, context, POWER)
    die = numbers(declaration, "dieId", rows)
    own = np.flatnonzero(np.isin(die, records.CORE_DIES))
    own = own[np.argsort(time[own], kind="stable")]
    freq = rows["lpSampleInfo"][own, records.CORE_CLOCK].astype(np.int64)
    return {"timestampNs": time[own], "freq": freq, "dieId": die[own]}


def _memory(session: Session, context: Context, _: Origin, texts: Texts) -> Columns:
    rows = session.rows(context, "npu_mem", "NPU_MEM")
    time = times_of(
        session, context, "npu_mem", lambda: context.side.since_start, rows["timestamp"]
    )
    known = (time != OUT_OF_RANGE) & (rows["event"] < len(OWNERS))
    rows, time = rows[known], time[known]
    order = np.argsort(rows["event"], kind="stable")
    owners = texts.numbers(OWNERS) if len(rows) else np.zeros(len(OWNERS), np.int64)
    return {
        "type": owners[rows["event"][order]],
        "ddr": rows["ddr"][order].astype(np.int64),
        "hbm": rows["hbm"][order].astype(np.int64),
        "timestampNs": time[order],
    }


def _modules(session: Session, context: Context, _: Origin, __: Texts) -> Columns:
    rows = session.rows(context, "npu_module_mem")
    ticks = rows["timestamp"]
    time = times_of(session, context, "npu_module_mem", lambda: context.side.host, ticks)
    known = time != OUT_OF_RANGE
    return {
        "moduleId": rows["moduleId"][known].astype(np.int64),
        "timestampNs": time[known],
        "totalReserved": rows["totalSize"][known].astype(np.int64),
    }


def _accelerators(session: Session, context: Context, _: Origin, __: Texts) -> Columns:
    rows, time = _soc(session, context, ACCELERATOR)
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
    rows, time = _soc(session, context, LEVELS)
    return {
        "l2BufferBwLevel": numbers(declaration, "l2BufferBwLevel", rows),
        "mataBwLevel": numbers(declaration, "mataBwLevel", rows),
        "timestampNs": time,
    }


def _dies(session: Session, context: Context, _: Origin, texts: Texts) -> Columns:
    record = soc_record(DIES, context.side.chip)
    if record is None:
        return {}
    rows, time = _soc(session, context, DIES)
    return read_dies(session.declaration(SOC, record), rows, time, texts)


def _service(session: Session, context: Context, _: Origin, texts: Texts) -> Columns:
    chip = context.side.chip
    if chip is None or file_of("QOS", chip) != SOC:
        return read_qos(session, context, texts)
    rows, time = _soc(session, context, SERVICE)
    return read_qos_of_dies(session, context, texts, rows, time)


def _soc(session: Session, context: Context, kind: int) -> tuple[Rows, Integers]:
    """Records of one kind of the SoC, none where the chip has none, and their times."""
    record = soc_record(kind, context.side.chip)
    if record is None:
        members = raw_catalog().files[SOC].members
        record = next(one.record for one in members if kind in one.values)
    rows = session.rows(context, SOC, record)
    ticks = rows[time_field(session.declaration(SOC, record))]
    time = times_of(session, context, SOC, lambda: context.side.device, ticks)
    known = time != OUT_OF_RANGE
    return rows[known], time[known]


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
    "QOS": _service,
    "ROCE": lambda session, context, *_: read_port(session, context, "roce"),
    "SIO": _dies,
}
