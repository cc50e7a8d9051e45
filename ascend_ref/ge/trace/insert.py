"""The tasks that are inserted around the points of a graph (ge-profiling 3.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ascend_ref.raw.vocabulary import numbered_pairs
from ascend_spec import ge_catalog
from ascend_spec.db.model import Reading
from ascend_spec.ge import Executor, ExecutorName, Place

from .graph import Graph, Node
from .names import log_id, mark
from .points import (
    NOT_FOUND,
    Points,
    candidates,
    is_reading,
    is_reduction,
    notable,
    points_as_documented,
    points_as_observed,
)

Profiling = Literal["off", "initialised", "on", "training-trace"]
"""How much of the profiling is on when the graph is compiled."""

NO_NUMBER = -1
"""Of a GetNext that is not in the list (erratum G89)."""
DEFAULT_NUMBER = 0xFFFF
"""Of an AllReduce whose attribute for it is missing."""
_WORD = 1 << 64


@dataclass(frozen=True, slots=True)
class Asked:
    """How tasks are inserted. Points without a name are found; ``executor``: by the graph."""

    fp_point: str = ""
    bp_point: str = ""
    reading: Reading = "observed"
    profiling: Profiling = "training-trace"
    executor: ExecutorName | None = None


class Task(NamedTuple):
    """An inserted task. ``number``: of the point; ``noted``: whether the executor notes it."""

    node: Node
    place: Place
    number: int
    notify: bool
    noted: bool

    @property
    def logid(self) -> int:
        """The number as the field of 64 bits without a sign holds it."""
        return self.number % _WORD


class Marks(NamedTuple):
    """What attributes say of a node. ``number``: of the start of an AllReduce or GetNext."""

    forward: bool
    backward: bool
    end: bool
    number: int | None


_NO_MARKS = Marks(forward=False, backward=False, end=False, number=None)


@dataclass(frozen=True, slots=True)
class Insertion:
    """What was inserted. ``nodes``: that may have tasks, in the order in which they are made.

    ``around``: inserted tasks by node in this order, first those before it. ``within``: of nodes
    that are launched as a whole those in them, which stand between.
    """

    graph: Graph
    asked: Asked
    executor: Executor
    points: Points
    nodes: Sequence[Node]
    around: Mapping[int, tuple[Sequence[Task], Sequence[Task]]]
    within: Mapping[int, Sequence[Node]]

    def inserted(self) -> Iterator[Task]:
        """The inserted tasks in order."""
        if self.within:
            return (one for one in self.tasks() if isinstance(one, Task))
        return (one for pair in self.around.values() for side in pair for one in side)

    def tasks(self) -> Iterator[Task | Node]:
        """The whole list: inserted tasks, and a node for its own tasks."""
        for node in self.nodes:
            before, after = self.around.get(node.id, ((), ()))
            yield from before
            for inner in self.within.get(node.id, ()):
                first, last = self.around.get(inner.id, ((), ()))
                yield from first
                yield inner
                yield from last
            if node.has_tasks:
                yield node
            yield from after


def insert(graph: Graph, asked: Asked) -> Insertion:
    """What is inserted into a graph.

    Raises ``ValueError`` where the executor runs no such graphs.
    """
    executor = _executor(graph, asked)
    nodes = candidates(graph, asked.reading)
    within = _within(graph, nodes) if asked.reading == "observed" else {}
    points = _points(graph, nodes, asked)
    inserter = (_Observed if asked.reading == "observed" else _Documented)(
        graph, asked, executor, points
    )
    around = {}
    if asked.profiling in ("on", "training-trace"):
        inner = [one for several in within.values() for one in several]
        for node in inserter.interesting([*nodes, *inner]):
            found = inserter.before(node), inserter.after(node)
            if found[0] or found[1]:
                around[node.id] = found
    return Insertion(graph, asked, executor, points, nodes, around, within)


def _executor(graph: Graph, asked: Asked) -> Executor:
    executors = ge_catalog().executors
    kinds = {"dynamic"} if graph.dynamic else {"static"}
    if graph.parent_dynamic:
        kinds = {"dynamic", "static"}
    fit = [name for name, one in executors.items() if one.of in kinds]
    if asked.executor is None:
        return executors["v2" if graph.dynamic else "static"]
    if asked.executor not in fit:
        what = "unknown" if graph.dynamic else "known"
        raise ValueError(
            f"executor {asked.executor} runs no graph with {what} shapes; "
            f"expected {' or '.join(fit)}"
        )
    return executors[asked.executor]


def _points(graph: Graph, nodes: Sequence[Node], asked: Asked) -> Points:
    """What is found, once the condition for looking holds (erratum G8)."""
    observed = asked.reading == "observed"
    looks = asked.profiling != "off" and (observed or asked.profiling != "initialised")
    if not looks:
        return Points(NOT_FOUND, NOT_FOUND) if observed else Points()
    find = points_as_observed if observed else points_as_documented
    return find(graph, nodes, asked.fp_point, asked.bp_point)


def _within(graph: Graph, nodes: Sequence[Node]) -> dict[int, list[Node]]:
    """The nodes of sub-graphs that are launched as a whole, by the node around them."""
    return {
        node.id: sorted(
            (inner for inner in graph.below([node]) if inner.has_tasks), key=lambda one: one.id
        )
        for node in nodes
        if node.is_launched_as_a_whole
    }


class _Inserter(ABC):
    """Numbers of the points, and where each node stands in the lists."""

    def __init__(self, graph: Graph, asked: Asked, executor: Executor, points: Points) -> None:
        self.points = points
        self.asked = asked
        self.executor = executor
        self.reductions = {number: turn for turn, number in enumerate(points.reductions)}
        self.readings = {number: turn for turn, number in enumerate(points.readings)}

    def interesting(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """Those around which there can be tasks."""
        single = (self.points.forward, self.points.backward)
        known = {*self.reductions, *self.readings, *self.points.ends, *single}
        known |= {node.id for node in notable(nodes)}
        return (node for node in nodes if node.id in known or node.attributes)

    @abstractmethod
    def before(self, node: Node) -> list[Task]:
        """The tasks before those of a node."""

    @abstractmethod
    def after(self, node: Node) -> list[Task]:
        """The tasks after those of a node."""

    def task(self, node: Node, name: str, number: int | None = None) -> Task:
        """A task of a point, whose number may be that of a further operator."""
        point = log_id(name)
        value = point.value if number is None else number
        noted = self.asked.reading == "documented" or self.executor.notes(value)
        return Task(node, point.place or "before", value, point.notify, noted)


class _Documented(_Inserter):
    """By what the document says: around each point, whether it was found or is marked."""

    def before(self, node: Node) -> list[Task]:
        found = []
        if node.id == self.points.forward or node.is_marked("forward-mark"):
            found.append(self.task(node, "kProfilingFpStartLogid"))
        return found + self._pairs(node, "Start")

    def after(self, node: Node) -> list[Task]:
        found = []
        marked = node.is_marked("backward-mark") and not is_reduction(node)
        if node.id == self.points.backward or marked:
            found.append(self.task(node, "kProfilingBpEndLogid"))
        if node.id in self.points.ends or node.is_marked("end-mark"):
            found.append(self.task(node, "kProfilingIterEndLogid"))
        return found + self._pairs(node, "End")

    def _pairs(self, node: Node, side: str) -> list[Task]:
        found = []
        for name, turns in (("Ar", self.reductions), ("GetNext", self.readings)):
            turn = turns.get(node.id, numbered_pairs())
            if turn < numbered_pairs():
                point = f"kProfiling{name}{side}Logid"
                found.append(self.task(node, point, _number(point, turn)))
        return found


class _Observed(_Inserter):
    """As the graph engine does it; in graphs with unknown shapes by attributes alone."""

    def __init__(self, graph: Graph, asked: Asked, executor: Executor, points: Points) -> None:
        super().__init__(graph, asked, executor, points)
        # Points of a graph with unknown shapes become attributes, and its parts have no points.
        self.marked = graph.dynamic
        self.at = Points(NOT_FOUND, NOT_FOUND) if self.marked else points

    def before(self, node: Node) -> list[Task]:
        marks = self._marks(node)
        if self._by_attributes:
            return self._starts(node, marks)
        lacks = self.at.backward == NOT_FOUND or not self.at.ends
        if lacks and not (marks.forward or marks.backward):
            return []
        found = []
        if marks.forward or node.id == self.at.forward:
            found.append(self.task(node, "kProfilingFpStartLogid"))
        found += self._reduction(node, marks, "kProfilingArStartLogid")
        return found + self._reading(node, "kProfilingGetNextStartLogid")

    def after(self, node: Node) -> list[Task]:
        marks = self._marks(node)
        if self._by_attributes:
            return self._ends(node, marks)
        if not self.at.ends and not (marks.backward or marks.end):
            return []
        found = []
        if node.id == self.at.backward or (marks.backward and not is_reduction(node)):
            found.append(self.task(node, "kProfilingBpEndLogid"))
        if marks.end or node.id in self.at.ends:
            found.append(self.task(node, "kProfilingIterEndLogid"))
        found += self._reduction(node, marks, "kProfilingArEndLogid")
        return found + self._reading(node, "kProfilingGetNextEndLogid")

    @property
    def _by_attributes(self) -> bool:
        """Whether nothing is inserted, and attributes are asked as kernels run (erratum G84)."""
        return self.executor.form == "attribute"

    def _marks(self, node: Node) -> Marks:
        """The attributes of a node, with those that are set where points were found."""
        own = _NO_MARKS
        if node.attributes:
            own = Marks(
                node.is_marked("forward-mark"),
                node.is_marked("backward-mark"),
                node.is_marked("end-mark"),
                node.attributes.get(mark("number-mark")),
            )
        if not self.marked:
            return own
        points, number = self.points, own.number
        for name, turns in (("Ar", self.reductions), ("GetNext", self.readings)):
            if node.id in turns:
                number = _number(f"kProfiling{name}StartLogid", turns[node.id])
        return Marks(
            own.forward or node.id == points.forward,
            own.backward or node.id == points.backward or node.id in self.reductions,
            own.end or node.id in points.ends,
            number,
        )

    def _reduction(self, node: Node, marks: Marks, name: str) -> list[Task]:
        if not is_reduction(node):
            return []
        if marks.backward:
            first = DEFAULT_NUMBER if marks.number is None else marks.number
            return [self.task(node, name, first + log_id(name).plus)]
        # Of a graph with unknown shapes each AllReduce in the list is marked.
        turn = self.reductions.get(node.id)
        return [] if turn is None else [self.task(node, name, _number(name, turn))]

    def _reading(self, node: Node, name: str) -> list[Task]:
        if not is_reading(node):
            return []
        turn = None if self.marked else self.readings.get(node.id)
        return [self.task(node, name, NO_NUMBER if turn is None else _number(name, turn))]

    def _starts(self, node: Node, marks: Marks) -> list[Task]:
        found = [self.task(node, "kProfilingFpStartLogid")] if marks.forward else []
        if marks.number is not None:
            found.append(self.task(node, _pair_of(node, "Start"), marks.number))
        return found

    def _ends(self, node: Node, marks: Marks) -> list[Task]:
        last = marks.backward and not is_reduction(node)
        found = [self.task(node, "kProfilingBpEndLogid")] if last else []
        if marks.number is not None:
            found.append(self.task(node, _pair_of(node, "End"), marks.number + 1))
        return found


def _number(name: str, turn: int) -> int:
    """The number of the so manyth operator of a kind, from 0 on."""
    point = log_id(name)
    return point.value + turn * (point.step or 0)


def _pair_of(node: Node, side: str) -> str:
    return f"kProfiling{'Ar' if is_reduction(node) else 'GetNext'}{side}Logid"
