"""Traffic that devices sampled: memory, ports, links (raw-prof 4.8)."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from ascend_ref.capture import Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.traffic import STREAM
from ascend_spec.raw.records import STARS_QOS_FIRST

from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..fields import numbers
from ..rates import rates
from ..samples import SOC, clock_name, file_of
from ..traffic import BUS_FIELDS, MEBI, PCIE_FIELDS, PIECE, Columns, before, directions, part_of
from .session import Rows, Session
from .times import timed, times_of

_LARGEST = (1 << 63) // PIECE
_PORT = (
    *("timestampNs", "bandwidth", "funcId"),
    *("rxPacketRate", "rxPackets", "rxByteRate", "rxBytes", "rxErrors", "rxDropped"),
    *("txPacketRate", "txPackets", "txByteRate", "txBytes", "txErrors", "txDropped"),
)


def read_port(session: Session, context: Context, kind: str) -> Columns:
    """NIC or ROCE; ``bandwidth`` in Byte per second."""
    rows = [parts for line, parts in session.lines(context, kind) if line == "sample"]
    ticks = np.array([min(int(one["time"]), LIMIT) for one in rows], np.int64)
    time = times_of(session, context, kind, clock_name(kind), ticks)
    columns = {
        name: np.array([_whole(one.get(part_of(name), "0"), name) for one in rows], np.int64)
        for name in _PORT
        if name != "timestampNs"
    }
    return {
        "timestampNs": time[time != OUT_OF_RANGE],
        **{name: column[time != OUT_OF_RANGE] for name, column in columns.items()},
    }


def _whole(text: str, name: str) -> int:
    value = Decimal(text) * (MEBI if name == "bandwidth" else 1)
    return int(min(max(value, Decimal(-_LARGEST)), Decimal(_LARGEST)))


def read_hbm(session: Session, context: Context, texts: Texts, device: int) -> Columns:
    """HBM, of which the first sample of each unit has no interval."""
    every = directions()
    rows, time = timed(
        session,
        context,
        "hbm",
        right=lambda some: (some["eventType"] < len(every)) & (some["count"] < _LARGEST),
    )
    ways = texts.numbers(every) if len(rows) else np.zeros(len(every), np.int64)
    table = {
        "deviceId": np.full(len(rows), device),
        "timestampNs": time,
        "hbmId": rows["hbmId"].astype(np.int64),
        "type": ways[rows["eventType"]],
    }
    return {
        "timestampNs": time,
        "bandwidth": rates(rows["count"].astype(np.int64), time - before(table), PIECE),
        "hbmId": table["hbmId"],
        "type": table["type"],
    }


def read_pcie(session: Session, context: Context) -> Columns:
    """PCIE, in Byte per second and ns."""
    rows, time = timed(session, context, "pcie")
    return {
        "timestampNs": time,
        **{
            name: rows[field].astype(np.int64) * unit for name, (field, unit) in PCIE_FIELDS.items()
        },
    }


def read_bus(session: Session, context: Context) -> Columns:
    """UB, of which no rate can be as great as to need the highest bit."""
    rows, time = timed(
        session,
        context,
        "ub",
        right=lambda some: (some["udmaRxBind"] < LIMIT) & (some["udmaTxBind"] < LIMIT),
    )
    return {
        "timestampNs": time,
        **{name: rows[field].astype(np.int64) for name, field in BUS_FIELDS.items()},
    }


def read_qos(session: Session, context: Context, texts: Texts) -> Columns:
    """QOS of the streams that sample.json names; without names nothing is known of the values."""
    chip = context.side.chip
    if chip is not None and file_of("QOS", chip) == SOC:
        rows, time = timed(session, context, SOC, "STARS_QOS")
        values = rows["qosBwData"][:, STARS_QOS_FIRST:]
        die = numbers(session.declaration(SOC, "STARS_QOS"), "dieId", rows)
        return _streams(session, context, texts, SOC, values, time, die)
    rows, time = timed(session, context, "qos")
    return _streams(session, context, texts, "qos", rows["bandwidth"], time)


def _streams(
    session: Session,
    context: Context,
    texts: Texts,
    kind: str,
    values: Rows,
    time: Integers,
    die: Integers | None = None,
) -> Columns:
    events = str(context.side.documents.get("sample", {}).get("qosEvents", ""))
    names = [STREAM + one for one in events.split(",") if one][: values.shape[1]]
    if len(values) and not names:
        text = (
            f"{kind}: sample.json has no qosEvents, so nobody knows which streams the values are of"
        )
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    values = values[:, : len(names)].astype(np.int64) * MEBI
    return {
        "eventName": np.tile(texts.numbers(names), len(values)),
        "bandwidth": values.reshape(-1),
        "timestampNs": np.repeat(time, len(names)),
        "dieId": np.full(values.size, NONE) if die is None else np.repeat(die, len(names)),
    }
