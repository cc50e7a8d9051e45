"""The device's network port: NIC, ROCE, NETDEV_STATS."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import catalog

from .scene import MEBI, MICROSECOND, MILLION, Columns, DeviceScene, per_second

PAYLOAD = 4_096
HEADERS = 62
"""Byte of Ethernet, IP, UDP, BTH and checksum around each payload of RoCE."""
FRAME = PAYLOAD + HEADERS
UPTIME_PACKETS = (1 << 12, 1 << 20)
"""What the port has moved since it came up, in full packets."""
COUNTER_LIMIT = 1 << 30
"""Ports are read before their 32-bit counters can wrap unseen, however seldom one asked for it."""
FAULTS = ("Errors", "Dropped")


def longest_period(bytes_per_microsecond: int) -> int:
    """ns within which a port of this speed moves less than its counters can count."""
    return COUNTER_LIMIT // bytes_per_microsecond * MICROSECOND


def netdev_stats(scene: DeviceScene) -> Columns:
    """Differences between samples, layer by layer; so the first sample gives no row."""
    grid = scene.grids["NETDEV_STATS"]
    names = catalog().tables["NETDEV_STATS"].columns.keys() - {"deviceId"}
    columns: Columns = dict.fromkeys(sorted(names), np.zeros(max(len(grid) - 1, 0), np.int64))
    columns["timestampNs"] = grid[1:]
    for side, carried in _carried(scene, grid).items():
        columns[f"roce{side}Pkt"] = np.diff(carried.packets)
        amount = np.diff(carried.frames)
        for layer in ("mac", "nic"):
            columns[f"{layer}{side}Byte"] = amount
            columns[f"{layer}{side}Bandwidth"] = per_second(amount, grid)
    return columns


class Carried(NamedTuple):
    """What one direction of the port has carried by some moments; arrays of their length.

    packets: how many, the last one perhaps in part. payload, frames: Byte without and with headers.
    """

    packets: Integers
    payload: Integers
    frames: Integers


def port(scene: DeviceScene, table: Literal["NIC", "ROCE"]) -> Columns:
    """Counters since the port came up, and their growth per second.

    The network card (NIC) sees headers too, the RoCE engine payloads.
    """
    grid = scene.grids[table]
    uptime = scene.noise("port")
    columns: Columns = {
        "timestampNs": grid,
        "bandwidth": np.full(len(grid), _speed(scene), np.int64),
        "funcId": np.zeros(len(grid), np.int64),
    }
    counted, size = ("frames", FRAME) if table == "NIC" else ("payload", PAYLOAD)
    for side, carried in _carried(scene, grid).items():
        packets_before = uptime.one(*UPTIME_PACKETS)
        name = side.lower()
        for count, total, start in (
            ("Packet", carried.packets, packets_before),
            ("Byte", getattr(carried, counted), packets_before * size),
        ):
            rate = np.zeros(len(grid), np.int64)
            rate[1:] = per_second(np.diff(total), grid)
            columns[f"{name}{count}Rate"] = rate
            columns[f"{name}{count}s"] = start + total
        for fault in FAULTS:
            columns[f"{name}{fault}"] = np.zeros(len(grid), np.int64)
    return columns


def _speed(scene: DeviceScene) -> int:
    """Byte per second of the port in either direction, as it states them: whole MiB."""
    return scene.machine.outside.bytes_per_microsecond * MILLION // MEBI * MEBI


def _carried(scene: DeviceScene, grid: Integers) -> dict[str, Carried]:
    """What either direction has carried by the moments of a grid, by ``Rx`` and ``Tx``.

    Transfers vary around the rate of the link and know no headers: what exceeds the speed of the
    port waits in it, first in, first out.
    """
    curve, moments = scene.curve("roce"), scene.moments
    room = (moments - moments[0]) // MICROSECOND * (_speed(scene) // MILLION)
    places = np.searchsorted(moments, grid)
    found = {}
    for side, payload in (("Rx", curve.read(moments)), ("Tx", curve.written(moments))):
        handed = payload + -(-payload // PAYLOAD) * HEADERS
        frames = (np.minimum.accumulate(handed - room) + room)[places]
        packets = -(-frames // FRAME)
        last = frames - (packets - 1) * FRAME
        whole = (packets - 1) * PAYLOAD + np.maximum(last - HEADERS, 0)
        found[side] = Carried(packets, whole, frames)
    return found
