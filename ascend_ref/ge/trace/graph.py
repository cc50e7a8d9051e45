"""A graph of the graph engine with its sub-graphs, as the insertion of tasks sees it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from .names import mark, names

MOST_ID = (1 << 63) - 1
Edge = tuple[int, int]
"""The node that an input comes from, and the number of its output."""
_NOTHING: Mapping[str, Any] = {}


class UnusableGraph(Exception):
    """A graph to which nothing can be inserted; the text states the place and what is expected."""


class Node(msgspec.Struct, frozen=True, gc=False):
    """A node. ``inputs``: input by input, ``None`` where nothing comes in.

    ``graph``: the number of its graph, 0 for the root. ``kernel_lib``: empty where other programs
    make no tasks of it. ``stream``: -1 for none.
    """

    id: int
    name: str
    type: str
    kernel_lib: str
    stream: int = 0
    original_type: str = ""
    origin_names: tuple[str, ...] = ()
    inputs: tuple[Edge | None, ...] = ()
    control: tuple[int, ...] = ()
    subgraphs: tuple[int, ...] = ()
    parent_input: int = -1
    attributes: Mapping[str, Any] = _NOTHING
    graph: int = 0

    @property
    def has_tasks(self) -> bool:
        """Whether other programs make tasks of the node."""
        return bool(self.kernel_lib) and not self.is_marked("no-task")

    @property
    def is_launched_as_a_whole(self) -> bool:
        """Whether the sub-graphs of the node are launched at once (FFTS+)."""
        return bool(self.attributes) and mark("one-launch") in self.attributes

    def is_marked(self, role: str) -> bool:
        """Whether the attribute of a role is true."""
        return bool(self.attributes) and self.attributes.get(mark(role)) is True


class Graph:
    """The root graph and all its sub-graphs, checked.

    ``graphs``: nodes of each, the root first. ``parent_dynamic``: of a sub-graph that is compiled
    alone whether its root has unknown shapes, ``None`` for a root.
    """

    def __init__(
        self,
        graphs: Sequence[Sequence[Node]],
        *,
        name: str = "",
        names_of_subgraphs: Sequence[str] = (),
        dynamic: bool = False,
        need_iteration: bool = False,
        parent_dynamic: bool | None = None,
    ) -> None:
        """Raises :class:`UnusableGraph` for what no graph can be: see :meth:`_check`."""
        self.graphs = graphs
        self.name = name
        self.names_of_subgraphs = names_of_subgraphs
        self.dynamic = dynamic
        self.need_iteration = need_iteration
        self.parent_dynamic = parent_dynamic
        self.nodes = self._numbered()
        self.owners = self._owners()
        self._check_edges()
        self.followers = self._followers()
        self._check_order()

    @cached_property
    def ordered(self) -> Sequence[Node]:
        """The nodes of all graphs by their ids."""
        return [self.nodes[number] for number in sorted(self.nodes)]

    def consumers(self, number: int) -> Iterator[tuple[Node, int]]:
        """What takes the first output of a node, and by which input."""
        for follower in dict.fromkeys(self.followers.get(number, ())):
            node = self.nodes[follower]
            for place, edge in enumerate(node.inputs):
                if edge == (number, 0):
                    yield node, place

    @cached_property
    def inputs_of_subgraphs(self) -> Mapping[tuple[int, int], Sequence[Node]]:
        """By number of a sub-graph and of an input of the node around it, what stands for it."""
        kinds = names("sub-graph-input", "observed")
        found: dict[tuple[int, int], list[Node]] = {}
        for number, nodes in enumerate(self.graphs[1:], 1):
            for node in nodes:
                if node.type in kinds and node.parent_input >= 0:
                    found.setdefault((number, node.parent_input), []).append(node)
        return found

    @cached_property
    def output_of(self) -> Mapping[int, Node]:
        """The node with the outputs of each sub-graph that has one, the first of several."""
        outputs = names("output", "observed")
        found: dict[int, Node] = {}
        for number, nodes in enumerate(self.graphs[1:], 1):
            for node in nodes:
                if node.type in outputs:
                    found.setdefault(number, node)
        return found

    @cached_property
    def with_global_step(self) -> frozenset[int]:
        """Numbers of the sub-graphs that have the number of the step."""
        steps = names("global-step", "observed")
        return frozenset(
            node.graph for nodes in self.graphs[1:] for node in nodes if node.name in steps
        )

    def is_in_root(self, node: Node) -> bool:
        """Whether no node runs the graph of a node."""
        return node.graph == 0 and self.parent_dynamic is None

    def below(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """All nodes of the sub-graphs of some nodes at any depth, each once."""
        waiting = [number for node in nodes for number in node.subgraphs]
        seen = set(waiting)
        while waiting:
            for inner in self.graphs[waiting.pop()]:
                yield inner
                further = [one for one in inner.subgraphs if one not in seen]
                waiting += further
                seen.update(further)

    def of_id(self, number: int) -> Node:
        """The node of a number that is known to be there."""
        return self.nodes[number]

    def shown(self, number: int) -> str:
        """What messages call one of the graphs."""
        return f"the sub-graph {self.names_of_subgraphs[number - 1]!r}" if number else "the graph"

    def _numbered(self) -> dict[int, Node]:
        found: dict[int, Node] = {}
        for nodes in self.graphs:
            for node in nodes:
                other = found.setdefault(node.id, node)
                if other is not node:
                    raise UnusableGraph(
                        f"{_named(other)} and {_named(node)} have one id; expected one for each"
                    )
        return found

    def _owners(self) -> Mapping[int, Node]:
        """The node that runs each sub-graph."""
        found: dict[int, Node] = {}
        for node in self.nodes.values():
            for number in node.subgraphs:
                if number in found:
                    raise UnusableGraph(
                        f"{self.shown(number)} is bound by {_named(found[number])} and "
                        f"{_named(node)}; expected to be bound once"
                    )
                found[number] = node
        for number in range(1, len(self.graphs)):
            if number not in found:
                raise UnusableGraph(
                    f"{self.shown(number)} is bound by no node; expected to be bound once"
                )
        reached, waiting = {0}, [0]
        while waiting:
            for node in self.graphs[waiting.pop()]:
                reached.update(node.subgraphs)
                waiting.extend(node.subgraphs)
        for number in range(1, len(self.graphs)):
            if number not in reached:
                raise UnusableGraph(
                    f"{self.shown(number)} is bound within itself, by {_named(found[number])}; "
                    "expected to be bound by a node that the graph leads to"
                )
        return found

    def _check_edges(self) -> None:
        for node in self.nodes.values():
            for place, edge in enumerate(node.inputs):
                if edge is not None:
                    self._check_edge(node, edge[0], f"input {place}")
            for number in node.control:
                self._check_edge(node, number, "control")

    def _check_edge(self, node: Node, number: int, what: str) -> None:
        source = self.nodes.get(number)
        if source is None:
            raise UnusableGraph(
                f"{_named(node)}: {what} comes from {number}, which no node has; "
                f"expected the id of a node of {self.shown(node.graph)}"
            )
        if source.graph != node.graph:
            raise UnusableGraph(
                f"{_named(node)}: {what} comes from {_named(source)} of "
                f"{self.shown(source.graph)}; expected a node of {self.shown(node.graph)}"
            )

    def _followers(self) -> Mapping[int, Sequence[int]]:
        """The nodes that wait for each node, as often as edges lead there."""
        found: dict[int, list[int]] = {}
        for node in self.nodes.values():
            for number in sources(node):
                found.setdefault(number, []).append(node.id)
        return found

    def _check_order(self) -> None:
        """Raise for a cycle: nodes are taken away that wait for none, until none is left."""
        waits = {
            node.id: sum(edge is not None for edge in node.inputs) + len(node.control)
            for node in self.nodes.values()
        }
        ready = [number for number, count in waits.items() if not count]
        while ready:
            for number in self.followers.get(ready.pop(), ()):
                waits[number] -= 1
                if not waits[number]:
                    ready.append(number)
        left = {number for number, count in waits.items() if count}
        if left:
            raise UnusableGraph(
                f"{_named(self.nodes[_on_cycle(self, left)])} waits for itself; "
                "expected edges without a cycle"
            )


def sources(node: Node) -> Iterable[int]:
    """The nodes that end before a node begins, as often as edges come from them."""
    yield from (edge[0] for edge in node.inputs if edge is not None)
    yield from node.control


def _on_cycle(graph: Graph, left: set[int]) -> int:
    """A node of a cycle, found from the first of those that are left by going back."""
    at = min(left)
    seen: set[int] = set()
    while at not in seen:
        seen.add(at)
        at = min(number for number in sources(graph.nodes[at]) if number in left)
    return at


def _named(node: Node) -> str:
    name = node.name if len(node.name) <= 60 else f"{node.name[:60]}…"
    return f"node {node.id} ({name})"
