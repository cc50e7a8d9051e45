"""The small tasks of one rank's collectives: what each is, where it runs, and whom it concerns.

Ranks of one host reach each other's memory themselves (SDMA). To other hosts everything is sent
(RDMA): first a notice that there is room, then the payload, then a notice that it is there, then
one that it has been received.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ascend_ref.capture import Batch, Integers
from ascend_ref.capture.model import NONE
from ascend_spec import catalog

from ..program.model import Collective
from .compiled import Flags
from .exchange import Plan, Round
from .network import SENDS, Journey, Network
from .rhythm import OPENING_NS, Beats
from .wires import LINK_NAMES

FIRST_NOTIFY = 48
NOTIFY_STEP = 4
TINY_REDUCTION = 4
TASK_TYPES = {
    True: {
        "Notify_Record": "Write Value",
        "Notify_Wait": "Notify Wait",
        "Memcpy": "SDMA",
        "Reduce_Inline": "SDMA",
        "RDMASend": "Write Value",
    },
    False: {
        "Notify_Record": "NOTIFY_RECORD",
        "Notify_Wait": "NOTIFY_WAIT",
        "Memcpy": "MEMCPY_ASYNC",
        "Reduce_Inline": "REDUCE_ASYNC_V2",
        "RDMASend": "RDMA_DB_SEND",
    },
}
"""TASK.taskType of each small task, with FFTS+ and without (db-schema.md 7.3)."""
RECORD, WAIT, COPY, REDUCE, SENT = (
    *("Notify_Record", "Notify_Wait"),
    *("Memcpy", "Reduce_Inline", "RDMASend"),
)
MOTIONS = {"reduce": REDUCE, "copy": COPY}
NO_RDMA = NO_TYPE = "INVALID_TYPE"
Moments = tuple[Integers, Integers]
"""Starts and ends."""


def enum_ids(enum: str) -> dict[str, int]:
    """Names to ids of an enum of the spec."""
    return {member.name: member.id for member in catalog().enums[enum].members}


@dataclass(frozen=True, slots=True)
class SmallTasks:
    """One kind of small task on several lanes, in all runs of a family.

    start, end: shape (lanes, steps, members). size: shape (lanes, steps or 1). plane, notify,
    target, link: shape (lanes,); target and notify are NONE where there is none. rdma: name in
    ENUM_HCCL_RDMA_TYPE.
    """

    kind: str
    transport: str
    data_type: str
    start: Integers
    end: Integers
    plane: Integers
    notify: Integers
    target: Integers
    size: Integers
    link: Integers
    rdma: str = NO_RDMA


@dataclass(frozen=True, slots=True)
class Arrivals(Batch):
    """Data that peers moved to this rank: no rows of the profile, but its links carry them.

    source: the peer, among all ranks.
    """

    start: Integers
    end: Integers
    size: Integers
    link: Integers
    source: Integers


@dataclass(frozen=True, slots=True)
class Ends:
    """Who meets in a collective.

    Global ``ranks``, the own ``place`` among them, their ``places`` in the group, and the ``size``
    of the group, of which the two ends of a send are a part.
    """

    ranks: Integers
    place: int
    places: Integers
    size: int


Part = Literal["opening", "own", "closing"] | int
"""Of an operator: the reductions of 4 Byte at its ends, the copy of the own piece, or a round."""


def parts_of(item: Collective, plan: Plan) -> Iterator[Part]:
    """The parts of an operator in order."""
    if item.kind not in SENDS:
        yield "opening"
    if plan.before:
        yield "own"
    for turn in range(len(plan.rounds)):
        if turn == plan.middle:
            yield "own"
        yield turn
    if item.kind not in SENDS:
        yield "closing"


def partners(met: Round) -> tuple[tuple[str, Integers], ...]:
    """The kinds of small tasks of a round in order, "" where nothing is moved, and the places of
    the ranks that they concern.
    """
    motion = MOTIONS.get(met.motion, "")
    return (RECORD, met.notifies), (WAIT, met.heard), (motion, met.peer)


def kind_between(kind: str, *, far: bool) -> str:
    """What a small task is called that concerns a rank of another host."""
    return SENT if far and kind == RECORD else kind


class Lanes:
    """Makes the small tasks of one rank."""

    def __init__(self, network: Network, rank: int) -> None:
        self.network = network
        self.rank = rank
        self.links = enum_ids("ENUM_HCCL_LINK_TYPE")
        self.link_ids = np.array([self.links[name] for name in LINK_NAMES], np.int64)

    def ends(self, item: Collective) -> Ends:
        """Who meets in a collective."""
        group = self.network.layout.group_of(self.rank, item.dimension)
        own = int(np.flatnonzero(group == self.rank)[0])
        if item.kind not in SENDS:
            return Ends(group, own, np.arange(len(group), dtype=np.int64), len(group))
        other = (own + item.peer) % len(group)
        places = np.array([own, other] if item.kind == "send" else [other, own], np.int64)
        return Ends(group[places], int(np.flatnonzero(places == own)[0]), places, len(group))

    def small_tasks(
        self, item: Collective, journey: Journey, played: Beats, ends: Ends
    ) -> list[SmallTasks]:
        """The small tasks of a family, in the order of their context ids."""
        parts: list[SmallTasks] = []
        own = iter(played.local)
        for part in parts_of(item, journey.plan):
            if part == "opening":
                parts.append(self._tiny(played.begin))
            elif part == "closing":
                parts.append(self._tiny(played.end - OPENING_NS))
            elif part == "own":
                parts.append(self._local(journey, ends, next(own)))
            else:
                parts += self._round(item, journey, played, part, ends)
        return parts

    def _tiny(self, start: Integers) -> SmallTasks:
        """The reduction of 4 Byte that opens and closes an operator."""
        moments = start, start + OPENING_NS
        size = np.array([TINY_REDUCTION])
        return self._on_chip(REDUCE, "INT32", moments, 0, NONE, size)

    def _local(self, journey: Journey, ends: Ends, moments: Moments) -> SmallTasks:
        """The copy of the own piece."""
        own, size = int(ends.places[ends.place]), journey.own[:, 0, ends.place]
        return self._on_chip(COPY, NO_TYPE, moments, NONE, own, size)

    def _on_chip(
        self, kind: str, data_type: str, moments: Moments, notify: int, target: int, size: Integers
    ) -> SmallTasks:
        """What a rank does in its own memory."""
        start, end = moments
        values = (0, notify, target, self.links["ON_CHIP"])
        plane, notified, place, link = (np.array([one]) for one in values)
        return SmallTasks(
            *(kind, "SDMA", data_type, start[None], end[None]),
            *(plane, notified, place, size[None], link),
        )

    def _round(
        self, item: Collective, journey: Journey, played: Beats, turn: int, ends: Ends
    ) -> list[SmallTasks]:
        plan_round = journey.plan.rounds[turn]
        size = journey.sizes[turn][:, :, 0, ends.place]
        own = int(ends.places[ends.place])
        moments = (
            (played.record_start, played.record_end),
            (played.wait_start, played.wait_end),
            (played.move_start, played.move_end),
        )
        parts = []
        for (kind, places), (start, end) in zip(partners(plan_round), moments, strict=True):
            other, moves = places[:, ends.place], kind not in (RECORD, WAIT)
            chosen = size.any(axis=1) if moves else other >= 0
            rank = ends.ranks[np.maximum(other, 0)]
            away = self.network.wires.remote[self.rank, rank]
            near, apart = near_and_far(chosen, away, plan_round)
            for lanes, far in zip((near, apart), (False, True), strict=True):
                if not lanes.any():
                    continue
                target = ends.places[other[lanes]]
                notify = np.full_like(target, 0 if kind == REDUCE else NONE)
                link = self.link_ids[self.network.wires.link[self.rank, rank[lanes]]]
                waits, sent = kind == WAIT, far and kind != WAIT
                if not moves:
                    owner, sender = (own, target) if waits else (target, own)
                    notify = notify_id(owner, sender, ends.size, turn % 2)
                    link = link if sent else np.full_like(link, self.links["INVALID_TYPE"])
                purpose = "PAYLOAD" if moves else "NOTIFY"
                parts.append(
                    SmallTasks(
                        kind_between(kind, far=far),
                        "LOCAL" if waits else "RDMA" if sent else "SDMA",
                        item.data_type if kind == REDUCE else NO_TYPE,
                        start=start[turn][lanes],
                        end=end[turn][lanes],
                        plane=np.flatnonzero(lanes) + (journey.plan.lanes > 1),
                        notify=notify,
                        target=target,
                        size=size[lanes] * moves,
                        link=link,
                        rdma=f"RDMA_SEND_{purpose}" if sent else NO_RDMA,
                    )
                )
        return parts

    def arrivals(self, journey: Journey, played: Beats, ends: Ends) -> Arrivals:
        """What peers move in a round is there when all waits of the next one are over."""
        parts = []
        for turn, plan_round in enumerate(journey.plan.rounds[:-1]):
            arrived = played.wait_end[turn + 1].max(axis=0)
            for lane, source in enumerate(plan_round.notifies[:, ends.place].tolist()):
                far_lane = int(plan_round.heard_lane[lane, ends.place])
                size = journey.sizes[turn][far_lane, :, 0, source]
                if source < 0 or not size.any():
                    continue
                path = self.network.wires.link[ends.ranks[source], self.rank]
                rows = arrived.size
                parts.append(
                    Arrivals(
                        start=played.wait_end[turn][lane].reshape(-1),
                        end=arrived.reshape(-1),
                        size=np.broadcast_to(size[:, None], arrived.shape).reshape(-1),
                        link=np.full(rows, self.link_ids[path]),
                        source=np.full(rows, ends.ranks[source]),
                    )
                )
        return Arrivals.joined(parts)


def near_and_far(chosen: Flags, away: Flags, met: Round) -> tuple[Flags, Flags]:
    """What concerns a rank of the own host, and what one of another host, of which only the latter
    is confirmed.
    """
    return chosen & ~away & (not met.confirms), chosen & away


def notify_id(owner: Integers | int, sender: Integers | int, size: int, parity: int) -> Integers:
    """``(owner << 32) + offset``: each pair of ranks has two notifies in turn (7.5)."""
    distance = (np.asarray(sender, np.int64) - owner - 1) % size
    offset = FIRST_NOTIFY + NOTIFY_STEP * (2 * distance + parity)
    owners = np.asarray(owner, np.int64)
    notify: Integers = (owners << np.int64(32)) + offset
    return notify
