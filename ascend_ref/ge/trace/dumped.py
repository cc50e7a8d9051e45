"""Graphs as dumps of the graph engine have them, whatever their form.

A dump does not state whether the graph needs iterations: it does where its root has a node that
ends a loop of them. Nodes of a dump from before the graph was sorted all have one id, and are
numbered in their order.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from .document import graph_of_rows
from .graph import Graph, UnusableGraph
from .names import mark, names

CONTROL = -1
"""The number of an output that is an edge of control."""

Kind = Literal["text", "texts", "number", "flag"]
Value: TypeAlias = "str | list[str] | int | bool"

_KINDS: Mapping[str, Kind] = {
    "kernel-library": "text",
    "original-type": "text",
    "original-names": "texts",
    "parent-input": "number",
    "no-task": "flag",
    "forward-mark": "flag",
    "backward-mark": "flag",
    "end-mark": "flag",
    "number-mark": "number",
    "one-launch": "text",
}
"""Attributes of nodes that are looked at, by their roles."""

_MARKS = ("no-task", "forward-mark", "backward-mark", "end-mark", "number-mark", "one-launch")
"""Those that are attributes in the published form as well."""


class DumpedNode(NamedTuple):
    """A node. ``inputs``: ``name:output`` each, empty for none; ``values``: by role."""

    name: str
    type: str
    id: int
    stream: int
    inputs: Sequence[str]
    subgraphs: Sequence[str]
    values: Mapping[str, Value]


class DumpedGraph(NamedTuple):
    """A graph and its nodes."""

    name: str
    nodes: Sequence[DumpedNode]


def known_in(attributes: Container[str]) -> Iterator[tuple[str, Kind]]:
    """Roles of the attributes that are looked at and are there, with the kinds of their values."""
    return ((role, kind) for role, kind in _KINDS.items() if mark(role) in attributes)


def graph_of_dump(graphs: Sequence[DumpedGraph], *, name: str, dynamic: bool) -> Graph:
    """The graph of a dump, the root first. Raises :class:`UnusableGraph`."""
    nodes = [one for graph in graphs for one in graph.nodes]
    if len(nodes) > 1 and len({one.id for one in nodes}) == 1:
        turns = iter(range(len(nodes)))
        graphs = [
            DumpedGraph(graph.name, [one._replace(id=next(turns)) for one in graph.nodes])
            for graph in graphs
        ]
    root, *others = graphs
    loops = names("loop-end", "observed")
    return graph_of_rows(
        _rows(root),
        [(graph.name, _rows(graph)) for graph in others],
        name=name,
        dynamic=dynamic,
        need_iteration=any(one.name in loops for one in root.nodes),
    )


def _rows(graph: DumpedGraph) -> list[dict[str, Any]]:
    """The nodes of a graph in the published form."""
    ids: dict[str, int] = {}
    for one in graph.nodes:
        if one.name in ids:
            raise UnusableGraph(
                f"graph {graph.name[:60]!r}: two nodes are called {one.name[:60]!r}; "
                "expected one of each name"
            )
        ids[one.name] = one.id
    return [_row(one, ids) for one in graph.nodes]


def _row(node: DumpedNode, ids: Mapping[str, int]) -> dict[str, Any]:
    inputs: list[list[int] | None] = []
    control: list[int] = []
    for text in node.inputs:
        name, _, output = text.rpartition(":")
        if not text:
            inputs.append(None)
        elif name not in ids or not output.removeprefix("-").isdecimal():
            raise UnusableGraph(
                f"node {node.id} ({node.name[:60]}): input {text[:60]!r} is of no node; "
                "expected the name of a node of the same graph, a colon and an output"
            )
        elif int(output) == CONTROL:
            control.append(ids[name])
        else:
            inputs.append([ids[name], int(output)])
    values = node.values
    row: dict[str, Any] = {
        "id": node.id,
        "name": node.name,
        "type": node.type,
        "kernel_lib": values.get("kernel-library", ""),
        "stream": node.stream,
        "original_type": values.get("original-type", ""),
        "inputs": inputs,
        "control": control,
        "subgraphs": [name for name in node.subgraphs if name],
        "attributes": {mark(role): values[role] for role in _MARKS if role in values},
    }
    for role, key in (("original-names", "origin_op_names"), ("parent-input", "parent_input")):
        if role in values:
            row[key] = values[role]
    return row
