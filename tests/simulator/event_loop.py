"""The world again as a plain event loop: one object per task, a heap of ends, all ranks at once.

The lengths that were drawn (``RankClocks``) and what the network charges (``Network.journey`` and
its tables) are given; everything that makes one moment follow from another is said here anew.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain

import numpy as np

from ascend_simulator.program.model import (
    OTHER_STREAM,
    Annotate,
    Await,
    Collective,
    Copy,
    Launch,
    Synchronize,
)
from ascend_simulator.session.setting import Setting
from ascend_simulator.world.clocks import GAP_NS, RECORD_REST_NS, SEEN_NS
from ascend_simulator.world.compiled import EVENT_NS, HEAD_NS, TAIL_NS
from ascend_simulator.world.coupled import STEP_GAP_NS, SYNCHRONIZE_NS
from ascend_simulator.world.exchange import Round
from ascend_simulator.world.network import Journey
from ascend_simulator.world.rhythm import (
    AFTER_LOCAL_NS,
    AFTER_MOVE_NS,
    BEFORE_MOVE_NS,
    BEFORE_WAIT_NS,
    CLOSING_NS,
    LOCAL_START_NS,
    OPENING_NS,
    STAGGER_NS,
)

POINT_TO_POINT = ("send", "receive")
COMPUTE, OTHER, FIRST_CHANNEL, PLANES = 2, 3, 4, 100
GIVEN = ("kind", "length", "head", "tail", "rest", "pause")
ON_HOST = ("begin", "handed", "left", "taken", "done", "seen")
KINDS = {
    True: ("Write Value", "Notify Wait", "SDMA", "SDMA", "Write Value"),
    False: ("NOTIFY_RECORD", "NOTIFY_WAIT", "MEMCPY_ASYNC", "REDUCE_ASYNC_V2", "RDMA_DB_SEND"),
}


class Task:
    """Begins when everything in ``waits for`` is over, ends when ``needs`` are over too.

    stream, kind: of a row of TASK; stream None: no row, a moment between others.
    small: kind, plane, target, size of a small task of a collective.
    """

    __slots__ = (
        "end",
        "ends",
        "kind",
        "length",
        "lets_begin",
        "lets_end",
        "missing",
        "small",
        "start",
        "stream",
        "unheard",
    )

    def __init__(self, length: int, stream: int | None = None, kind: str = "") -> None:
        self.length = length
        self.stream = stream
        self.kind = kind
        self.small: tuple[str, int, int, int] | None = None
        self.start = self.end = self.ends = 0
        self.missing = self.unheard = 0
        self.lets_begin: list[tuple[Task, int]] = []
        self.lets_end: list[tuple[Task, int]] = []

    def after(self, other: Task | None, delay: int = 0) -> Task:
        """Begin so long after the end of another task."""
        if other is not None:
            other.lets_begin.append((self, delay))
            self.missing += 1
        return self

    def needs(self, other: Task, delay: int = 0) -> Task:
        """End not before the end of another task, and so long after it."""
        other.lets_end.append((self, delay))
        self.unheard += 1
        return self


class Deadlock(Exception):
    """Tasks wait for each other."""


def play(tasks: list[Task]) -> None:
    """Find start and end of every task. Roots stand at their ``start``."""
    heap: list[tuple[int, int, Task]] = []
    count = 0
    for task in tasks:
        if not task.missing and not task.unheard:
            task.end = task.start + task.length
            heappush(heap, (task.end, count, task))
            count += 1
    done = 0
    while heap:
        now, _, task = heappop(heap)
        done += 1
        for other, delay in task.lets_begin:
            other.start = max(other.start, now + delay)
            other.missing -= 1
            if not other.missing and not other.unheard:
                other.end = max(other.start + other.length, other.ends)
                heappush(heap, (other.end, count, other))
                count += 1
        for other, delay in task.lets_end:
            other.ends = max(other.ends, now + delay)
            other.unheard -= 1
            if not other.missing and not other.unheard:
                other.end = max(other.start + other.length, other.ends)
                heappush(heap, (other.end, count, other))
                count += 1
    if done < len(tasks):
        raise Deadlock(f"{len(tasks) - done} of {len(tasks)} tasks wait for each other")


@dataclass(slots=True)
class Stream:
    """The last task of a stream, and for how long the stream rests after it."""

    last: Task | None = None
    rest: int = 0

    def append(self, task: Task, rest: int = 0) -> Task:
        """Begin the task when the stream is free."""
        if self.last is not None:
            task.after(self.last, self.rest + GAP_NS)
        self.last, self.rest = task, rest
        return task


@dataclass(slots=True)
class ItemTimes:
    """The host's side of an item: (begin, handed, left) and (taken, seen, done)."""

    hand: Task
    leave: Task
    pause: int
    take: Task | None = None
    finish: Task | None = None


@dataclass(slots=True)
class RankPlay:
    """What one rank did. runs: tasks of each collective, by step and number."""

    tasks: list[Task] = field(default_factory=list)
    hosts: list[list[ItemTimes]] = field(default_factory=list)
    step_starts: list[Task] = field(default_factory=list)
    runs: dict[tuple[int, int], list[Task]] = field(default_factory=dict)


class EventLoop:
    """All ranks of a setting. ``start``: Unix ns of the first step."""

    def __init__(self, world: Setting, start: int) -> None:
        self.world = world
        self.start = start
        self.records: dict[object, Task] = {}
        self.waits: list[tuple[Task, object]] = []
        self.ranks = [RankPlay() for _ in range(world.scenario.parallelism.ranks)]

    def run(self) -> list[RankPlay]:
        """Build the graph of all ranks and play it. Raises :class:`Deadlock`."""
        for rank, played in enumerate(self.ranks):
            _Rank(self, rank, played).build()
        for wait, key in self.waits:
            # A record that nobody sends is never heard: the wait stays.
            wait.needs(self.records.get(key, wait))
        play(list(chain.from_iterable(played.tasks for played in self.ranks)))
        return self.ranks


class _Rank:
    """Builds the tasks of one rank."""

    def __init__(self, loop: EventLoop, rank: int, played: RankPlay) -> None:
        self.loop = loop
        self.world = loop.world
        self.rank = rank
        self.played = played
        self.tasks = played.tasks
        self.program = self.world.of(rank).program
        self.kinds = self.world.of(rank).kinds
        self.clocks = self.world.clocks(rank)
        self.lists = {name: getattr(self.clocks, name).tolist() for name in GIVEN}
        self.lists |= {name: getattr(self.clocks.host, name).tolist() for name in ON_HOST}
        self.streams: dict[object, Stream] = defaultdict(Stream)
        self.channels: dict[object, int] = {}
        self.queue: Task | None = None
        self.collective_ends: dict[int, Task] = {}
        self.ffts = self.world.machine.chip.ffts

    def new(self, length: int, stream: int | None = None, kind: str = "") -> Task:
        task = Task(length, stream, kind)
        self.tasks.append(task)
        return task

    def build(self) -> None:
        thread: Task | None = None
        for step in range(self.world.scenario.schedule.active):
            begin = self.new(0)
            if thread is None:
                begin.start = self.loop.start
            else:
                begin.after(thread, STEP_GAP_NS)
            self.played.step_starts.append(begin)
            self.played.hosts.append([])
            thread = begin
            self.counts: dict[object, int] = defaultdict(int)
            # What a retry costs falls on the first data that the rank moves.
            self.late = int(self.world.network.late[self.rank, step])
            for place in range(len(self.program.items)):
                thread = self._item(step, place, thread)

    def _item(self, step: int, place: int, thread: Task) -> Task:
        """The host's work for an item, and the device's. Returns the end of the former."""
        item = self.program.items[place]
        of = {name: rows[step][place] for name, rows in self.lists.items()}
        hand = self.new(of["handed"] - of["begin"]).after(thread, of["pause"])
        leave = self.new(of["left"] - of["handed"]).after(hand)
        times = ItemTimes(hand, leave, of["pause"])
        self.played.hosts[-1].append(times)
        if isinstance(item, Synchronize):
            self._synchronize(leave)
            return leave
        if of["taken"] < 0:
            return leave
        times.take = self.new(of["seen"] - SEEN_NS - of["taken"]).after(hand).after(self.queue)
        times.finish = self.new(of["done"] - of["seen"] + SEEN_NS).after(times.take)
        self.queue = times.finish
        compute = self.streams[COMPUTE]
        if isinstance(item, Launch):
            self._launch(item, times.take, of)
        elif isinstance(item, Copy):
            task = self.new(of["length"], COMPUTE, "MEMCPY_ASYNC").after(times.take, SEEN_NS)
            compute.append(task, rest=of["rest"])
        elif isinstance(item, Annotate):
            shown = COMPUTE if self.world.scenario.capture.mstx else None
            compute.append(self.new(0, shown, "MsTx").after(times.take, SEEN_NS))
        elif isinstance(item, Await):
            task = self.new(0, COMPUTE, "EVENT_WAIT").after(times.take, SEEN_NS)
            compute.append(task, rest=of["rest"]).needs(self.collective_ends[item.item])
        elif isinstance(item, Collective):
            record = self.new(EVENT_NS, COMPUTE, "EVENT_RECORD").after(times.take, SEEN_NS)
            compute.append(record)
            self.collective_ends[place] = self._collective(item, step, times, record)
        return leave

    def _synchronize(self, leave: Task) -> None:
        """The thread goes on some time after queue and streams are empty."""
        leave.length = SYNCHRONIZE_NS
        leave.after(self.queue)
        for number, stream in self.streams.items():
            gap = GAP_NS if number not in (COMPUTE, OTHER) else 0
            leave.after(stream.last, stream.rest + gap)

    def _launch(self, item: Launch, seen: Task, of: dict[str, int]) -> None:
        number = OTHER if item.stream == OTHER_STREAM else COMPUTE
        stream = self.streams[number]
        kernel = self.kinds[of["kind"]]
        head, tail, length = of["head"], of["tail"], of["length"]
        task = self.new(length, number, kernel.task_type).after(seen, SEEN_NS + head)
        if not kernel.subtask:
            stream.append(task, rest=of["rest"])
            return
        if stream.last is not None:
            task.after(stream.last, stream.rest + GAP_NS + head)
        kind = "AI_CORE" if kernel.task_type.startswith("MIX") else kernel.task_type
        around = self.new(head + length + tail, number, kind).after(seen, SEEN_NS)
        stream.append(around, rest=of["rest"])

    def _collective(self, item: Collective, step: int, times: ItemTimes, record: Task) -> Task:
        """The operator on its own stream. Returns its end."""
        world, network = self.world, self.world.network
        group = world.layout.group_of(self.rank, item.dimension).tolist()
        own, places = group.index(self.rank), list(range(len(group)))
        if item.kind in POINT_TO_POINT:
            other = (own + item.peer) % len(group)
            places = [own, other] if item.kind == "send" else [other, own]
            channel: object = (item.dimension, item.kind, item.peer)
            name: object = (item.tag, places[0], places[1])
        else:
            channel = name = item.dimension
        ranks = tuple(group[place] for place in places)
        self.counts[name] += 1
        meeting = (step, item.dimension, ranks, name, self.counts[name])
        number = self.counts["all"]
        self.counts["all"] += 1
        stream = self.channels.setdefault(channel, FIRST_CHANNEL + len(self.channels))
        journey = network.journey(item, np.array([ranks]), range(step, step + 1))
        # On its stream the operator waits for the compute stream, works, and records its end.
        wait = self.new(EVENT_NS, stream, "EVENT_WAIT").after(times.take, SEEN_NS).needs(record)
        self.streams[stream].append(wait)
        around = self.new(0, stream if self.ffts else None, "AI_CORE").after(wait)
        run = _Run(
            self,
            item,
            journey,
            meeting,
            ranks.index(self.rank),
            places,
            [rank // world.machine.devices_per_host for rank in ranks],
            stream,
            factor=int(network.factors[self.rank, step, number]),
            tell=int(network.records[self.rank, step, number]),
        )
        closing = run.build(wait)
        self.played.runs[step, number] = [task for task in run.tasks if task.small]
        around.needs(closing, TAIL_NS if self.ffts else 0)
        end = self.new(0, stream, "EVENT_RECORD").after(around).after(times.finish, SEEN_NS)
        own = self.streams[stream]
        own.last, own.rest = end, RECORD_REST_NS
        own.append(self.new(0, stream, "EVENT_RECORD"), RECORD_REST_NS)
        return end


@dataclass(slots=True)
class _Run:
    """One run of a collective on one rank."""

    of: _Rank
    item: Collective
    journey: Journey
    meeting: object
    place: int
    places: list[int]
    hosts: list[int]
    stream: int
    factor: int
    tell: int
    tasks: list[Task] = field(default_factory=list)

    def far(self, place: int) -> bool:
        """Whether a rank is on another host."""
        return self.hosts[place] != self.hosts[self.place]

    def new(self, kind: str, length: int, lane: int, target: int, size: int) -> Task:
        """A small task; ``lane`` -1: of the operator as a whole."""
        plane = lane + 1 if self.journey.plan.lanes > 1 and lane >= 0 else 0
        stream = self.stream
        if not self.of.ffts and plane:
            stream = PLANES * stream + plane
        names = ("Notify_Record", "Notify_Wait", "Memcpy", "Reduce_Inline", "RDMASend")
        task = self.of.new(length, stream, KINDS[self.of.ffts][names.index(kind)])
        task.small = kind, plane, target, size
        self.tasks.append(task)
        return task

    def build(self, begin: Task) -> Task:
        """All small tasks after ``begin``. Returns the last one."""
        plan, head = self.journey.plan, HEAD_NS if self.of.ffts else 0
        whole = self.item.kind not in POINT_TO_POINT
        if whole:
            self.new("Reduce_Inline", OPENING_NS, -1, -1, 4).after(begin, head)
        free = [(begin, head + OPENING_NS + STAGGER_NS * lane) for lane in range(plan.lanes)]
        if plan.before:
            free = self._local(begin, head + LOCAL_START_NS)
        joined: Task | None = None
        for turn in range(len(plan.rounds)):
            if turn == plan.middle:
                assert joined is not None
                free = self._local(joined, BEFORE_MOVE_NS)
            joined = self._meet(turn, free, joined)
            free = self._move(turn, joined)
        closing = (
            self.new("Reduce_Inline", OPENING_NS, -1, -1, 4) if whole else self.of.new(OPENING_NS)
        )
        return closing.after(joined, CLOSING_NS)

    def _local(self, anchor: Task, delay: int) -> list[tuple[Task, int]]:
        """Copy the own piece; then all lanes start, one after the other."""
        size = int(self.journey.own[0, 0, self.place])
        task = self.new("Memcpy", int(self.journey.local[0, 0, self.place]), -1, self._own, size)
        task.after(anchor, delay)
        lanes = range(self.journey.plan.lanes)
        return [(task, AFTER_LOCAL_NS + STAGGER_NS * lane) for lane in lanes]

    @property
    def _own(self) -> int:
        return self.places[self.place]

    def _meet(self, turn: int, free: list[tuple[Task, int]], before: Task | None) -> Task:
        """Tell the peers and wait for them on every lane. Returns the moment when all have."""
        loop, item = self.of.loop, self.journey.plan.rounds[turn]
        joined = self.of.new(0).after(before)
        for lane, begun in enumerate(free):
            anchor, delay = begun
            told = int(item.notifies[lane, self.place])
            heard = int(item.heard[lane, self.place])
            if told >= 0:
                kind = "RDMASend" if self.far(told) else "Notify_Record"
                task = self.new(kind, self.tell, lane, self.places[told], 0)
                task.after(anchor, delay)
                loop.records[self.meeting, turn, lane, self.place] = task
                anchor, delay = task, 0
                self._hide_unless_far(item, told)
            if heard >= 0:
                far_lane = int(item.heard_lane[lane, self.place])
                wait = self.new("Notify_Wait", 0, lane, self.places[heard], 0)
                wait.after(anchor, BEFORE_WAIT_NS if told >= 0 else delay)
                loop.waits.append((wait, (self.meeting, turn, far_lane, heard)))
                anchor, delay = wait, 0
                self._hide_unless_far(item, heard)
            joined.after(anchor, delay)
        return joined

    def _hide_unless_far(self, item: Round, peer: int) -> None:
        """The newest task only passes time where a rank of the same host would confirm."""
        if item.confirms and not self.far(peer):
            self.tasks.pop().stream = None

    def _move(self, turn: int, joined: Task) -> list[tuple[Task, int]]:
        """Move data on the lanes that have some. Returns when each lane goes on."""
        item = self.journey.plan.rounds[turn]
        kind = "Reduce_Inline" if item.motion == "reduce" else "Memcpy"
        free = []
        sizes = self.journey.sizes[turn][:, 0, 0, self.place].tolist()
        late = 0
        if any(sizes):
            late, self.of.late = self.of.late, 0
        for lane in range(len(item.peer)):
            size = sizes[lane]
            start = joined, BEFORE_MOVE_NS + STAGGER_NS * lane
            if not size:
                free.append(start)
                continue
            length = int(self.journey.lengths[turn][lane, 0, 0, self.place])
            length += length * self.factor >> 20
            target = self.places[int(item.peer[lane, self.place])]
            length = (length + late) // 20 * 20
            task = self.new(kind, length, lane, target, size).after(*start)
            free.append((task, AFTER_MOVE_NS))
        return free
