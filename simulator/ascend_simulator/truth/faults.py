"""What the injected faults were, and how large each was; truth.schema.yaml says what sizes mean.

What a fault costs a rank is found by leaving it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..choices import FaultChoice, FaultKind, Scenario
from ..loss import Loss, RawDamage
from ..memory.totals import lost_bytes
from ..mindspore.damage import JobDamage
from ..session.setting import Setting, setting
from ..world.disturbance import MILLISECOND, THOUSAND, Disturbances
from ..world.small_tasks import Lanes
from .totals import RankTotals

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


Effect = Mapping[
    str, int | float | str | Sequence[Loss] | Sequence[RawDamage | JobDamage] | Sequence[str]
]


@dataclass(frozen=True, slots=True)
class Interval:
    """Unix ns by the clock of a rank's host."""

    rank: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class FaultTruth:
    """One fault. ranks: global ranks that it hits. steps: first and last step number.

    intervals: for each of the ranks from the start of the first of these steps to the end of the
    last. effect: its size; the keys carry the unit.
    """

    kind: FaultKind
    ranks: tuple[int, ...]
    steps: tuple[int, int]
    intervals: tuple[Interval, ...]
    effect: Effect


def fault_truths(
    scenario: Scenario,
    totals: Sequence[RankTotals],
    measured: Mapping[int, Effect],
    nominal: int,
) -> list[FaultTruth]:
    """Every fault of a scenario.

    measured: what of an effect only the run shows, by the place of its fault. nominal: MHz.
    """
    chosen = Disturbances.of(scenario)
    found = []
    for place, fault in enumerate(scenario.faults):
        ranks, (first, last) = sorted(chosen.ranks_of(fault)), chosen.steps_of(fault)
        steps = [totals[rank].steps for rank in ranks]
        found.append(
            FaultTruth(
                kind=fault.kind,
                ranks=tuple(ranks),
                steps=(steps[0][first].step, steps[0][last].step),
                intervals=tuple(
                    Interval(rank, of_rank[first].start_ns, of_rank[last].end_ns)
                    for rank, of_rank in zip(ranks, steps, strict=True)
                ),
                effect={**_effect(fault, nominal), **measured.get(place, {})},
            )
        )
    return found


def _effect(fault: FaultChoice, nominal: int) -> dict[str, int | float | str]:
    length = fault.milliseconds * MILLISECOND
    effect: dict[str, int | float | str] = {}
    match fault.kind:
        case "slow-rank" | "slow-link" | "host-bound-launch" | "ai-cpu-straggler":
            effect["factor"] = fault.factor / THOUSAND
        case "frequency-throttling":
            effect |= {"frequency_mhz": fault.frequency, "nominal_mhz": nominal}
        case "data-loading-stall" | "gc-pause" | "communication-retry":
            effect["length_ns"] = length
        case "clock-skew":
            effect["ahead_ns"] = length
        case "memory-leak" | "fragmentation":
            effect["bytes_per_step"] = lost_bytes(fault)
        case "lost-samples":
            effect["table"] = fault.sampler
        case "lost-file":
            effect["file"] = fault.file
        case "lost-arrows":
            effect["arrows"] = fault.arrows
        case "raw-lost-slice" | "raw-aged-head" | "raw-torn-record":
            effect["raw"] = fault.raw
        case "raw-lost-side" | "raw-wrong-clock" | "job-lost-file" | "job-lost-slice":
            effect["raw"] = fault.raw
    return effect
