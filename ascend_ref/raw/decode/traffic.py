"""Traffic that devices sampled: memory, ports, links (raw-prof 4.8)."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from ascend_ref.capture import Texts
from ascend_ref.capture.model import NONE

from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..rates import rates
from ..samples import clock_name
from ..traffic import DIRECTIONS, MEBI, PCIE_FIELDS, PIECE, Columns, before, part_of
from .session import Session
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
    rows, time = timed(
        session,
        context,
        "hbm",
        right=lambda some: (some["eventType"] < len(DIRECTIONS)) & (some["count"] < _LARGEST),
    )
    ways = texts.numbers(DIRECTIONS) if len(rows) else np.zeros(len(DIRECTIONS), np.int64)
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


def read_qos(session: Session, context: Context, texts: Texts) -> Columns:
    """QOS of the streams that sample.json names; without names nothing is known of the values."""
    rows, time = timed(session, context, "qos")
    events = str(context.side.documents.get("sample", {}).get("qosEvents", ""))
    names = [one for one in events.split(",") if one][: rows["bandwidth"].shape[1]]
    if len(rows) and not names:
        text = "qos: sample.json has no qosEvents, so nobody knows which streams the values are of"
        session.damage.append(Damage(context.folder.path, text, kind="qos"))
    values = rows["bandwidth"][:, : len(names)].astype(np.int64) * MEBI
    return {
        "eventName": np.tile(texts.numbers(names), len(rows)),
        "bandwidth": values.reshape(-1),
        "timestampNs": np.repeat(time, len(names)),
        "dieId": np.full(values.size, NONE),
    }
