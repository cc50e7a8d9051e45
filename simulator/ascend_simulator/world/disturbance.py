"""What the faults of a scenario do to the world: factors and pauses, per rank and step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from ..scenario.model import FaultChoice, FaultKind, Scenario

THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Disturbances:
    """Answers what each fault changes; without faults every factor is 1000 and every pause 0."""

    faults: tuple[FaultChoice, ...]
    ranks: int
    steps: int

    @classmethod
    def of(cls, scenario: Scenario) -> Disturbances:
        """The disturbances of a scenario's faults."""
        return cls(scenario.faults, scenario.parallelism.ranks, scenario.schedule.active)

    def chosen(self, kind: FaultKind) -> list[FaultChoice]:
        """The faults of one kind."""
        return [fault for fault in self.faults if fault.kind == kind]

    def _per_step(self, kind: FaultKind, rank: int, field: str, neutral: int) -> Integers:
        values = np.full(self.steps, neutral, np.int64)
        for fault in self.chosen(kind):
            if fault.ranks and rank not in fault.ranks:
                continue
            first, last = fault.steps or (0, self.steps - 1)
            values[first : last + 1] = getattr(fault, field)
        return values

    def slowness(self, rank: int) -> Integers:
        """Thousandths that kernels of a slow rank take, per step."""
        return self._per_step("slow-rank", rank, "factor", THOUSAND)

    def frequency(self, rank: int, nominal: int) -> Integers:
        """Clock in force, MHz, per step."""
        return self._per_step("frequency-throttling", rank, "frequency", nominal)

    def launch(self, rank: int) -> Integers:
        """Thousandths that the host takes for a launch, per step."""
        return self._per_step("host-bound-launch", rank, "factor", THOUSAND)

    def straggling(self, rank: int) -> Integers:
        """Thousandths that AI CPU kernels take, per step."""
        return self._per_step("ai-cpu-straggler", rank, "factor", THOUSAND)

    def stall(self, rank: int) -> Integers:
        """ns that loading data takes longer, per step."""
        return self._per_step("data-loading-stall", rank, "milliseconds", 0) * 1_000_000

    def collection(self, rank: int) -> Integers:
        """ns of a long garbage collection in the middle of a step, per step."""
        return self._per_step("gc-pause", rank, "milliseconds", 0) * 1_000_000

    def retry(self, rank: int) -> Integers:
        """ns that the first communication operator of a step loses to a retry, per step."""
        return self._per_step("communication-retry", rank, "milliseconds", 0) * 1_000_000

    def skew(self, rank: int) -> int:
        """ns that the clock of a rank's host runs ahead."""
        return sum(
            fault.milliseconds * 1_000_000
            for fault in self.chosen("clock-skew")
            if not fault.ranks or rank in fault.ranks
        )

    def ends_abnormally(self, rank: int) -> bool:
        """Whether the session of a rank has no end."""
        return any(not fault.ranks or rank in fault.ranks for fault in self.chosen("abnormal-end"))

    def link(self, step: int, source: int, target: int) -> int:
        """Thousandths that data take from one rank to another in a step."""
        factor = THOUSAND
        for fault in self.chosen("slow-link"):
            first, last = fault.steps or (0, self.steps - 1)
            if fault.link and {source, target} == set(fault.link) and first <= step <= last:
                factor = fault.factor
        return factor
