"""Links between devices, to the host and between dies: HCCS, UB, PCIE, SIO."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import raw_catalog

from ..draws import Draws
from .scene import MEBI, MICROSECOND, MILLION, Columns, DeviceScene, per_second
from .traffic import Curve

PARTS_GRID = "PCIE parts"
IDLE_LINK = (200_000, 400_000)
"""Byte/s that keep a link alive."""
PARTS = 10
"""PCIE reports the extremes of so many parts of each interval."""
LARGEST_PCIE_RATE = ((1 << 32) - 1) // MILLION
"""Byte per us beyond which the exporter's 32 bits overflow; the monitor saturates (E36)."""
READ_REQUEST, READ_PAYLOAD = 24, 512
COMMAND_BYTES = 72
"""The host writes 64 Byte and rings a bell of 8 for each task."""
LATENCY_NS = (600, 900)
LATENCY_SPREAD_NS = (0, 250)
DIES, DIES_V6 = "sio_dies", "sio_dies_v6"
"""Sets of the spec that name the dies."""
LINE_BYTES, MESSAGE_BYTES = 128, 16
"""Between dies every line of 128 Byte takes a request ahead and a response back."""


def hccs(scene: DeviceScene) -> Columns:
    """Rates of the links to the other devices of the host."""
    grid, draws = scene.grids["HCCS"], scene.noise("HCCS")
    columns: Columns = {"timestampNs": grid[1:]}
    for name, amount in (("tx", scene.written(grid, "hccs")), ("rx", scene.read(grid, "hccs"))):
        idle = draws.between(*IDLE_LINK, len(amount))
        columns[f"{name}Throughput"] = per_second(amount, grid) + idle
    return columns


def ub(scene: DeviceScene) -> Columns:
    """Rates of each port of the unified bus, the ports of a moment in order; whole MiB/s."""
    grid, flows = scene.grids["UB"], scene.traffic.ports
    curves = [Curve(flow, grid) for flow in flows]

    def rates(moved: list[Integers]) -> Integers:
        every = [per_second(np.diff(amount), grid) // MEBI for amount in moved]
        return np.stack(every, axis=1).reshape(-1)

    return {
        "portId": np.tile(np.arange(len(flows)), len(grid) - 1),
        "timestampNs": np.repeat(grid[1:], len(flows)),
        "rxUdmaBind": rates([one.read(grid) for one in curves]),
        "txUdmaBind": rates([one.written(grid) for one in curves]),
    }


def sio(scene: DeviceScene) -> Columns:
    """Rates between the dies of a package, of two of them half over either channel.

    Nothing here moves over the channels of further dies.
    """
    grid = scene.grids["SIO"]
    sent = per_second(scene.written(grid, "sio"), grid)
    received = per_second(scene.read(grid, "sio"), grid)
    members = raw_catalog().vocabularies[DIES_V6 if scene.machine.chip.dies else DIES].members
    dies = [one.name or "" for one in members]
    count = len(sent) * len(dies)
    others = np.zeros(count - 2 * len(sent), np.int64)
    columns: Columns = {
        "name": np.repeat(scene.texts.numbers(dies), len(sent)),
        "timestampNs": np.tile(grid[1:], len(dies)),
    }
    for side, data, answered in (("rx", received, sent), ("tx", sent, received)):
        halves = np.concatenate([data // 2, data - data // 2, others])
        answers = np.concatenate([answered // 2, answered - answered // 2, others])
        columns[f"{side}Req"] = halves * MESSAGE_BYTES // LINE_BYTES
        columns[f"{side}Rsp"] = answers * MESSAGE_BYTES // LINE_BYTES
        columns[f"{side}Snp"] = np.zeros(count, np.int64)
        columns[f"{side}Dat"] = halves
    return columns


def pcie_parts(grid: Integers) -> Integers:
    """Moments that cut every interval of a grid into PARTS parts; whole microseconds."""
    length = np.diff(grid) // MICROSECOND
    within = length[:, None] * np.arange(PARTS + 1) // PARTS * MICROSECOND
    return grid[:-1, None] + within


def pcie(scene: DeviceScene) -> Columns:
    """Least, greatest and mean rate of each kind of packet, and the latency of reads.

    The device reads what the host sends: requests go out, data come back with their completions.
    What it sends to the host it posts. The host posts its commands.
    """
    grid = scene.grids["PCIE"]
    parts = pcie_parts(grid)
    received = np.diff(scene.curve("pcie").read(parts))
    sent = np.diff(scene.curve("pcie").written(parts))
    nothing = np.zeros((len(parts), PARTS), np.int64)
    launched = np.sort(scene.timeline.host.seen, axis=None)
    moved = {
        "txPost": sent,
        "txNonpost": -(-received // READ_PAYLOAD) * READ_REQUEST,
        "txCpl": nothing,
        "rxPost": np.diff(np.searchsorted(launched, parts, "left")) * COMMAND_BYTES,
        "rxNonpost": nothing,
        "rxCpl": received,
    }
    columns: Columns = {"timestampNs": grid[1:]}
    length = np.diff(parts) // MICROSECOND
    whole = length.sum(axis=1)
    for name, amount in moved.items():
        rates = np.minimum(amount // np.maximum(length, 1), LARGEST_PCIE_RATE) * MILLION
        mean = np.minimum(amount.sum(axis=1) // whole, LARGEST_PCIE_RATE) * MILLION
        columns[f"{name}Min"] = rates.min(axis=1, initial=LARGEST_PCIE_RATE * MILLION)
        columns[f"{name}Max"] = rates.max(axis=1, initial=0)
        columns[f"{name}Avg"] = mean
    return columns | _latency(scene.noise("PCIE"), len(parts))


def _latency(draws: Draws, count: int) -> Columns:
    least = draws.between(*LATENCY_NS, count)
    mean = least + draws.between(*LATENCY_SPREAD_NS, count)
    greatest = mean + draws.between(*LATENCY_SPREAD_NS, count)
    return {
        "txNonpostLatencyMin": least,
        "txNonpostLatencyMax": greatest,
        "txNonpostLatencyAvg": mean,
    }
