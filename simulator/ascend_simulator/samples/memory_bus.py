"""Traffic with the device's memory: HBM, DDR, LLC, QOS, ACC_PMU, SOC_BANDWIDTH_LEVEL."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.model import NONE

from .scene import LINKS, MEBI, MILLION, Columns, DeviceScene, per_second

UNITS = 4
SPLIT = 1 << 16
UNEVEN = 160
"""Units differ by about half a percent (db-schema.md 7.8)."""
IDLE_READ = (8 * MILLION, 14 * MILLION)
IDLE_WRITE = (2 * MILLION, 8 * MILLION)
"""Byte/s that a unit of an idle device moves."""
HIT_PER_MILLE = (750, 920)
IDLE_HIT_PER_MILLE = (0, 300)
CACHES = {"A2": (1, 0), "A3": (1, 0), "200I-500-A2": (1,)}
OTHER_CACHES = (1, 1, 1, 1)
"""How the caches share the traffic: on A2 and A3 the second one serves something else. So many of
a product are evaluated (raw-prof 4.8, erratum U18)."""
QOS_IDLE_MEBI = (20, 60)
ACCELERATORS = 28
BUS_LEVELS = 4
CACHE_LEVELS = 2


def hbm(scene: DeviceScene) -> Columns:
    """Rates of each unit, reading units before writing ones; the first sample has no interval."""
    grid = scene.grids["HBM"]
    draws = scene.noise("HBM")
    on_chip = scene.machine.chip.memory_kind == "HBM"
    rates = np.zeros((len(grid), 2, UNITS), np.int64)
    amounts = (scene.memory_read(grid), scene.memory_written(grid))
    for direction, (amount, idle) in enumerate(zip(amounts, (IDLE_READ, IDLE_WRITE), strict=True)):
        uneven = draws.between(-UNEVEN, UNEVEN, len(amount) * (UNITS - 1)).reshape(-1, UNITS - 1)
        cuts = uneven + np.arange(1, UNITS) * (SPLIT // UNITS)
        parts = np.diff(amount[:, None] * cuts // SPLIT, prepend=0, append=amount[:, None])
        noise = draws.between(*idle, len(amount) * UNITS).reshape(-1, UNITS)
        for unit in range(UNITS):
            moved = per_second(parts[:, unit] * on_chip, grid)
            rates[1:, direction, unit] = moved + noise[:, unit]
    kinds = scene.texts.numbers(("read", "write"))
    return {
        "timestampNs": np.repeat(grid, 2 * UNITS),
        "bandwidth": rates.reshape(-1),
        "hbmId": np.tile(np.arange(UNITS, dtype=np.int64), 2 * len(grid)),
        "type": np.tile(np.repeat(kinds, UNITS), len(grid)),
    }


def ddr(scene: DeviceScene) -> Columns:
    """Rates of the DDR memory; on chips with on-chip memory it only serves the device's system."""
    grid = scene.grids["DDR"]
    draws = scene.noise("DDR")
    in_use = scene.machine.chip.memory_kind == "DDR"
    rates = np.zeros((2, len(grid)), np.int64)
    amounts = (scene.memory_read(grid), scene.memory_written(grid))
    for direction, (amount, idle) in enumerate(zip(amounts, (IDLE_READ, IDLE_WRITE), strict=True)):
        noise = draws.between(*idle, len(amount))
        rates[direction, 1:] = per_second(amount * in_use, grid) + noise
    return {"timestampNs": grid, "read": rates[0], "write": rates[1]}


def llc(scene: DeviceScene) -> Columns:
    """Hit rate and traffic of the caches, one after the other, in the reading mode.

    The memory serves what the cache misses: ``throughput * (1 - hitRate)`` is what it read. No
    cache passes more than it can, so the busier the memory is, the fewer hits there are.
    """
    grid = scene.grids["LLC"]
    draws = scene.noise("LLC")
    chip = scene.machine.chip
    weights = CACHES.get(chip.product, OTHER_CACHES)
    limit = chip.l2_bandwidth * MILLION // sum(weights)
    amount = scene.memory_read(grid)
    rates, hits = [], []
    for weight in weights:
        hit = draws.between(*(HIT_PER_MILLE if weight else IDLE_HIT_PER_MILLE), len(grid))
        idle = draws.between(*IDLE_READ, len(amount))
        missed = np.zeros(len(grid), np.int64)
        missed[1:] = per_second(amount * weight // sum(weights), grid) + idle
        hit = np.clip(hit, 0, np.maximum(1_000 - -(-missed * 1_000 // limit), 0))
        rates.append(missed * 1_000 // (1_000 - hit))
        hits.append(hit)
    count = len(grid) * len(weights)
    return {
        "llcId": np.repeat(np.arange(len(weights), dtype=np.int64), len(grid)),
        "timestampNs": np.tile(grid, len(weights)),
        "hitRate": np.concatenate(hits) / 10.0,
        "throughput": np.concatenate(rates),
        "mode": np.full(count, scene.texts.number("read"), np.int64),
    }


def qos(scene: DeviceScene) -> Columns:
    """Rates of the events, in whole MB/s; AIC is the cores, HCCL the links to other devices."""
    grid = scene.grids["QOS"]
    draws = scene.noise("QOS")
    idle = draws.between(*QOS_IDLE_MEBI, max(len(grid) - 1, 0)) * MEBI
    transfers = LINKS[:-1]
    host = per_second(scene.read(grid, "pcie") + scene.written(grid, "pcie"), grid)
    events = {
        "QoS OTHERS": host + idle,
        "QoS AIC_READ": per_second(scene.read(grid, "memory"), grid),
        "QoS AIC_WRITE": per_second(scene.written(grid, "memory"), grid),
        "QoS HCCL": per_second(
            scene.read(grid, *transfers) + scene.written(grid, *transfers), grid
        ),
    }
    dies = scene.machine.chip.dies or (NONE,)
    each = np.stack(list(events.values()), axis=-1) // len(dies) // MEBI * MEBI
    rates = np.repeat(each, len(dies), axis=0)
    return {
        "eventName": np.tile(scene.texts.numbers(events), len(rates)),
        "bandwidth": rates.reshape(-1),
        "timestampNs": np.repeat(grid[1:], len(dies) * len(events)),
        "dieId": np.tile(np.repeat(np.array(dies, np.int64), len(events)), len(each)),
    }


def acc_pmu(scene: DeviceScene) -> Columns:
    """Load levels of the accelerators for images and video, which nothing here uses."""
    grid = scene.grids["ACC_PMU"]
    count = len(grid) * ACCELERATORS
    levels = ("readBwLevel", "writeBwLevel", "readOstLevel", "writeOstLevel")
    return {
        "accId": np.tile(np.arange(ACCELERATORS, dtype=np.int64), len(grid)),
        **{level: np.zeros(count, np.int64) for level in levels},
        "timestampNs": np.repeat(grid, ACCELERATORS),
    }


def soc_bandwidth_level(scene: DeviceScene) -> Columns:
    """Levels of the buses, from what they carry as a share of what they can."""
    grid = scene.grids["SOC_BANDWIDTH_LEVEL"]
    chip = scene.machine.chip
    rate = np.zeros(len(grid), np.int64)
    rate[1:] = per_second(scene.memory_read(grid) + scene.memory_written(grid), grid) // MILLION
    return {
        "l2BufferBwLevel": np.minimum(rate * CACHE_LEVELS // chip.l2_bandwidth, CACHE_LEVELS),
        "mataBwLevel": np.minimum(rate * BUS_LEVELS // chip.hbm_bandwidth, BUS_LEVELS),
        "timestampNs": grid,
    }
