"""What the injected faults were, and how large each was; truth.schema.yaml says what sizes mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..choices import FaultChoice, FaultKind, Scenario
from ..memory.hits import lost_bytes
from ..world.disturbance import MILLISECOND, THOUSAND, Disturbances
from .totals import RankTotals

Effect = Mapping[str, int | float | str]


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
    scenario: Scenario, totals: Sequence[RankTotals], costs: Mapping[int, int], nominal: int
) -> list[FaultTruth]:
    """Every fault of a scenario.

    costs: ns that all ranks together lose to a fault, by its place; only of faults that cost time.
    nominal: MHz.
    """
    chosen = Disturbances.of(scenario)
    found = []
    for place, fault in enumerate(scenario.faults):
        effect = _effect(fault, nominal)
        if place in costs:
            effect["extra_ns"] = costs[place]
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
                effect=effect,
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
    return effect
