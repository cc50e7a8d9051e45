"""What communication costs between which ranks; one answer for the pass and the expansion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from .rhythm import AFTER_MOVE_NS, Beats, Part, beats
from .wires import Wires, wires

SENDS = ("send", "receive")
ONE_PIECE = ("allGather", "reduceScatter")
"""Operators whose count is what one rank gives, or receives, and not the whole."""
WIRE_SCATTER = 10
"""Standard deviation of the time that data take, per mille."""
FIRST_COPY, FIRST_COPY_NS = 970, 16_000
"""The first of several copies at once takes so many per mille of the others' time, less so many ns,
and at least half of it (fixtures-2025-01: 18, 22, 73 and 9 us less of 126, 582, 920 and 198)."""
TELL_NS = (660, 760)
TICK_NS = 20
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

    sizes: Byte, lengths: ns, of the motion of each round; after: ns until its lane goes on; all of
    shape (rounds, lanes, groups, ranks), 0 where nothing moves. local: ns of copying the own piece,
    shape (groups, ranks); own: its Byte. parts: of each round.
    """

    plan: Plan
    sizes: Integers
    lengths: Integers
    after: Integers
    local: Integers
    own: Integers
    parts: list[Part]


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
    _groups: dict[object, Integers] = field(default_factory=dict)

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
        key = dimension, *stages
        if key not in self._groups:
            groups = self.layout.groups(dimension)
            inside = np.isin(groups // self.layout.ranks_per_stage, stages).all(axis=1)
            self._groups[key] = groups[inside]
        return self._groups[key]

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
        sizes, lengths = [], []
        for turn in plan_.rounds:
            peer = np.maximum(turn.peer, 0)
            target = groups[:, peer].transpose(1, 0, 2)
            source = np.broadcast_to(groups[None, :, :], target.shape)
            size = np.broadcast_to(moved(turn, pieces)[:, None, :], target.shape)
            length = size * 1000 // self.wires.rate[source, target]
            length += self.wires.latency[source, target]
            if turn.motion == "copy" and len(turn.peer) > 1:
                whole = length[0]
                length[0] = np.maximum(whole * FIRST_COPY // THOUSAND - FIRST_COPY_NS, whole // 2)
            if slow is not None:
                rows = np.arange(len(groups))[None, :, None]
                places = np.arange(groups.shape[1])[None, None, :]
                length = length * slow[rows, places, peer[:, None, :]] // THOUSAND
            sizes.append(size)
            lengths.append(np.where(size > 0, length, 0))
        own = np.broadcast_to(pieces[np.arange(groups.shape[1]) % len(pieces)], groups.shape)
        local = LOCAL_NS + own * 1000 // self.wires.rate[groups, groups]
        return Journey(
            plan=plan_,
            sizes=np.stack(sizes),
            lengths=np.stack(lengths),
            after=AFTER_MOVE_NS * (np.stack(sizes) > 0),
            local=local // TICK_NS * TICK_NS,
            own=own,
            parts=[Part.of(turn) for turn in plan_.rounds],
        )

    def _slowed(self, groups: Integers, step: int) -> Integers | None:
        """Thousandths for each pair of places in each group, or None where no link is slow."""
        if not self.varies:
            return None
        slow = [
            [[self.disturbances.link(step, source, target) for target in group] for source in group]
            for group in groups.tolist()
        ]
        return np.array(slow, np.int64)

    @cached_property
    def varies(self) -> bool:
        """Whether journeys differ from step to step."""
        return bool(self.disturbances.chosen("slow-link"))

    @cached_property
    def retries(self) -> bool:
        """Whether any operator is late."""
        return bool(self.late.any())

    def lengths(self, item: Collective, groups: Integers, steps: Sequence[int]) -> Integers:
        """Those of the journeys of some steps, shape (rounds, lanes, steps or 1, groups, ranks)."""
        chosen = steps if self.varies else steps[:1]
        return np.stack([self.journey(item, groups, step).lengths for step in chosen], axis=2)

    def replay(
        self, item: Collective, group: Integers, place: int, family: FamilyRuns
    ) -> tuple[Journey, Beats]:
        """All runs of one family of collectives of one rank again, with the waits that were found.

        Moments have the shape (lanes, steps, members). The journey is that of the first step; its
        sizes hold for all.
        """
        rank = int(group[place])
        first = self.journey(item, group[None], 0)
        lengths = self.lengths(item, group[None], range(len(family.ready)))[:, :, :, 0, place, None]
        late = np.where(family.numbers == 0, self.late[rank][:, None], 0) if self.retries else None
        moves = scattered(lengths, self.factors[rank][:, family.numbers], late)
        ends = np.cumsum([0, *(len(turn.peer) for turn in first.plan.rounds)])
        waits = family.waits.transpose(2, 0, 1)

        def hear(turn: int, _: Integers) -> Integers:
            heard: Integers = waits[ends[turn] : ends[turn + 1]]
            return heard

        return first, beats(
            first.plan,
            family.ready + self.head,
            self.tells[rank][:, family.numbers],
            np.full(family.ready.shape, first.local[0, place], np.int64),
            [part.at(place) for part in first.parts],
            moves,
            first.after[:, :, 0, place, None, None],
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

    lengths: shape (rounds, lanes, …). ``late``: what the first round takes longer.
    """
    longer = lengths + (lengths * factor >> 20)
    if late is not None:
        longer[0] = np.where(lengths[0] > 0, longer[0] + late, 0)
    return longer // TICK_NS * TICK_NS
