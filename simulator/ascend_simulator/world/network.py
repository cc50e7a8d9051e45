"""What communication costs between which ranks; one answer for the pass and the expansion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ascend_ref.capture import Integers

from ..draws import BELL_UNIT, Draws
from ..hardware.model import Machine
from ..program.model import Collective, Dimension, Routed
from .clocks import TICK_NS
from .compiled import HEAD_NS, TAIL_NS
from .disturbance import THOUSAND, Disturbances
from .exchange import Plan, moved, piece_sizes, plan
from .layout import PURPOSES, Layout
from .rhythm import AFTER_MOVE_NS, Beats, Part, beats
from .routing import routes, rows_of
from .wires import Wires, wires

SENDS = ("send", "receive")
ONE_PIECE = ("allGather", "reduceScatter")
"""Operators whose count is what one rank gives, or receives, and not the whole."""
WIRE_SCATTER = 10
"""Standard deviation of the time that data take, per mille."""
FIRST_COPY, FIRST_COPY_NS = 970, 16_000
"""The first of several copies at once within a host takes so many per mille of the others' time,
less so many ns, and at least half of it (fixtures-2025-01: 18, 22, 73 and 9 us less of 126, 582,
920 and 198)."""
RECORD_NS = (660, 760)
KEPT = 256
"""So many journeys are kept: many operators have the same, and every rank of a group asks."""
LOCAL_NS = 1_400
"""What a copy within the own memory costs in addition to its bytes."""
ELEMENT_BYTES = {
    "INT8": 1,
    "FP16": 2,
    "BFP16": 2,
    "FP32": 4,
    "INT32": 4,
    "FP64": 8,
    "INT64": 8,
}


@dataclass(frozen=True, slots=True)
class Journey:
    """What an operator moves in groups of equal size, before any scatter.

    sizes: Byte, lengths: ns, of the motion of each round, of shape (rounds, lanes, steps, groups,
    ranks), 0 where nothing moves. local: ns of copying the own piece, shape (steps, groups, ranks);
    own: its Byte. parts: of each round. The axis of steps has the length 1 where all are alike.
    """

    plan: Plan
    sizes: Integers
    lengths: Integers
    local: Integers
    own: Integers
    parts: list[Part]

    @property
    def after(self) -> Integers:
        """ns until a lane goes on after a motion, shaped as the sizes."""
        return AFTER_MOVE_NS * (self.sizes > 0)


@dataclass(eq=False)
class Network:
    """Everything between the ranks. ``collectives``: of each rank, the operators of one step."""

    machine: Machine
    layout: Layout
    algorithm: str
    seed: int
    disturbances: Disturbances
    collectives: tuple[tuple[Collective, ...], ...]
    _journeys: dict[object, Journey] = field(default_factory=dict)

    @cached_property
    def wires(self) -> Wires:
        """The tables of all paths."""
        return wires(self.machine, self.layout.parallelism.ranks)

    @property
    def head(self) -> int:
        """ns from the start of the enclosing task to that of its first sub-task."""
        return HEAD_NS if self.machine.chip.ffts else 0

    @property
    def tail(self) -> int:
        """ns from the end of the last sub-task to that of the enclosing task."""
        return TAIL_NS if self.machine.chip.ffts else 0

    @cached_property
    def factors(self) -> Integers:
        """How much longer data take (1/2^20), by rank, step and collective of the program."""
        return self._by_collective(
            lambda draws, count: draws.bell(count) * WIRE_SCATTER // (BELL_UNIT * 1000 // (1 << 20))
        )

    @cached_property
    def records(self) -> Integers:
        """Length of a record, ns, by rank, step and collective of the program."""
        least, most = RECORD_NS
        return self._by_collective(
            lambda draws, count: draws.between(least // 20, most // 20, count) * 20, "tell"
        )

    @cached_property
    def late(self) -> Integers:
        """ns that a retry costs the first data that a rank moves in a step; by rank and step."""
        ranks, pause = range(len(self.collectives)), self.disturbances.pause
        return np.stack([pause("communication-retry", rank) for rank in ranks])

    @cached_property
    def retried(self) -> Integers:
        """In which of its collectives each rank first moves data, -1 where in none; by rank."""
        found = np.full(len(self.collectives), -1, np.int64)
        for rank in np.flatnonzero(self.late.any(axis=1)).tolist():
            moving = (
                number
                for number, one in enumerate(self.collectives[rank])
                if self._moves(one, rank)
            )
            found[rank] = next(moving, -1)
        return found

    def _moves(self, item: Collective, rank: int) -> bool:
        if item.kind in SENDS:
            return item.kind == "send"
        group = self.layout.group_of(rank, item.dimension)
        sizes = self.journey(item, group[None], range(1)).sizes
        return bool(sizes[:, :, 0, 0, group == rank].any())

    def _by_collective(
        self, draw: Callable[[Draws, int], Integers], purpose: str = "wires"
    ) -> Integers:
        steps, most = self.disturbances.steps, max(map(len, self.collectives))
        table = np.zeros((len(self.collectives), steps, most), np.int64)
        for rank, items in enumerate(self.collectives):
            count = len(items)
            drawn = draw(Draws(self.seed, purpose, rank), steps * count)
            table[rank, :, :count] = drawn.reshape(steps, count)
        return table

    def groups(self, dimension: Dimension, stages: list[int]) -> Integers:
        """The groups of a dimension whose ranks belong to these stages."""
        groups = self.layout.groups(dimension)
        return groups[np.isin(groups // self.layout.ranks_per_stage, stages).all(axis=1)]

    @cached_property
    def _inside(self) -> dict[Dimension, bool]:
        """Whether no group of a dimension reaches beyond one host."""
        inside = {}
        for dimension in PURPOSES:
            hosts = self.layout.groups(dimension) // self.machine.devices_per_host
            inside[dimension] = bool((hosts == hosts[:, :1]).all())
        return inside

    def plan_of(self, item: Collective, ranks: Integers) -> Plan:
        """The algorithm for an operator in one group of global ranks; all groups of its dimension
        have the same.
        """
        size = len(ranks)
        power_of_two = not size & (size - 1)
        one_host = self._inside[item.dimension]
        algorithm = self.algorithm
        if algorithm == "auto":
            if one_host:
                algorithm = "mesh" if self.machine.chip.ffts else "ring"
            else:
                algorithm = "hd" if power_of_two else "nhr"
        elif algorithm == "hd" and not power_of_two:
            algorithm = "ring"
        return plan(item.kind, algorithm, size, confirmed=not one_host)

    def journey(self, item: Collective, groups: Integers, steps: range) -> Journey:
        """Sizes and lengths of an operator in groups of global ranks, shape (groups, ranks)."""
        slow = self._slow(groups, steps)
        if slow is None and not item.routed:
            steps = range(1)
        operator = item.kind, item.count, item.data_type, item.routed
        slowed = None if slow is None else slow.tobytes()
        key = operator, groups.tobytes(), groups.shape, steps, slowed
        if key not in self._journeys:
            if len(self._journeys) >= KEPT:
                del self._journeys[next(iter(self._journeys))]
            self._journeys[key] = self._prepared(item, groups, steps, slow)
        return self._journeys[key]

    def _slow(self, groups: Integers, steps: range) -> Integers | None:
        """How much longer data take, shape (steps x groups, ranks, ranks); None where nowhere."""
        if not self.disturbances.chosen("slow-link"):
            return None
        found = [self.disturbances.links(step, groups) for step in steps]
        if all(one is None for one in found):
            return None
        size = groups.shape[1]
        neutral = np.full((len(groups), size, size), THOUSAND, np.int64)
        return np.concatenate([neutral if one is None else one for one in found])

    def _routed(self, routed: Routed, groups: Integers, steps: range) -> Integers:
        """Elements that ranks send each other, shape (steps x groups, ranks, ranks)."""
        whole = self.disturbances.steps
        found = [
            routes(self.seed, self.layout, group, routed, whole)[steps.start : steps.stop]
            for group in groups.tolist()
        ]
        size = groups.shape[1]
        return np.stack(found, axis=1).reshape(-1, size, size) * routed.width

    def given(self, item: Collective, rank: int) -> Integers:
        """Elements that a rank gives in each step, as COMMUNICATION_OP.count."""
        steps = self.disturbances.steps
        if item.routed is None or not item.routed.back:
            return np.full(steps, item.count, np.int64)
        rows = rows_of(self.seed, self.layout.tokens(rank), item.routed, steps)
        return rows * item.routed.width

    def _prepared(
        self, item: Collective, groups: Integers, steps: range, slow: Integers | None
    ) -> Journey:
        """The runs of all steps are as many groups, one after the other."""
        plan_ = self.plan_of(item, groups[0])
        element = ELEMENT_BYTES[item.data_type]
        total = item.count * element * (plan_.pieces if item.kind in ONE_PIECE else 1)
        pieces = piece_sizes(total, plan_.pieces, element, self.machine.chip.piece_alignment)
        routed = self._routed(item.routed, groups, steps) * element if item.routed else None
        shape = len(steps), *groups.shape
        groups = np.tile(groups, (len(steps), 1))
        rows = np.arange(len(groups))[None, :, None]
        places = np.arange(groups.shape[1])[None, None, :]
        sizes, lengths = [], []
        for turn in plan_.rounds:
            peer = np.maximum(turn.peer, 0)
            target = groups[:, peer].transpose(1, 0, 2)
            source = np.broadcast_to(groups[None, :, :], target.shape)
            size = np.broadcast_to(moved(turn, pieces)[:, None, :], target.shape)
            if routed is not None:
                size = routed[rows, places, peer[:, None, :]] * (turn.count[:, None, :] > 0)
            length = size * 1000 // self._rates(source, target, peer, size)
            length += self.wires.latency[source, target]
            if turn.fetches and len(peer) > 1:
                whole = length[0]
                first = np.maximum(whole * FIRST_COPY // THOUSAND - FIRST_COPY_NS, whole // 2)
                length[0] = np.where(self.wires.remote[source, target][0], whole, first)
            if slow is not None:
                length = length * slow[rows, places, peer[:, None, :]] // THOUSAND
            sizes.append(size)
            lengths.append(np.where(size > 0, length, 0))
        own = np.broadcast_to(pieces[places[0, 0] % len(pieces)], groups.shape)
        if routed is not None:
            own = routed[:, places[0, 0], places[0, 0]]
        local = LOCAL_NS + own * 1000 // self.wires.rate[groups, groups]
        return Journey(
            plan=plan_,
            sizes=np.stack(sizes).reshape(len(sizes), -1, *shape),
            lengths=np.stack(lengths).reshape(len(sizes), -1, *shape),
            local=(local // TICK_NS * TICK_NS).reshape(shape),
            own=own.reshape(shape),
            parts=[Part.of(turn) for turn in plan_.rounds],
        )

    def _rates(
        self, source: Integers, target: Integers, peer: Integers, size: Integers
    ) -> Integers:
        """Byte per microsecond of motions at once, which share the busier of both ends' ports.

        Shape (lanes, groups, ranks). ``peer``: place of each target in its group, shape (lanes,
        ranks).
        """
        rate, port = self.wires.rate[source, target], self.wires.port[source, target]
        if len(peer) == 1:
            return rate
        limited = (size > 0) & (port > 0)
        link = self.wires.link[source, target]
        groups = np.broadcast_to(np.arange(limited.shape[1])[None, :, None], limited.shape)
        places = np.broadcast_to(peer[:, None, :], limited.shape)
        for kind in np.unique(link[limited]):
            shared = limited & (link == kind)
            leaving = shared.sum(axis=0)
            arriving = np.zeros_like(leaving)
            np.add.at(arriving, (groups[shared], places[shared]), 1)
            busier = np.maximum(leaving[None], arriving[groups, places])
            rate = np.where(shared, np.minimum(rate, port // np.maximum(busier, 1)), rate)
        return rate

    @cached_property
    def retries(self) -> bool:
        """Whether any operator is late."""
        return bool(self.late.any())

    def spent(self, item: Collective, group: Integers, place: int, numbers: Integers) -> Integers:
        """ns that the data of one rank are under way, in all runs of one family of collectives.

        numbers: of its members. Shape (rounds, lanes, steps, members), 0 where nothing moves.
        """
        rank, steps = int(group[place]), range(self.disturbances.steps)
        lengths = self.journey(item, group[None], steps).lengths[:, :, :, 0, place, None]
        late = None
        if self.retries:
            late = np.where(numbers == self.retried[rank], self.late[rank][:, None], 0)
        return scattered(lengths, self.factors[rank][:, numbers], late)

    def replay(
        self, item: Collective, group: Integers, place: int, family: FamilyRuns
    ) -> tuple[Journey, Beats]:
        """All runs of one family of collectives of one rank again, with the waits that were found.

        Moments have the shape (lanes, steps, members).
        """
        rank = int(group[place])
        found = self.journey(item, group[None], range(self.disturbances.steps))
        moves = self.spent(item, group, place, family.numbers)
        ends = np.cumsum([0, *(len(turn.notifies) for turn in found.plan.rounds)])
        waits = family.waits.transpose(2, 0, 1)

        def hear(turn: int, _: Integers) -> Integers:
            heard: Integers = waits[ends[turn] : ends[turn + 1]]
            return heard

        return found, beats(
            found.plan,
            family.ready + self.head,
            self.records[rank][:, family.numbers],
            np.broadcast_to(found.local[:, 0, place, None], family.ready.shape),
            [part.at(place) for part in found.parts],
            moves,
            found.after[:, :, :, 0, place, None],
            hear,
        )


@dataclass(frozen=True, slots=True)
class FamilyRuns:
    """The runs of a family in one rank: collectives of a program that differ in nothing but place.

    numbers: of the members among the program's collectives. ready: shape (steps, members). waits:
    ends of the waits, rounds one after the other, shape (steps, members, lanes of all rounds).
    """

    numbers: Integers
    ready: Integers
    waits: Integers


def scattered(lengths: Integers, factor: Integers, late: Integers | None) -> Integers:
    """Lengths with the scatter of a run, in ticks of the device's clock.

    lengths: shape (rounds, lanes, …). ``late``: what the first round with data takes longer.
    """
    longer = lengths + (lengths * factor >> 20)
    if late is not None:
        moving = lengths.any(axis=1)
        first = moving & (np.cumsum(moving, axis=0) == 1)
        longer += np.where(first[:, None] & (lengths > 0), late, 0)
    return longer // TICK_NS * TICK_NS
