"""What communication costs between which ranks; one answer for the pass and the expansion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ascend_ref.capture import Integers

from ..draws import BELL_UNIT, Draws
from ..hardware.model import Machine
from ..program.model import Collective, Dimension
from .compiled import HEAD_NS, TAIL_NS
from .disturbance import THOUSAND, Disturbances
from .exchange import Plan, moved, piece_sizes, plan
from .layout import Layout
from .rhythm import Beats, beats
from .wires import Wires, wires

SENDS = ("send", "receive")
ONE_PIECE = ("allGather", "reduceScatter")
"""Operators whose count is what one rank gives, or receives, and not the whole."""
WIRE_SCATTER = 20
"""Standard deviation of the time that data take, per mille."""
TELL_NS = (660, 760)
LOCAL_NS = 1_400
"""What a copy within the own memory costs beside its bytes."""
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

    sizes: Byte, lengths: ns, of the motion of each round, shape (lanes, groups, ranks); 0 where
    nothing moves. local: ns of copying the own piece, shape (groups, ranks); own: its Byte. parts:
    per round what a rank does on a lane (see ``beats``).
    """

    plan: Plan
    sizes: list[Integers]
    lengths: list[Integers]
    local: Integers
    own: Integers
    parts: list[Integers]


@dataclass(eq=False)
class Network:
    """Everything between the ranks. ``collectives``: per rank, operators in one step."""

    machine: Machine
    layout: Layout
    algorithm: str
    seed: int
    disturbances: Disturbances
    collectives: tuple[int, ...]
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
    def tells(self) -> Integers:
        """Length of a record, ns, by rank, step and collective of the program."""
        least, most = TELL_NS
        return self._by_collective(
            lambda draws, count: draws.between(least // 20, most // 20, count) * 20, "tell"
        )

    @cached_property
    def late(self) -> Integers:
        """ns that a retry costs a rank in the first collective of a step; by rank and step."""
        return np.stack([self.disturbances.retry(rank) for rank in range(len(self.collectives))])

    def _by_collective(
        self, draw: Callable[[Draws, int], Integers], purpose: str = "wires"
    ) -> Integers:
        steps, most = self.disturbances.steps, max(self.collectives)
        table = np.zeros((len(self.collectives), steps, most), np.int64)
        for rank, count in enumerate(self.collectives):
            drawn = draw(Draws(self.seed, purpose, rank), steps * count)
            table[rank, :, :count] = drawn.reshape(steps, count)
        return table

    def groups(self, dimension: Dimension, stages: list[int]) -> Integers:
        """The groups of a dimension whose ranks belong to these stages."""
        groups = self.layout.groups(dimension)
        inside = np.isin(groups // self.layout.ranks_per_stage, stages).all(axis=1)
        chosen: Integers = groups[inside]
        return chosen

    def plan_of(self, item: Collective, ranks: Integers) -> Plan:
        """The algorithm for an operator in one group of global ranks."""
        size = len(ranks)
        if item.kind in SENDS:
            return plan(item.kind, "pairwise", size)
        if self.algorithm != "auto":
            fits = self.algorithm != "hd" or not size & (size - 1)
            return plan(item.kind, self.algorithm if fits else "ring", size)
        one_host = len(set((ranks // self.machine.devices_per_host).tolist())) == 1
        if one_host and self.machine.chip.ffts:
            return plan(item.kind, "mesh", size)
        if item.kind == "alltoallv":
            return plan(item.kind, "pairwise", size)
        if one_host:
            return plan(item.kind, "ring", size)
        return plan(item.kind, "hd" if not size & (size - 1) else "nhr", size)

    def journey(self, item: Collective, groups: Integers, step: int) -> Journey:
        """Sizes and lengths of an operator in groups of global ranks, shape (groups, ranks)."""
        slow = self._slowed(groups, step)
        operator = item.kind in SENDS, item.kind, item.count, item.data_type
        key = operator, groups.tobytes(), groups.shape, None if slow is None else slow.tobytes()
        if key not in self._journeys:
            self._journeys[key] = self._prepared(item, groups, slow)
        return self._journeys[key]

    def _prepared(self, item: Collective, groups: Integers, slow: Integers | None) -> Journey:
        plan_ = self.plan_of(item, groups[0])
        element = ELEMENT_BYTES[item.data_type]
        total = item.count * element * (plan_.pieces if item.kind in ONE_PIECE else 1)
        pieces = piece_sizes(total, plan_.pieces, element)
        sizes, lengths, parts = [], [], []
        for turn in plan_.rounds:
            peer = np.maximum(turn.peer, 0)
            target = groups[:, peer].transpose(1, 0, 2)
            source = np.broadcast_to(groups[None, :, :], target.shape)
            size = np.broadcast_to(moved(turn, pieces)[:, None, :], target.shape)
            length = size * 1000 // self.wires.rate[source, target]
            length += self.wires.latency[source, target]
            if slow is not None:
                rows = np.arange(len(groups))[None, :, None]
                places = np.arange(groups.shape[1])[None, None, :]
                length = length * slow[rows, places, peer[:, None, :]] // THOUSAND
            part = (turn.peer >= 0) * 1 + (turn.heard >= 0) * 2
            sizes.append(size)
            lengths.append(np.where(size > 0, length, 0))
            parts.append(np.broadcast_to(part[:, None, :], target.shape))
        own = np.broadcast_to(pieces[np.arange(groups.shape[1]) % len(pieces)], groups.shape)
        local = LOCAL_NS + own * 1000 // self.wires.rate[groups, groups]
        return Journey(plan_, sizes, lengths, local // 20 * 20, own, parts)

    def _slowed(self, groups: Integers, step: int) -> Integers | None:
        """Thousandths for each pair of places in each group, or None where no link is slow."""
        if not self.disturbances.chosen("slow-link"):
            return None
        slow = [
            [[self.disturbances.link(step, source, target) for target in group] for source in group]
            for group in groups.tolist()
        ]
        return np.array(slow, np.int64)

    def play(
        self, item: Collective, groups: Integers, ready: Integers, numbers: Integers, step: int
    ) -> tuple[list[Integers], Integers]:
        """Ends of the waits of each round, shape (lanes, groups, ranks), and of the operator.

        groups: global ranks, shape (groups, ranks), ``ready`` and ``numbers`` (which collective of
        its program it is for each rank) likewise.
        """
        journey = self.journey(item, groups, step)
        factor = self.factors[groups, step, numbers]
        late = np.where(numbers == 0, self.late[groups, step], 0)
        moves = [
            _scattered(length, factor, late if not turn else None)
            for turn, length in enumerate(journey.lengths)
        ]
        own = np.arange(len(groups))[None, :, None]

        def hear(turn: int, record_end: Integers) -> Integers:
            told = journey.plan.rounds[turn]
            heard = np.maximum(told.heard, 0)[:, None, :]
            return record_end[told.heard_lane[:, None, :], own, heard]

        tell = self.tells[groups, step, numbers]
        begin = ready + self.head
        played = beats(journey.plan, begin, tell, moves, journey.local, journey.parts, hear)
        return played.wait_end, played.end + self.tail

    def replay(
        self, item: Collective, group: Integers, place: int, family: FamilyRuns
    ) -> tuple[Journey, Beats]:
        """All runs of one family of collectives of one rank again, with the waits that were found.

        Moments have the shape (lanes, steps, members). The journey is that of the first step; its
        sizes hold for all.
        """
        rank = int(group[place])
        steps = len(family.ready)
        journeys = [self.journey(item, group[None, :], step) for step in range(steps)]
        first = journeys[0]
        factor = self.factors[rank][:, family.numbers]
        late = np.where(family.numbers == 0, self.late[rank][:, None], 0)
        moves = []
        for turn in range(len(first.plan.rounds)):
            length = np.stack([one.lengths[turn][:, 0, place] for one in journeys], axis=-1)
            moves.append(_scattered(length[:, :, None], factor, None if turn else late))
        parts = [part[:, 0, place][:, None, None] for part in first.parts]
        local = np.full(family.ready.shape, first.local[0, place], np.int64)
        ends = np.cumsum([0, *(len(turn.peer) for turn in first.plan.rounds)])
        waits = family.waits.transpose(2, 0, 1)

        def hear(turn: int, _: Integers) -> Integers:
            heard: Integers = waits[ends[turn] : ends[turn + 1]]
            return heard

        tell = self.tells[rank][:, family.numbers]
        begin = family.ready + self.head
        return first, beats(first.plan, begin, tell, moves, local, parts, hear)


@dataclass(frozen=True, slots=True)
class FamilyRuns:
    """The runs of a family in one rank: collectives of a program that differ in nothing but place.

    numbers: of the members among the program's collectives. ready: shape (steps, members). waits:
    ends of the waits, rounds one after the other, shape (steps, members, lanes of all rounds).
    """

    numbers: Integers
    ready: Integers
    waits: Integers


def _scattered(length: Integers, factor: Integers, late: Integers | None) -> Integers:
    """Lengths with the scatter of a run, in ticks of the device's clock."""
    longer = length + (length * factor >> 20)
    if late is not None:
        longer = np.where(length > 0, longer + late, 0)
    return longer // 20 * 20
