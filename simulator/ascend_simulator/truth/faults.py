"""What the injected faults were, and how much each really cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..scenario.model import FaultChoice, FaultKind, Scenario
from .totals import RankTotals

Effect = Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True)
class FaultTruth:
    """One fault. ranks: global ranks that it hits. steps: first and last step number.

    start_ns, end_ns: from the first of these steps on the first of these ranks to the last, by the
    clocks of the ranks. effect: its size; the keys carry the unit.
    """

    kind: FaultKind
    ranks: tuple[int, ...]
    steps: tuple[int, int]
    start_ns: int
    end_ns: int
    effect: Effect


def fault_truths(
    scenario: Scenario,
    totals: Sequence[RankTotals],
    extra: Callable[[FaultChoice, int], int],
    nominal: int,
) -> list[FaultTruth]:
    """Every fault of a scenario. ``extra``: ns that a fault costs a rank. ``nominal``: MHz."""
    return [_truth(fault, scenario, totals, extra, nominal) for fault in scenario.faults]


def _truth(
    fault: FaultChoice,
    scenario: Scenario,
    totals: Sequence[RankTotals],
    extra: Callable[[FaultChoice, int], int],
    nominal: int,
) -> FaultTruth:
    ranks = fault.link or fault.ranks or tuple(range(scenario.parallelism.ranks))
    first, last = fault.steps or (0, scenario.schedule.active - 1)
    steps = [totals[rank].steps[first : last + 1] for rank in ranks]
    effect: dict[str, int | float | str] = {}
    if fault.kind in ("slow-rank", "slow-link", "host-bound-launch", "ai-cpu-straggler"):
        effect["factor"] = fault.factor / 1000
    if fault.kind == "frequency-throttling":
        effect |= {"frequency_mhz": fault.frequency, "nominal_mhz": nominal}
    if fault.kind in ("data-loading-stall", "gc-pause", "communication-retry", "clock-skew"):
        effect["length_ns"] = fault.milliseconds * 1_000_000
    if fault.kind in ("memory-leak", "fragmentation"):
        effect["bytes_per_step"] = fault.megabytes << 20
    if fault.kind == "lost-samples":
        effect["table"] = fault.sampler
    if fault.kind in COSTLY:
        effect["extra_ns"] = sum(extra(fault, rank) for rank in ranks)
    return FaultTruth(
        kind=fault.kind,
        ranks=tuple(sorted(ranks)),
        steps=(steps[0][0].step, steps[0][-1].step),
        start_ns=min(part[0].start_ns for part in steps),
        end_ns=max(part[-1].end_ns for part in steps),
        effect=effect,
    )


COSTLY: tuple[FaultKind, ...] = ("slow-rank", "frequency-throttling", "ai-cpu-straggler")
"""Faults whose cost is the sum of what kernels took longer on the ranks that they hit."""
