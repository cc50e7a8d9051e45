"""Executes the tasks of a graph, iteration after iteration.

Tasks of one stream run one after the other in the order of the list; a node begins when what comes
in has ended, where that stands before it in the list. An inserted task takes the time of its
stream (inferred: it notes a moment, and nothing waits for it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.ge.trace import Graph, Insertion, Node, Task
from ascend_ref.ge.trace.graph import sources
from ascend_ref.ge.trace.names import log_id
from ascend_ref.raw.iterations import Points

from ..draws import Draws

SHORTEST, LONGEST = 5_000, 200_000
"""Lengths of the tasks of a node, ns (inferred)."""
VARIED = 30
"""By how many per mille a length differs between iterations."""
NOTED_NS = 1_000
"""Of an inserted task."""
APART_NS = 2_000
"""Before the task of a node, and from what comes in to what waits for it."""
BETWEEN_NS = 500_000
"""Between two executions of the model."""
FIRST_INDEX = 1
"""Of every inserted task of a loaded model, whatever the iteration (ge-profiling 3.3)."""
MOST_STREAMS = 1 << 11
MOST_TASKS = 5_000_000
"""Of a run, which is held in memory."""
MOST_DEPTH = 1_000
"""Of sub-graphs in each other: a node waits for those around it."""
LONGEST_NS = 3_600 * 10**9
"""Of a run: within it no time overflows."""


class OwnTasks(NamedTuple):
    """What nodes themselves ran: the node, from when to when in ns, and on which stream."""

    node: Integers
    start: Integers
    end: Integers
    stream: Integers


@dataclass(frozen=True, slots=True)
class Run:
    """What a device ran and noted. ``points``: in order of time, the lane being the stream."""

    points: Points
    tasks: OwnTasks
    end: int


def execute(insertion: Insertion, iterations: int, seed: int, start: int, model: int) -> Run:
    """Run the tasks so often from a moment on, ns; the same arguments give the same run.

    A graph that needs iterations runs all of them in one execution of the model, any other one
    execution each. Raises ``ValueError`` for more streams than a device numbers, sub-graphs nested
    too deep, too many tasks, and a run of more than an hour.
    """
    _check_depth(insertion.graph)
    device = _Device(insertion, seed, start, model)
    if len(device.items) * iterations > MOST_TASKS:
        raise ValueError(
            f"{len(device.items):,} tasks in {iterations:,} iterations; expected at most "
            f"{MOST_TASKS:,} in all"
        )
    once = insertion.graph.need_iteration
    for number in range(1, iterations + 1):
        if number == 1 or not once:
            device.note("model start", 1 if once else number)
        device.iterate(number)
        if max(device.free.values()) - start > LONGEST_NS:
            raise ValueError(
                f"iteration {number:,} ends more than an hour after the start; "
                "expected fewer iterations or nodes"
            )
        if number == iterations or not once:
            device.note("model end", 1 if once else number)
            device.rest()
    return device.run()


class _Device:
    def __init__(self, insertion: Insertion, seed: int, start: int, model: int) -> None:
        self.items = list(insertion.tasks())
        self.insertion = insertion
        self.model = model
        streams = _streams(self.items)
        self.stream_of = {one: place for place, one in enumerate(streams)}
        if streams and streams[0] >= 0 and streams[-1] < MOST_STREAMS:
            self.stream_of = {one: one for one in streams}
        self.host_stream = next(iter(self.stream_of.values()), 0)
        self.free = dict.fromkeys(self.stream_of.values(), start)
        self.free.setdefault(self.host_stream, start)
        self.draws = Draws(seed, "ge-durations")
        own = sum(isinstance(one, Node) for one in self.items)
        self.lengths = self.draws.between(SHORTEST, LONGEST, own)
        self.points: list[tuple[int, int, int, int, int]] = []
        self.own: list[tuple[int, int, int, int]] = []

    def note(self, name: str, number: int) -> None:
        """A point that the host notes around an execution, when all before it has ended."""
        now = max(self.free.values()) + APART_NS
        self.points.append((self.model, number, log_id(name).value, self.host_stream, now))
        self.free = dict.fromkeys(self.free, now + NOTED_NS)

    def rest(self) -> None:
        """Time between two executions."""
        now = max(self.free.values()) + BETWEEN_NS
        self.free = dict.fromkeys(self.free, now)

    def iterate(self, number: int) -> None:
        """All tasks once."""
        lengths = iter(self.draws.scaled(self.lengths, VARIED).tolist())
        ended: dict[int, int] = {}
        index = FIRST_INDEX if self.insertion.executor.form == "task" else number
        for one in self.items:
            if isinstance(one, Node):
                self._run(one, next(lengths), ended)
            elif one.noted:
                self._note(one, index, ended)

    def run(self) -> Run:
        """What was run and noted."""
        order = sorted(range(len(self.points)), key=lambda place: self.points[place][4])
        points = np.array([self.points[place] for place in order], np.int64).reshape(-1, 5)
        own = np.array(self.own, np.int64).reshape(-1, 4)
        columns = [np.ascontiguousarray(column) for column in points.T]
        tasks = OwnTasks(*(np.ascontiguousarray(column) for column in own.T))
        return Run(Points(*columns), tasks, max(self.free.values()))

    def _run(self, node: Node, length: int, ended: dict[int, int]) -> None:
        stream = self.stream_of[node.stream]
        start = max(self.free[stream], self._ready(node, ended)) + APART_NS
        end = start + max(length, 1)
        self.own.append((node.id, start, end, stream))
        self.free[stream] = end
        ended[node.id] = end
        # What follows the node waits for its sub-graphs, whose nodes may stand behind it.
        around = self.insertion.graph.owners.get(node.graph)
        while around is not None:
            ended[around.id] = max(ended.get(around.id, end), end)
            around = self.insertion.graph.owners.get(around.graph)

    def _note(self, task: Task, index: int, ended: dict[int, int]) -> None:
        stream = self.stream_of[task.node.stream]
        now = self.free[stream]
        if task.place == "before":
            now = max(now, self._ready(task.node, ended) + APART_NS)
        self.points.append((self.model, index, task.number, stream, now))
        self.free[stream] = now + NOTED_NS

    def _ready(self, node: Node, ended: dict[int, int]) -> int:
        """When what comes into a node, and into the nodes around it, has ended."""
        found = 0
        at: Node | None = node
        while at is not None:
            found = max([found, *(ended.get(one, 0) for one in sources(at))])
            at = self.insertion.graph.owners.get(at.graph)
        return found


def _check_depth(graph: Graph) -> None:
    level, depth = {0}, 0
    while level:
        level = {one for number in level for node in graph.graphs[number] for one in node.subgraphs}
        depth += bool(level)
        if depth > MOST_DEPTH:
            raise ValueError(
                f"sub-graphs are nested deeper than {MOST_DEPTH:,}; expected fewer to run"
            )


def _streams(items: list[Task | Node]) -> list[int]:
    def every() -> Iterator[int]:
        for one in items:
            yield one.stream if isinstance(one, Node) else one.node.stream

    found = sorted(set(every()))
    if len(found) > MOST_STREAMS:
        raise ValueError(f"{len(found):,} streams; expected at most {MOST_STREAMS:,} to run")
    return found
