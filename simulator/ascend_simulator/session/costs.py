"""What a fault costs a rank, found by leaving it out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..choices import FaultKind, Scenario
from ..world.disturbance import MILLISECOND, Disturbances
from ..world.small_tasks import Lanes
from .setting import Setting, setting

OF_KERNELS: tuple[FaultKind, ...] = ("slow-rank", "frequency-throttling", "ai-cpu-straggler")
OF_DATA: tuple[FaultKind, ...] = ("slow-link", "communication-retry")
OF_HOST: tuple[FaultKind, ...] = ("data-loading-stall", "gc-pause")
COSTLY = OF_KERNELS + OF_DATA + OF_HOST
"""Faults that make something take longer that has a length by itself."""


def extra_time(scenario: Scenario, seed: int, rank: int, place: int) -> int:
    """ns that a fault costs a rank: the time by which it slows kernels, data under way or the host.

    place: of the fault among those of the scenario; its kind is one of :data:`COSTLY`. The other
    faults stay as they are; the time of waiting for slower work does not count.
    """
    world, fault = setting(scenario, seed), scenario.faults[place]
    if rank not in world.disturbances.ranks_of(fault):
        return 0
    if fault.kind in OF_HOST:
        first, last = world.disturbances.steps_of(fault)
        return fault.milliseconds * MILLISECOND * (last - first + 1)
    spent = _of_kernels if fault.kind in OF_KERNELS else _of_data
    others = scenario.faults[:place] + scenario.faults[place + 1 :]
    healthy = replace(world.disturbances, faults=others)
    return spent(world, rank, world.disturbances) - spent(world, rank, healthy)


def _of_kernels(world: Setting, rank: int, disturbances: Disturbances) -> int:
    launched = np.flatnonzero(world.of(rank).variants)
    return int(world.clocks(rank, disturbances).length[:, launched].sum())


def _of_data(world: Setting, rank: int, disturbances: Disturbances) -> int:
    network, spent = replace(world.network, disturbances=disturbances), 0
    lanes = Lanes(network, rank)
    for item, numbers in world.of(rank).families:
        ends = lanes.ends(item)
        spent += int(network.spent(item, ends.ranks, ends.place, numbers).sum())
    return spent
