"""The collectives of one rank: their small tasks, the tasks around these, and all numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ascend_ref.capture import Collectives, Integers, Tasks, Texts, Transfers
from ascend_ref.capture.model import NONE

from ..program.model import Collective, Dimension
from .clocks import CLOSED_NS, GAP_NS, RECORD_REST_NS
from .compiled import Compiled
from .layout import operator_names
from .network import FamilyRuns, Network
from .rank import RankMeetings
from .small_tasks import TASK_TYPES, Arrivals, Lanes, enum_ids
from .streams import communication_streams, numbered, plane_streams
from .timeline import Connections

LAST_MASTER_PLANE = 1
"""The master stream carries what is done within the chip (plane 0) and the first exchange: real
files count the waits and motions of plane 1 and the span of all planes (text-outputs.md 7.8)."""


@dataclass(frozen=True, slots=True)
class Communication:
    """What a rank's collectives leave.

    tasks: in several parts, without identities; transfers name a task by its place in all of them,
    and belong to step x collectives + collective.
    """

    tasks: list[Tasks]
    transfers: Transfers
    arrivals: Arrivals


class Expansion:
    """Expands the collectives of one rank; ``texts`` grows by the names that it needs."""

    def __init__(
        self, network: Network, compiled: Compiled, rank: int, device: int, texts: Texts
    ) -> None:
        self.network = network
        self.compiled = compiled
        self.lanes = Lanes(network, rank)
        self.device = device
        self.texts = texts
        self.ffts = network.machine.chip.ffts
        self.streams = communication_streams(compiled)
        self.transports = enum_ids("ENUM_HCCL_TRANSPORT_TYPE")
        self.data_types = enum_ids("ENUM_HCCL_DATA_TYPE")
        self.rdma_types = enum_ids("ENUM_HCCL_RDMA_TYPE")

    def expand(
        self, meetings: RankMeetings, seen: Integers, closed: Integers, calls: Connections
    ) -> Communication:
        """All tasks of all collectives.

        ``seen``: when the device could see each run. ``closed``: when its stream reports its end.
        ``calls``: the host calls behind it. All of shape (steps, collectives).
        """
        families = [
            self._family(item, family, calls)
            for (item, _), family in zip(self.compiled.families, meetings.families, strict=True)
        ]
        tasks = self._numbered(
            self._frame(meetings, seen, closed, calls),
            [(family.tasks, family.run) for family in families],
            meetings.ready.size,
        )
        offsets = np.cumsum([len(part) for part in tasks])
        transfers = [
            replace(family.transfers, task=family.transfers.task + offset)
            for family, offset in zip(families, offsets, strict=False)
        ]
        arrivals = Arrivals.joined([family.arrivals for family in families])
        return Communication(tasks, Transfers.joined(transfers), arrivals)

    def _frame(
        self, meetings: RankMeetings, seen: Integers, closed: Integers, calls: Connections
    ) -> Tasks:
        """Waits, then enclosing tasks where there are any, then records, on the streams of the
        collectives.
        """
        steps, count = meetings.ready.shape
        shape = (steps, count)
        before = np.zeros(shape, np.int64)
        for stream in np.unique(self.streams).tolist():
            members = np.flatnonzero(self.streams == stream)
            ends = closed[:, members].reshape(-1)
            free = np.concatenate([ends[:1] * 0, ends[:-1] + CLOSED_NS])
            before[:, members] = free.reshape(steps, -1)
        last = closed + (RECORD_REST_NS + GAP_NS)
        moments = [
            ("EVENT_WAIT", np.maximum(before, seen), meetings.ready, calls.wait),
            ("AI_CORE", meetings.ready, meetings.ended, calls.launch),
            ("EVENT_RECORD", closed, closed, calls.record_after),
            ("EVENT_RECORD", last, last, calls.record_future),
        ]
        if not self.ffts:
            del moments[1]
        parts = []
        streams = np.broadcast_to(self.streams, shape).reshape(-1)
        for kind, start, end, connection in moments:
            parts.append(
                Tasks.filled(
                    steps * count,
                    start=start.reshape(-1),
                    end=end.reshape(-1),
                    device=self.device,
                    stream=streams,
                    connection=connection.reshape(-1),
                    kind=self.texts.number(kind),
                )
            )
        return Tasks.joined(parts)

    def _numbered(
        self, frame: Tasks, families: list[tuple[Tasks, Integers]], runs: int
    ) -> list[Tasks]:
        """``families``: small tasks and the run of each; ``runs`` of collectives there are.

        taskId: counts the tasks of each stream; sub-tasks carry that of their enclosing
        task.
        """
        if self.ffts:
            numbers = numbered(frame.stream, frame.start)
            enclosing = numbers[runs : 2 * runs]
            return [
                replace(frame, number=numbers),
                *(replace(tasks, number=enclosing[run]) for tasks, run in families),
            ]
        parts = [frame, *(tasks for tasks, _ in families)]
        stream, start = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("stream", "start")
        )
        bounds = np.cumsum([len(part) for part in parts])
        numbers = numbered(stream, start)
        return [
            replace(part, number=numbers[bound - len(part) : bound])
            for part, bound in zip(parts, bounds.tolist(), strict=True)
        ]

    def _family(self, item: Collective, family: FamilyRuns, calls: Connections) -> _Rows:
        ends = self.lanes.ends(item)
        journey, played = self.network.replay(item, ends.ranks, ends.place, family)
        parts = self.lanes.small_tasks(item, journey, played, ends)
        runs_in_step = len(self.compiled.collectives)
        steps, members = family.ready.shape
        run = np.arange(steps)[:, None] * runs_in_step + family.numbers
        lanes = [len(part.plane) for part in parts]
        context = np.repeat(np.arange(sum(lanes)), steps * members)
        own_stream = int(self.streams[family.numbers[0]])

        def spread(values: list[Integers]) -> Integers:
            return np.repeat(np.concatenate(values), steps * members)

        def named(values: list[int]) -> Integers:
            return np.repeat(np.repeat(np.array(values, np.int64), lanes), steps * members)

        all_runs = np.tile(run.reshape(-1), sum(lanes))
        plane = spread([part.plane for part in parts])
        rows = len(context)
        task_types = TASK_TYPES[self.ffts]
        tasks = Tasks.filled(
            rows,
            start=np.concatenate([part.start.reshape(-1) for part in parts]),
            end=np.concatenate([part.end.reshape(-1) for part in parts]),
            device=self.device,
            stream=own_stream if self.ffts else plane_streams(own_stream, plane),
            context=context if self.ffts else NONE,
            connection=calls.launch.reshape(-1)[all_runs],
            kind=named([self.texts.number(task_types[part.kind]) for part in parts]),
        )
        transfers = Transfers.filled(
            rows,
            task=np.arange(rows),
            collective=all_runs,
            kind=named([self.texts.number(part.kind) for part in parts]),
            plane=plane,
            notify=spread([part.notify for part in parts]),
            source=int(ends.places[ends.place]),
            target=spread([part.target for part in parts]),
            size=np.concatenate(
                [np.broadcast_to(part.size[..., None], part.start.shape).ravel() for part in parts]
            ),
            transport=named([self.transports[part.transport] for part in parts]),
            link=spread([part.link for part in parts]),
            data_type=named([self.data_types[part.data_type] for part in parts]),
            rdma=named([self.rdma_types[part.rdma] for part in parts]),
            master=(plane <= LAST_MASTER_PLANE).astype(np.int64),
        )
        return _Rows(tasks, transfers, self.lanes.arrivals(journey, played, ends), all_runs)

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
        given = np.zeros((steps, count), np.int64)
        retry = np.zeros((steps, count), np.int64)
        algorithm = np.zeros(count, np.int64)
        for dimension in dict.fromkeys(item.dimension for item in items):
            members = [place for place, item in enumerate(items) if item.dimension == dimension]
            for offset, place in enumerate(members):
                indexes = range(offset, steps * len(members), len(members))
                found = operator_names(items[place].kind, names[dimension], indexes)
                name[:, place] = self.texts.numbers(found)
        for place, item in enumerate(items):
            ends = self.lanes.ends(item)
            algorithm[place] = self.texts.number(self.network.plan_of(item, ends.ranks).name)
            given[:, place] = self.network.given(item, self.lanes.rank)
            if place == self.network.retried[self.lanes.rank]:
                retry[:, place] = self.network.late[self.lanes.rank] > 0

        def each(values: list[int]) -> Integers:
            return np.tile(np.array(values, np.int64), steps)

        return Collectives.filled(
            steps * count,
            name=name.reshape(-1),
            kind=each([self.texts.number(item.kind) for item in items]),
            algorithm=np.tile(algorithm, steps),
            group=each([rows[item.dimension] for item in items]),
            connection=connection.reshape(-1),
            device=self.device,
            count=given.reshape(-1),
            data_type=each([self.data_types[item.data_type] for item in items]),
            relay=0,
            retry=retry.reshape(-1),
            step=np.repeat(step_numbers, count),
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of one family; ``run``: step x collectives + collective, for every task."""

    tasks: Tasks
    transfers: Transfers
    arrivals: Arrivals
    run: Integers
