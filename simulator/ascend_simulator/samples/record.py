"""Which sampled tables of a device a capture holds, and their rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ascend_ref.capture import Integers, Switches
from ascend_ref.capture.model import Samples
from ascend_spec import catalog

from ..hardware.model import Machine
from ..memory import Footprint
from ..scenario.collected import frequency
from ..world.timeline import Scene
from . import cores, held, links, memory_bus, network
from .scene import MICROSECOND, Columns, DeviceScene, Window, kept, period_of, regular
from .traffic import Traffic

CORE_FREQUENCY = 100
"""Samples of the cores per second, msprof's default."""
BUS_STRETCH = (1_024, 1_000)
"""ACC_PMU and SOC_BANDWIDTH_LEVEL are read every 20.48 ms where HBM is read every 20 ms."""
CACHE_TICK = 2_048 * MICROSECOND
"""LLC is read at ticks: every 18.4 ms where HBM is read every 20 ms."""
DELAY_US = (100, 500)
"""From reading the memory of the process until reading that of the device."""

SAMPLERS: dict[str, Callable[[DeviceScene], Columns]] = {
    "HBM": memory_bus.hbm,
    "DDR": memory_bus.ddr,
    "LLC": memory_bus.llc,
    "QOS": memory_bus.qos,
    "ACC_PMU": memory_bus.acc_pmu,
    "SOC_BANDWIDTH_LEVEL": memory_bus.soc_bandwidth_level,
    "NPU_MEM": held.npu_mem,
    "NPU_MODULE_MEM": held.npu_module_mem,
    "NIC": partial(network.port, table="NIC"),
    "ROCE": partial(network.port, table="ROCE"),
    "NETDEV_STATS": network.netdev_stats,
    "HCCS": links.hccs,
    "PCIE": links.pcie,
    "SIO": links.sio,
    "UB": links.ub,
    "SAMPLE_PMU_TIMELINE": cores.sample_pmu_timeline,
}


def record_samples(scene: Scene, traffic: Traffic, footprint: Footprint) -> Samples:
    """Every table that samples the rank's device; tables that the switches leave out are missing.

    Rows stand in the exporter's order. Rates cover the time since the sample before, so that
    together they make up all traffic; on top of it an idle device moves a little.
    """
    switches, timeline, machine = scene.scenario.capture, scene.timeline, scene.machine
    if not switches.npu:
        return {}
    frequencies = _frequencies(switches, machine.chip.product)
    window = Window.of(timeline, traffic)
    grids: dict[str, Integers] = {}
    for table, often in frequencies.items():
        if table not in SAMPLERS:
            continue
        draws = scene.draws("grid", table)
        grid = regular(window, _period(table, often, machine), draws)
        grids[table] = grid[kept(grid, table, scene)]
        if table == "NPU_MEM":
            delay = draws.one(*DELAY_US) * MICROSECOND
            grids[held.DEVICE_GRID] = grids[table] + min(delay, window.end - int(grid[-1]))
        elif table == "PCIE":
            grids[links.PARTS_GRID] = np.unique(links.pcie_parts(grids[table]))
    device = DeviceScene(**vars(scene), footprint=footprint, traffic=traffic, grids=grids)
    tables = {table: SAMPLERS[table](device) for table in frequencies if table in SAMPLERS}
    if "SAMPLE_PMU_SUMMARY" in frequencies and switches.aic_metrics:
        load = tables[cores.LOAD]
        tables["SAMPLE_PMU_SUMMARY"] = cores.sample_pmu_summary(device, switches.aic_metrics, load)
    if "AICORE_FREQ" in frequencies:
        tables["AICORE_FREQ"] = cores.aicore_freq(device)
    counts = {table: len(next(iter(columns.values()))) for table, columns in tables.items()}
    return {
        table: {"deviceId": np.full(counts[table], timeline.device, np.int64), **columns}
        for table, columns in tables.items()
        if counts[table]
    }


def _frequencies(switches: Switches, product: str) -> dict[str, int]:
    """Samples per second of every device table that the switches turn on for a product."""
    found: dict[str, int] = {}
    for name in (*SAMPLERS, "SAMPLE_PMU_SUMMARY", "AICORE_FREQ"):
        table = catalog().tables[name]
        often = frequency(switches, table.data)
        if name.startswith("SAMPLE_PMU"):
            sampled = switches.aic_metrics is not None and switches.aic_mode == "sample-based"
            often = CORE_FREQUENCY * (sampled and switches.level > 0)
        if product in table.products and often and switches.level in table.levels:
            found[name] = often
    return found


def _period(table: str, often: int, machine: Machine) -> int:
    period = period_of(often)
    if table in ("ACC_PMU", "SOC_BANDWIDTH_LEVEL"):
        return period * BUS_STRETCH[0] // BUS_STRETCH[1] // MICROSECOND * MICROSECOND
    if table == "LLC":
        return max(period // CACHE_TICK, 1) * CACHE_TICK
    if table in ("NIC", "ROCE"):
        return min(period, network.longest_period(machine.outside.bytes_per_microsecond))
    return period
