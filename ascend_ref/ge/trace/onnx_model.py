"""Models of ONNX as graphs of the graph engine.

Inputs become Data, outputs a NetOutput; each node has tasks on stream 0. What a sub-graph takes
from outside becomes a further input of the node around it. Weights are no nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from .document import graph_of_rows
from .extra import needed
from .graph import Graph, UnusableGraph
from .names import names

_WHAT = "A model of ONNX"
_LIBRARY = "onnx"
"""The kernel library of every node: all of them have tasks."""
_INPUT = "Data"
_MOST_DEPTH = 64


def graph_of_onnx(content: bytes) -> Graph:
    """The graph of a packed model. Raises :class:`UnusableGraph`."""
    onnx = needed("onnx", _WHAT)
    message = needed("google.protobuf.message", _WHAT)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except message.DecodeError:
        raise UnusableGraph("no model of ONNX; expected a packed ModelProto") from None
    if not model.HasField("graph"):
        raise UnusableGraph("there is no graph in it; expected a model of ONNX with a graph")
    made = _Converter()
    rows, _ = made.convert(model.graph, "", None, 0)
    return graph_of_rows(rows, made.subgraphs, name=model.graph.name)


class _Scope:
    """The tensors of a graph by name: the node and the output, ``None`` for weights."""

    def __init__(self, around: _Scope | None) -> None:
        self.around = around
        self.known: dict[str, tuple[int, int] | None] = {}

    def reaches(self, tensor: str) -> bool:
        """Whether the graph or one around it has a tensor."""
        at: _Scope | None = self
        while at is not None and tensor not in at.known:
            at = at.around
        return at is not None


class _Converter:
    """Numbers of nodes, and the sub-graphs that were met."""

    def __init__(self) -> None:
        self.ids = count()
        self.subgraphs: list[tuple[str, list[dict[str, Any]]]] = []

    def convert(
        self, graph: Any, name: str, around: _Scope | None, depth: int
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """The rows of a graph, and what it takes from outside beyond its inputs."""
        if depth > _MOST_DEPTH:
            raise UnusableGraph(f"sub-graphs are nested deeper than {_MOST_DEPTH}; expected fewer")
        scope = _Scope(around)
        scope.known.update(dict.fromkeys((one.name for one in graph.initializer), None))
        scope.known.update(
            dict.fromkeys((one.values.name for one in graph.sparse_initializer), None)
        )
        rows: list[dict[str, Any]] = []
        formal = [one.name for one in graph.input if one.name not in scope.known or name]
        for place, tensor in enumerate(formal):
            rows.append(self._input(tensor, place, scope, inner=bool(name)))
        taken: list[str] = []

        def edge(tensor: str, of: str) -> list[int] | None:
            if not tensor:
                return None
            if tensor not in scope.known:
                if around is None or not around.reaches(tensor):
                    raise UnusableGraph(
                        f"{of}: {tensor[:60]!r} is computed by no node; "
                        "expected the output of a node before it"
                    )
                rows.append(self._input(tensor, len(formal) + len(taken), scope, inner=True))
                taken.append(tensor)
            found = scope.known[tensor]
            return None if found is None else list(found)

        # A node may add rows of inputs before its own.
        for one in graph.node:
            row = self._node(one, scope, edge, depth)
            rows.append(row)
        (output,) = names("output", "observed")
        outputs = [edge(one.name, f"output of {graph.name[:60]!r}") for one in graph.output]
        ends = "Node_Output" if not name else f"{name}/{output}"
        rows.append(_row(next(self.ids), ends, output, outputs))
        return rows, taken

    def _input(self, tensor: str, place: int, scope: _Scope, *, inner: bool) -> dict[str, Any]:
        row = _row(next(self.ids), tensor, _INPUT, [])
        scope.known[tensor] = (row["id"], 0)
        return {**row, "parent_input": place} if inner else row

    def _node(self, one: Any, scope: _Scope, edge: Any, depth: int) -> dict[str, Any]:
        number = next(self.ids)
        name = one.name or f"{one.op_type}_{number}"
        inputs = [edge(tensor, f"node {number} ({name[:60]})") for tensor in one.input]
        bound = []
        for place, (what, graph) in enumerate(_graphs(one)):
            sub = f"{name}_{number}/{what}_{place}"
            rows, taken = self.convert(graph, sub, scope, depth + 1)
            formal = sum(row["type"] == _INPUT for row in rows) - len(taken)
            # Inputs from outside stand behind those of the node and of the sub-graph itself.
            shift = max(len(inputs) - formal, 0)
            for row in rows:
                if row.get("parent_input", -1) >= formal:
                    row["parent_input"] += shift
            inputs += [None] * (formal - len(inputs))
            inputs += [edge(tensor, f"node {number} ({name[:60]})") for tensor in taken]
            self.subgraphs.append((sub, rows))
            bound.append(sub)
        for place, tensor in enumerate(one.output):
            if tensor:
                scope.known[tensor] = (number, place)
        row = _row(number, name, one.op_type, inputs)
        return {**row, "original_type": one.op_type, "subgraphs": bound}


def _graphs(node: Any) -> Iterator[tuple[str, Any]]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g
        for graph in attribute.graphs:
            yield attribute.name, graph


def _row(number: int, name: str, kind: str, inputs: list[Any]) -> dict[str, Any]:
    return {"id": number, "name": name, "type": kind, "kernel_lib": _LIBRARY, "inputs": inputs}
