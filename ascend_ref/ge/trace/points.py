"""Where the passes, iterations, reductions and readings of a graph are (ge-profiling 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ascend_spec import per_spec
from ascend_spec.db.model import Reading

from .graph import Graph, Node
from .names import names

NOT_FOUND = 0
"""The number of a node that stands for none, as observed (erratum G88)."""


@dataclass(slots=True)
class Points:
    """Ids of nodes. forward, backward: as observed :data:`NOT_FOUND`, else ``None`` for none.

    reductions, readings: in order, by which they are numbered.
    """

    forward: int | None = None
    backward: int | None = None
    ends: set[int] = field(default_factory=set)
    reductions: list[int] = field(default_factory=list)
    readings: list[int] = field(default_factory=list)


def is_reading(node: Node) -> bool:
    """Whether a node takes a batch of data."""
    kinds = names("reading", "observed")
    return node.type in kinds or node.original_type in kinds


def is_reduction(node: Node) -> bool:
    """Whether a node is an AllReduce."""
    return node.type in names("reduction", "observed")


def is_named(node: Node, name: str) -> bool:
    """Whether a node has a name, or was made of one that had it."""
    return node.name == name or name in node.origin_names


def candidates(graph: Graph, reading: Reading) -> Sequence[Node]:
    """The nodes that points are looked for among, by id (errata G80 and G90)."""
    if reading == "documented":
        return graph.ordered
    found = [
        node
        for node in graph.ordered
        if node.kernel_lib and (not node.attributes or node.has_tasks)
    ]
    whole = [node for node in graph.ordered if node.is_launched_as_a_whole]
    within = {inner.id for inner in graph.below(whole)}
    return [node for node in found if node.id not in within] if within else found


@per_spec
def _known() -> tuple[frozenset[str], frozenset[str]]:
    """Types and names that are a point in some reading, so that others are passed over."""
    kinds = [names(one, "observed") for one in ("forward", "reading", "reduction", "output")]
    called = [names(one, "observed") for one in ("loop-end", "named-end")]
    return frozenset().union(*kinds), frozenset().union(*called)


def notable(nodes: Sequence[Node]) -> Sequence[Node]:
    """The nodes that may be points by their type or name."""
    kinds, called = _known()
    return [
        node
        for node in nodes
        if node.type in kinds or node.original_type in kinds or node.name in called
    ]


def points_as_observed(graph: Graph, nodes: Sequence[Node], fp_point: str, bp_point: str) -> Points:
    """The points as the graph engine finds them."""
    found = Points(NOT_FOUND, NOT_FOUND)
    if graph.parent_dynamic:
        return found
    few = notable(nodes)
    found.readings = [node.id for node in few if is_reading(node)]
    if fp_point:
        named = (node.id for node in nodes if is_named(node, fp_point))
        found.forward = next(named, NOT_FOUND)
    else:
        found.forward = _first_consumer(graph, few)
    found.reductions = [node.id for node in few if is_reduction(node)]
    if graph.need_iteration:
        found.ends = _called(few, "loop-end")
    elif bp_point:
        found.ends = _called(few, "named-end")
    else:
        found.ends = {node.id for node in few if _is_root_output(graph, node)}
    if bp_point:
        for node in nodes:
            if is_named(node, bp_point):
                found.backward = node.id
    else:
        found.backward = _last_input(graph, few, found.reductions)
    return found


def points_as_documented(
    graph: Graph, nodes: Sequence[Node], fp_point: str, bp_point: str
) -> Points:
    """The points as the document has them (errata G7, G86 and G91)."""
    few = notable(nodes)
    begins = names("forward", "documented")
    reductions = [node.id for node in few if is_reduction(node)]
    outputs = [node.id for node in few if _is_root_output(graph, node)]
    if fp_point:
        forward = (node.id for node in nodes if is_named(node, fp_point))
    else:
        forward = (node.id for node in few if node.type in begins)
    if bp_point:
        last = [node.id for node in nodes if is_named(node, bp_point)]
    else:
        last = reductions or outputs
    return Points(
        forward=next(forward, None),
        backward=last[-1] if last else None,
        ends=_called(few, "loop-end") or set(outputs),
        reductions=reductions,
        readings=[node.id for node in few if is_reading(node)],
    )


def _called(nodes: Iterable[Node], role: str) -> set[int]:
    """The nodes whose name has a role."""
    known = names(role, "observed")
    return {node.id for node in nodes if node.name in known}


def _is_root_output(graph: Graph, node: Node) -> bool:
    return node.type in names("output", "observed") and graph.is_in_root(node)


def _first_consumer(graph: Graph, nodes: Iterable[Node]) -> int:
    """The lowest id of what takes the first input of the graph; through sub-graphs what takes it
    there.
    """
    begins = names("forward", "observed")
    begin = next((one for one in nodes if one.type in begins or one.original_type in begins), None)
    if begin is None:
        return NOT_FOUND
    best: list[int] = []
    for node, place in graph.consumers(begin.id):
        if node.has_tasks and node.subgraphs:
            best.extend(_within_subgraphs(graph, node, place))
        elif node.has_tasks:
            best.append(node.id)
    return min(best, default=NOT_FOUND)


def _within_subgraphs(graph: Graph, node: Node, place: int) -> Iterable[int]:
    """What takes an input of a node within its sub-graphs, and again in theirs."""
    waiting, seen = [node], {node.id}
    while waiting:
        around = waiting.pop()
        for number in around.subgraphs:
            for inner in graph.inputs_of_subgraphs.get((number, place), ()):
                for taking, _ in graph.consumers(inner.id):
                    if taking.has_tasks:
                        yield taking.id
                        if taking.subgraphs and taking.id not in seen:
                            seen.add(taking.id)
                            waiting.append(taking)


def _last_input(graph: Graph, nodes: Sequence[Node], reductions: Sequence[int]) -> int:
    """The highest id of what comes into the last AllReduce, or else into the first output of the
    root, on its stream.
    """
    outputs = (node.id for node in nodes if _is_root_output(graph, node))
    anchor = reductions[-1] if reductions else next(outputs, None)
    if anchor is None:
        return NOT_FOUND
    target = graph.of_id(anchor)
    best: list[int] = []
    for node in _inputs(graph, target):
        if node.subgraphs:
            best.extend(_ends_within(graph, node))
        elif node.stream == target.stream:
            best.append(node.id)
    return max(best, default=NOT_FOUND)


def _inputs(graph: Graph, node: Node) -> Iterable[Node]:
    """What comes in by data and control, has tasks and is no number of a step."""
    steps = names("global-step", "observed")
    numbers = dict.fromkeys(edge[0] for edge in node.inputs if edge is not None)
    for number in numbers | dict.fromkeys(node.control):
        source = graph.of_id(number)
        counts = source.name in steps or any(
            one in graph.with_global_step for one in source.subgraphs
        )
        if source.has_tasks and not counts:
            yield source


def _ends_within(graph: Graph, node: Node) -> Iterable[int]:
    """What comes into the outputs of the first sub-graph of a node, and again in theirs."""
    waiting, seen = [node], {node.id}
    while waiting:
        around = waiting.pop()
        output = next(
            (graph.output_of[one] for one in around.subgraphs if one in graph.output_of), None
        )
        for source in () if output is None else _inputs(graph, output):
            yield source.id
            if source.subgraphs and source.id not in seen:
                seen.add(source.id)
                waiting.append(source)
