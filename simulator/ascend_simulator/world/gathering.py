"""The ranks that meet in a collective, and when each of them is through with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ascend_ref.capture import Integers

from ..program.model import Collective
from .compiled import Flags
from .exchange import Plan
from .network import Network, scattered
from .rhythm import Beats, beats


@dataclass(eq=False)
class Gathering:
    """A collective with all ranks that meet in it, the same in every step.

    groups: global ranks, shape (groups, ranks); numbers: which of its program's collectives it is
    for each of them. members: these ranks in the order in which moments are given and returned.
    """

    network: Network
    item: Collective
    groups: Integers
    numbers: Integers
    members: Integers

    def ends(self, ready: Integers, step: int) -> Integers:
        """When the operator ends for each member that was ready at these moments of a step."""
        end = self._played(ready[None], range(step, step + 1)).end + self.network.tail
        return end.reshape(-1).take(self._outward)

    def waits(self, ready: Integers) -> Integers:
        """Ends of the waits in all steps, rounds one after the other.

        ready: shape (steps, members). The result has the shape (steps, lanes of all rounds,
        members).
        """
        played = self._played(ready, range(len(ready)))
        waits = np.concatenate(played.wait_end)
        waits = waits.reshape(*waits.shape[:2], -1)[:, :, self._outward]
        return waits.transpose(1, 0, 2)

    def _played(self, ready: Integers, steps: range) -> Beats:
        """Some steps; moments have the shape (lanes, steps, groups, ranks)."""
        network = self.network
        journey = network.journey(self.item, self.groups, steps)
        drawn = self._drawn + np.arange(steps.start, steps.stop).reshape(-1, 1, 1) * self._stride
        late = self._late[steps.start : steps.stop] if network.retries else None
        heard = _heard(journey.plan, len(steps), len(self.groups))

        def hear(turn: int, record_end: Integers) -> Integers:
            places, waits = heard[turn]
            ended = record_end.take(places)
            return ended if waits is None else np.where(waits, ended, 0)

        return beats(
            journey.plan,
            ready.take(self._inward, axis=1).reshape(len(steps), *self.groups.shape) + network.head,
            network.records.take(drawn),
            journey.local,
            journey.parts,
            scattered(journey.lengths, network.factors.take(drawn), late),
            journey.after,
            hear,
        )

    @cached_property
    def _inward(self) -> Integers:
        """Places of the members in the order of the groups."""
        places = np.zeros(int(self.members.max()) + 1, np.int64)
        places[self.members] = np.arange(len(self.members))
        inward: Integers = places[self.groups.reshape(-1)]
        return inward

    @cached_property
    def _outward(self) -> Integers:
        return np.argsort(self._inward)

    @cached_property
    def _stride(self) -> int:
        """From one step to the next in the flat tables of the network."""
        return int(self.network.factors.shape[2])

    @cached_property
    def _drawn(self) -> Integers:
        """Where the draws of step 0 stand in these tables."""
        steps = self.network.factors.shape[1]
        first: Integers = self.groups * (steps * self._stride) + self.numbers
        return first

    @cached_property
    def _late(self) -> Integers:
        """ns that retries cost, shape (steps, groups, ranks)."""
        late = self.network.late[self.groups].transpose(2, 0, 1)
        return np.where(self.numbers == self.network.retried[self.groups], late, 0)


@lru_cache(maxsize=256)
def _heard(plan: Plan, steps: int, groups: int) -> list[tuple[Integers, Flags | None]]:
    """For each round the places of the records that end the waits, shape (lanes, steps, groups,
    ranks), and which lanes wait; None where all do.
    """
    places = []
    for turn in plan.rounds:
        ranks = turn.notifies.shape[1]
        runs = np.arange(steps * groups).reshape(1, steps, groups, 1)
        waits = turn.heard >= 0
        lane, rank = (np.where(waits, values, 0) for values in (turn.heard_lane, turn.heard))
        lane, rank, waits = (values[:, None, None, :] for values in (lane, rank, waits))
        found = (lane * (steps * groups) + runs) * ranks + rank
        places.append((found, None if waits.all() else waits))
    return places
