"""What the faults of a scenario do to the world: factors and pauses, per rank and step.

Faults that hit the same rank in the same step add up: factors multiply, pauses follow each other,
and of several clocks the lowest is in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from ..choices import FaultChoice, FaultKind, Scenario

THOUSAND = 1000
MILLISECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Disturbances:
    """States what each fault changes; without faults every factor is 1000 and every pause 0."""

    faults: tuple[FaultChoice, ...]
    ranks: int
    steps: int
    first: int
    """Number of the first captured step."""

    @classmethod
    def of(cls, scenario: Scenario) -> Disturbances:
        """The disturbances of a scenario's faults."""
        captured = scenario.schedule.captured()
        return cls(scenario.faults, scenario.parallelism.ranks, len(captured), captured.start)

    def chosen(self, kind: FaultKind) -> list[FaultChoice]:
        """The faults of one kind."""
        return [fault for fault in self.faults if fault.kind == kind]

    def hits(self, kind: FaultKind, rank: int) -> Iterator[tuple[FaultChoice, int, int]]:
        """The faults of one kind that hit a rank, each with its steps as :meth:`steps_of`."""
        for fault in self.chosen(kind):
            if rank in self.ranks_of(fault):
                yield fault, *self.steps_of(fault)

    def per_step(
        self,
        kind: FaultKind,
        rank: int,
        neutral: int,
        joined: Callable[[Integers, FaultChoice], Integers],
    ) -> Integers:
        """A value of a rank for each step: ``neutral``, as each fault of a kind changes it."""
        values = np.full(self.steps, neutral, np.int64)
        for fault, first, last in self.hits(kind, rank):
            values[first : last + 1] = joined(values[first : last + 1], fault)
        return values

    def factor(self, kind: FaultKind, rank: int) -> Integers:
        """How long what the faults of a kind slow down takes on a rank; thousandths, per step."""
        return self.per_step(kind, rank, THOUSAND, lambda one, by: one * by.factor // THOUSAND)

    def pause(self, kind: FaultKind, rank: int) -> Integers:
        """ns that the faults of a kind add on a rank, per step."""
        return self.per_step(kind, rank, 0, lambda one, by: one + by.milliseconds * MILLISECOND)

    def ranks_of(self, fault: FaultChoice) -> tuple[int, ...] | range:
        """The global ranks that a fault hits; of a slow link its two ends."""
        return fault.link or fault.ranks or range(self.ranks)

    def steps_of(self, fault: FaultChoice) -> tuple[int, int]:
        """Places of the first and the last step that a fault hits among the captured ones."""
        captured = 0, self.steps - 1
        if fault.steps is None:
            return captured
        first, last = (number - self.first for number in fault.steps)
        return max(first, captured[0]), min(last, captured[1])

    def frequency(self, rank: int, nominal: int) -> Integers:
        """Clock in force, MHz, per step."""
        return self.per_step(
            "frequency-throttling", rank, nominal, lambda one, by: np.minimum(one, by.frequency)
        )

    def skew(self, rank: int) -> int:
        """ns that the clock of a rank's host runs ahead."""
        return sum(
            fault.milliseconds * MILLISECOND for fault, _, _ in self.hits("clock-skew", rank)
        )

    def ends_abnormally(self, rank: int) -> bool:
        """Whether the session of a rank has no end."""
        return any(True for _ in self.hits("abnormal-end", rank))

    def links(self, step: int, groups: Integers) -> Integers | None:
        """How long data take in a step between the ranks of each group; thousandths.

        groups: global ranks, shape (groups, ranks); the result has the shape (groups, ranks, ranks)
        and is None where no link of these groups is slow.
        """
        factors = None
        for fault in self.chosen("slow-link"):
            first, last = self.steps_of(fault)
            if not first <= step <= last:
                continue
            one, other = (groups == rank for rank in self.ranks_of(fault))
            joined = one[:, :, None] & other[:, None, :]
            joined |= joined.transpose(0, 2, 1)
            if joined.any():
                if factors is None:
                    factors = np.full(joined.shape, THOUSAND, np.int64)
                factors[joined] = factors[joined] * fault.factor // THOUSAND
        return factors
