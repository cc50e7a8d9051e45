"""The device's network port: NIC, ROCE, NETDEV_STATS."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers

from .grids import MICROSECOND
from .scene import MEBI, MILLION, Columns, Scene, per_second

PAYLOAD = 4_096
HEADERS = 62
"""Byte of Ethernet, IP, UDP, BTH and checksum around each payload of RoCE."""
UPTIME_PACKETS = (1 << 12, 1 << 20)
"""What the port has moved since it came up, in full packets."""
COUNTER_LIMIT = 1 << 30
"""Ports are read before their 32-bit counters can wrap unseen, however seldom one asked for it."""
FAULTS = ("Errors", "Dropped")
QUIET = (
    "macTxPfcPkt",
    "macRxPfcPkt",
    "macTxBadByte",
    "macRxBadByte",
    "roceTxErrPkt",
    "roceRxErrPkt",
    "roceTxCnpPkt",
    "roceRxCnpPkt",
    "roceNewPktRty",
)


def longest_period(bytes_per_microsecond: int) -> int:
    """ns within which a port of this speed moves less than its counters can tell."""
    return COUNTER_LIMIT // bytes_per_microsecond * MICROSECOND


def nic(scene: Scene) -> Columns:
    """The port as the network card sees it, headers included."""
    return _port(scene, "NIC", HEADERS)


def roce(scene: Scene) -> Columns:
    """The port as the RoCE engine sees it: payloads."""
    return _port(scene, "ROCE", 0)


def netdev_stats(scene: Scene) -> Columns:
    """Differences between samples, layer by layer; so the first sample gives no row."""
    grid = scene.grids["NETDEV_STATS"]
    columns: Columns = {"deviceId": scene.device(max(len(grid) - 1, 0)), "timestampNs": grid[1:]}
    quiet = np.zeros(max(len(grid) - 1, 0), np.int64)
    columns |= dict.fromkeys(QUIET, quiet)
    for side, payload in _payloads(scene, grid).items():
        packets = np.diff(_packets(payload))
        columns[f"roce{side}Pkt"] = packets
        amount = np.diff(payload) + packets * HEADERS
        for layer in ("mac", "nic"):
            columns[f"{layer}{side}Byte"] = amount
            columns[f"{layer}{side}Bandwidth"] = per_second(amount, grid)
    return columns


def _port(scene: Scene, table: str, overhead: int) -> Columns:
    """Counters since the port came up, and their growth per second."""
    grid = scene.grids[table]
    uptime = scene.draws("port")
    speed = scene.machine.outside.bytes_per_microsecond * MILLION // MEBI * MEBI
    columns: Columns = {
        "deviceId": scene.device(len(grid)),
        "timestampNs": grid,
        "bandwidth": np.full(len(grid), speed, np.int64),
        "funcId": np.zeros(len(grid), np.int64),
    }
    for side, payload in _payloads(scene, grid).items():
        packets = _packets(payload)
        amount = payload + packets * overhead
        packets_before = uptime.one(*UPTIME_PACKETS)
        bytes_before = packets_before * (PAYLOAD + overhead)
        name = side.lower()
        for count, total, start in (
            ("Packet", packets, packets_before),
            ("Byte", amount, bytes_before),
        ):
            rate = np.zeros(len(grid), np.int64)
            rate[1:] = per_second(np.diff(total), grid)
            columns[f"{name}{count}Rate"] = rate
            columns[f"{name}{count}s"] = start + total
        for fault in FAULTS:
            columns[f"{name}{fault}"] = np.zeros(len(grid), np.int64)
    return columns


def _payloads(scene: Scene, grid: Integers) -> dict[str, Integers]:
    curve = scene.curve("roce")
    return {"Rx": curve.read(grid), "Tx": curve.written(grid)}


def _packets(payload: Integers) -> Integers:
    return -(-payload // PAYLOAD)
