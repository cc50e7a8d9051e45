"""The collectives of one rank and their small tasks, as rows of the capture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ascend_ref.capture import Batch, Collectives, Integers, Tasks, Texts, Transfers
from ascend_ref.capture.model import NONE
from ascend_spec import catalog

from ..program.model import Collective, Dimension
from .clocks import GAP_NS
from .compiled import Compiled
from .naming import operator_names
from .network import SENDS, FamilyRuns, Journey, Network
from .rank import RankMeetings
from .rhythm import OPENING_NS, Beats
from .streams import communication_streams, numbered, plane_streams
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
    },
    False: {
        "Notify_Record": "NOTIFY_RECORD",
        "Notify_Wait": "NOTIFY_WAIT",
        "Memcpy": "MEMCPY_ASYNC",
        "Reduce_Inline": "REDUCE_ASYNC_V2",
    },
}
"""TASK.taskType of each small task, with FFTS+ and without (db-schema.md 7.3)."""
LAST_MASTER_PLANE = 1
"""The master stream carries what is done within the chip (plane 0) and the first exchange: real
files count the waits and motions of plane 1 and the span of all planes (text-outputs.md 7.8)."""
MOTIONS = {"reduce": "Reduce_Inline", "copy": "Memcpy"}


def enum_ids(enum: str) -> dict[str, int]:
    """Names to ids of an enum of the spec."""
    return {member.name: member.id for member in catalog().enums[enum].members}


@dataclass(frozen=True, slots=True)
class SmallTasks:
    """One kind of small task on several lanes, in all runs of a family.

    start, end: shape (lanes, steps, members). plane, notify, target, size, link: shape (lanes,);
    target and notify are NONE where there is none.
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


@dataclass(frozen=True, slots=True)
class Arrivals(Batch):
    """Data that peers moved to this rank: no rows of the profile, but its links carry them."""

    start: Integers
    end: Integers
    size: Integers
    link: Integers


@dataclass(frozen=True, slots=True)
class Communication:
    """What a rank's collectives leave.

    tasks: in several parts, without identities; transfers name a task by its place in all of them,
    and belong to step x collectives + collective.
    """

    tasks: list[Tasks]
    transfers: Transfers
    arrivals: Arrivals


@dataclass(frozen=True, slots=True)
class RunCalls:
    """The host calls behind every run of a collective; all of shape (steps, collectives).

    seen: when the device could see it. closed: when its stream tells that it is over. operator:
    connection of the operator's own tasks. wait, record: of the event that its stream waits for
    before, and of the one that it records after it. future: of a second one, which tells the
    framework's future.
    """

    seen: Integers
    closed: Integers
    operator: Integers
    wait: Integers
    record: Integers
    future: Integers


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


class Expansion:
    """Expands the collectives of one rank; ``texts`` grows by the names that it needs."""

    def __init__(
        self, network: Network, compiled: Compiled, rank: int, device: int, texts: Texts
    ) -> None:
        self.network = network
        self.compiled = compiled
        self.rank = rank
        self.device = device
        self.texts = texts
        self.ffts = network.machine.chip.ffts
        self.streams = communication_streams(compiled)
        self.links = enum_ids("ENUM_HCCL_LINK_TYPE")
        self.transports = enum_ids("ENUM_HCCL_TRANSPORT_TYPE")
        self.data_types = enum_ids("ENUM_HCCL_DATA_TYPE")
        self.link_ids = np.array([self.links[name] for name in LINK_NAMES], np.int64)
        self.no_link = np.full(len(LINK_NAMES), self.links["INVALID_TYPE"])

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
        if item.kind not in SENDS:
            parts.append(self._tiny(played.begin))
        locals_left = list(played.local)
        if journey.plan.before:
            parts.append(self._local(journey, ends, *locals_left.pop(0)))
        for turn in range(len(journey.plan.rounds)):
            if turn == journey.plan.middle:
                parts.append(self._local(journey, ends, *locals_left.pop(0)))
            parts += self._round(item, journey, played, turn, ends)
        if item.kind not in SENDS:
            parts.append(self._tiny(played.end - OPENING_NS))
        return parts

    def _tiny(self, start: Integers) -> SmallTasks:
        """The reduction of 4 Byte that opens and closes an operator."""
        one = np.zeros(1, np.int64)
        start = start[None]
        return SmallTasks(
            "Reduce_Inline",
            "SDMA",
            "INT32",
            start,
            start + OPENING_NS,
            plane=one,
            notify=one,
            target=one + NONE,
            size=one + TINY_REDUCTION,
            link=one + self.links["ON_CHIP"],
        )

    def _local(self, journey: Journey, ends: Ends, start: Integers, end: Integers) -> SmallTasks:
        one = np.zeros(1, np.int64)
        return SmallTasks(
            "Memcpy",
            "SDMA",
            "INVALID_TYPE",
            start[None],
            end[None],
            plane=one,
            notify=one + NONE,
            target=one + int(ends.places[ends.place]),
            size=one + int(journey.own[0, ends.place]),
            link=one + self.links["ON_CHIP"],
        )

    def _round(
        self, item: Collective, journey: Journey, played: Beats, turn: int, ends: Ends
    ) -> list[SmallTasks]:
        plan_round = journey.plan.rounds[turn]
        lanes = np.arange(len(plan_round.peer), dtype=np.int64)
        plane = lanes + (journey.plan.lanes > 1)
        peer, heard = plan_round.peer[:, ends.place], plan_round.heard[:, ends.place]
        size = journey.sizes[turn][:, 0, ends.place]
        own = int(ends.places[ends.place])
        motion = MOTIONS.get(plan_round.motion, "")
        parts = []
        for kind, chosen, start, end, other in (
            ("Notify_Record", peer >= 0, played.record_start, played.record_end, peer),
            ("Notify_Wait", heard >= 0, played.wait_start, played.wait_end, heard),
            (motion, size > 0, played.move_start, played.move_end, peer),
        ):
            if not chosen.any():
                continue
            far = ends.places[other[chosen]]
            path = self.network.wires.link[self.rank, ends.ranks[other[chosen]]]
            if kind == "Notify_Record":
                notify = self._notify(far, own, ends.size, turn % 2)
            elif kind == "Notify_Wait":
                notify = self._notify(own, far, ends.size, turn % 2)
            else:
                notify = np.full_like(far, 0 if kind == "Reduce_Inline" else NONE)
            remote = LINK_NAMES[int(path[0])] == "ROCE"
            transport = "LOCAL" if kind == "Notify_Wait" else "RDMA" if remote else "SDMA"
            parts.append(
                SmallTasks(
                    kind,
                    transport,
                    item.data_type if kind == "Reduce_Inline" else "INVALID_TYPE",
                    start[turn][chosen],
                    end[turn][chosen],
                    plane=plane[chosen],
                    notify=notify,
                    target=far,
                    size=size[chosen] if kind == motion else np.zeros_like(far),
                    link=self.link_ids[path] if kind == motion else self.no_link[path],
                )
            )
        return parts

    def _notify(
        self, owner: Integers | int, teller: Integers | int, size: int, parity: int
    ) -> Integers:
        """``(owner << 32) + offset``: each pair of ranks has two notifies in turn (7.5)."""
        distance = (np.asarray(teller, np.int64) - owner - 1) % size
        offset = FIRST_NOTIFY + NOTIFY_STEP * (2 * distance + parity)
        owners = np.asarray(owner, np.int64)
        notify: Integers = (owners << np.int64(32)) + offset
        return notify

    def expand(self, meetings: RankMeetings, calls: RunCalls) -> Communication:
        """All tasks of all collectives."""
        families = [
            self._family(item, family, calls)
            for (item, _), family in zip(self.compiled.families, meetings.families, strict=True)
        ]
        tasks = self._numbered(self._frame(meetings, calls), families, meetings.ready.size)
        offsets = np.cumsum([len(part) for part in tasks])
        transfers = [
            replace(family.transfers, task=family.transfers.task + offset)
            for family, offset in zip(families, offsets, strict=False)
        ]
        arrivals = Arrivals.joined([family.arrivals for family in families])
        return Communication(tasks, Transfers.joined(transfers), arrivals)

    def _family(self, item: Collective, family: FamilyRuns, calls: RunCalls) -> _Rows:
        ends = self.ends(item)
        journey, played = self.network.replay(item, ends.ranks, ends.place, family)
        parts = self.small_tasks(item, journey, played, ends)
        runs_in_step = len(self.compiled.collectives)
        steps, members = family.ready.shape
        run = np.arange(steps)[:, None] * runs_in_step + family.numbers
        lanes = [len(part.plane) for part in parts]
        context = np.repeat(np.arange(sum(lanes)), steps * members)
        own_stream = self.streams[family.numbers[0]]

        def spread(values: list[Integers]) -> Integers:
            return np.repeat(np.concatenate(values), steps * members)

        def named(values: list[int]) -> Integers:
            return np.repeat(np.repeat(np.array(values, np.int64), lanes), steps * members)

        all_runs = np.tile(run.reshape(-1), sum(lanes))
        plane = spread([part.plane for part in parts])
        rows = len(context)
        nothing = same(NONE, rows)
        task_types = TASK_TYPES[self.ffts]
        tasks = Tasks(
            start=np.concatenate([part.start.reshape(-1) for part in parts]),
            end=np.concatenate([part.end.reshape(-1) for part in parts]),
            device=same(self.device, rows),
            stream=same(own_stream, rows) if self.ffts else plane_streams(own_stream, plane),
            number=nothing,
            context=context if self.ffts else nothing,
            model=nothing,
            connection=calls.operator.reshape(-1)[all_runs],
            identity=nothing,
            kind=named([self.texts.number(task_types[part.kind]) for part in parts]),
        )
        transfers = Transfers(
            task=np.arange(rows),
            collective=all_runs,
            kind=named([self.texts.number(part.kind) for part in parts]),
            plane=plane,
            notify=spread([part.notify for part in parts]),
            source=same(ends.places[ends.place], rows),
            target=spread([part.target for part in parts]),
            size=spread([part.size for part in parts]),
            transport=named([self.transports[part.transport] for part in parts]),
            link=spread([part.link for part in parts]),
            data_type=named([self.data_types[part.data_type] for part in parts]),
            rdma=nothing,
            master=(plane <= LAST_MASTER_PLANE).astype(np.int64),
        )
        return _Rows(tasks, transfers, self._arrivals(journey, played, ends), all_runs)

    def _arrivals(self, journey: Journey, played: Beats, ends: Ends) -> Arrivals:
        """What peers move in a round is there when all waits of the next one are over."""
        parts = []
        for turn, plan_round in enumerate(journey.plan.rounds[:-1]):
            arrived = played.wait_end[turn + 1].max(axis=0)
            for lane, heard in enumerate(plan_round.heard[:, ends.place].tolist()):
                far_lane = int(plan_round.heard_lane[lane, ends.place])
                size = int(journey.sizes[turn][far_lane, 0, heard]) if heard >= 0 else 0
                if not size:
                    continue
                path = self.network.wires.link[ends.ranks[heard], self.rank]
                rows = arrived.size
                parts.append(
                    Arrivals(
                        start=played.wait_end[turn][lane].reshape(-1),
                        end=arrived.reshape(-1),
                        size=np.full(rows, size),
                        link=np.full(rows, self.link_ids[path]),
                    )
                )
        return Arrivals.joined(parts)

    def _frame(self, meetings: RankMeetings, calls: RunCalls) -> Tasks:
        """Waits, then enclosing tasks where there are any, then records, on the streams of the
        collectives.
        """
        steps, count = meetings.ready.shape
        shape = (steps, count)
        before = np.zeros(shape, np.int64)
        for stream in np.unique(self.streams).tolist():
            members = np.flatnonzero(self.streams == stream)
            closed = calls.closed[:, members].reshape(-1)
            free = np.concatenate([closed[:1] * 0, closed[:-1] + GAP_NS])
            before[:, members] = free.reshape(steps, -1)
        moments = [
            ("EVENT_WAIT", np.maximum(before, calls.seen), meetings.ready, calls.wait),
            ("AI_CORE", meetings.ready, meetings.ended, calls.operator),
            ("EVENT_RECORD", calls.closed, calls.closed, calls.record),
            ("EVENT_RECORD", calls.closed, calls.closed, calls.future),
        ]
        if not self.ffts:
            del moments[1]
        parts = []
        streams = np.broadcast_to(self.streams, shape).reshape(-1)
        nothing = np.full(steps * count, NONE)
        for kind, start, end, connection in moments:
            parts.append(
                Tasks(
                    start=start.reshape(-1),
                    end=end.reshape(-1),
                    device=np.full(steps * count, self.device),
                    stream=streams,
                    number=nothing,
                    context=nothing,
                    model=nothing,
                    connection=connection.reshape(-1),
                    identity=nothing,
                    kind=np.full(steps * count, self.texts.number(kind)),
                )
            )
        return Tasks.joined(parts)

    def _numbered(self, frame: Tasks, families: list[_Rows], runs: int) -> list[Tasks]:
        """taskId: counts the tasks of each stream; sub-tasks carry that of their enclosing task."""
        if self.ffts:
            numbers = numbered(frame.stream, frame.start)
            enclosing = numbers[runs : 2 * runs]
            return [
                replace(frame, number=numbers),
                *(replace(family.tasks, number=enclosing[family.run]) for family in families),
            ]
        parts = [frame, *(family.tasks for family in families)]
        stream, start = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("stream", "start")
        )
        bounds = np.cumsum([len(part) for part in parts])
        numbers = numbered(stream, start)
        return [
            replace(part, number=numbers[bound - len(part) : bound])
            for part, bound in zip(parts, bounds.tolist(), strict=True)
        ]

    def collectives(
        self,
        connection: Integers,
        step_numbers: Integers,
        rows: dict[Dimension, int],
        names: dict[Dimension, str],
    ) -> Collectives:
        """COMMUNICATION_OP: one row per step and collective of the program, step after step.

        ``connection``: shape (steps, collectives). ``rows``, ``names``: of Groups, by dimension.
        """
        items = [item for _, item in self.compiled.collectives]
        steps, count = connection.shape
        name = np.zeros((steps, count), np.int64)
        retry = np.zeros((steps, count), np.int64)
        algorithm = np.zeros(count, np.int64)
        for dimension in dict.fromkeys(item.dimension for item in items):
            members = [place for place, item in enumerate(items) if item.dimension == dimension]
            for offset, place in enumerate(members):
                indexes = np.arange(steps) * len(members) + offset
                found = operator_names(items[place].kind, names[dimension], indexes)
                name[:, place] = self.texts.numbers(found)
        for place, item in enumerate(items):
            ends = self.ends(item)
            algorithm[place] = self.texts.number(self.network.plan_of(item, ends.ranks).name)
            if place == 0:
                late = [self.network.late[rank] for rank in ends.ranks.tolist()]
                retry[:, 0] = np.any(np.stack(late) > 0, axis=0)

        def each(values: list[int]) -> Integers:
            return np.tile(np.array(values, np.int64), steps)

        return Collectives(
            name=name.reshape(-1),
            kind=each([self.texts.number(item.kind) for item in items]),
            algorithm=np.tile(algorithm, steps),
            group=each([rows[item.dimension] for item in items]),
            connection=connection.reshape(-1),
            device=np.full(steps * count, self.device),
            count=each([item.count for item in items]),
            data_type=each([self.data_types[item.data_type] for item in items]),
            relay=np.zeros(steps * count, np.int64),
            retry=retry.reshape(-1),
            step=np.repeat(step_numbers, count),
        )


def same(value: int, rows: int) -> Integers:
    """A column of one value, to be joined with others: it takes no memory and is read-only."""
    return np.broadcast_to(np.int64(value), (rows,))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of one family; ``run``: step x collectives + collective, for every task."""

    tasks: Tasks
    transfers: Transfers
    arrivals: Arrivals
    run: Integers
