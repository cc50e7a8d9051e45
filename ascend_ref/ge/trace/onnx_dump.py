"""Dumps of graphs by the graph engine in the form of ONNX: ``ge_onnx_*.pbtxt``.

Facts: upstream-ge ge_ir_utils.cc. A type has a prefix, and the id and stream of a node are among
its attributes. Texts among these, the kernel library too, are in full dumps alone: where no node
has one, each has tasks. Which node runs a sub-graph is not stated, so that a graph with sub-graphs
cannot be read from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .dumped import DumpedGraph, DumpedNode, Kind, Value, graph_of_dump, known_in
from .extra import needed, parse_text
from .graph import Graph, UnusableGraph
from .names import mark

IN_FORM_OF_ONNX = re.compile(rb"^ir_version\s*:", re.MULTILINE)
"""What a text of this form has and a ModelDef has not, where fields of the outermost message begin
at the first column.
"""
_WHAT = "A dump of the graph engine in the form of ONNX"
_PREFIX = "ge:"
_ID, _STREAM, _DYNAMIC = "id", "stream_id", "OwnerGraphIsUnknown"
_SUBGRAPH = "subgraph"
"""The type of what holds a sub-graph in place of a node."""
_LIBRARY = "unknown"
"""The kernel library of every node where the dump has none."""


def graph_of_onnx_dump(content: bytes) -> Graph:
    """The graph of such a text. Raises :class:`UnusableGraph`."""
    model = needed("onnx", _WHAT).ModelProto()
    parse_text(content, model, _WHAT, "a text dump of a ModelProto")
    nodes, dynamic = [], False
    for one in model.graph.node:
        if one.op_type == _SUBGRAPH:
            raise UnusableGraph(
                f"which node runs the sub-graph {one.name[:60]!r} is not stated in this form; "
                "expected the dump ge_proto_*.txt of the same graph"
            )
        attributes = {attribute.name: attribute for attribute in one.attribute}
        dynamic = dynamic or bool(_number(attributes, _DYNAMIC))
        nodes.append(_node(one, attributes))
    if not nodes:
        raise UnusableGraph("there is no node in it; expected a ModelProto with a graph")
    if not any("kernel-library" in one.values for one in nodes):
        nodes = [one._replace(values={**one.values, "kernel-library": _LIBRARY}) for one in nodes]
    name = model.graph.name or model.producer_name
    return graph_of_dump([DumpedGraph(name, nodes)], name=name, dynamic=dynamic)


def _node(one: Any, attributes: Mapping[str, Any]) -> DumpedNode:
    values = {role: _VALUES[kind](attributes[mark(role)]) for role, kind in known_in(attributes)}
    kind = one.op_type.removeprefix(_PREFIX)
    number, stream = _number(attributes, _ID), _number(attributes, _STREAM)
    return DumpedNode(one.name, kind, number, stream, one.input, (), values)


def _number(attributes: Mapping[str, Any], name: str) -> int:
    return int(attributes[name].i) if name in attributes else 0


_VALUES: Mapping[Kind, Callable[[Any], Value]] = {
    "text": lambda one: one.s.decode("utf-8", "replace"),
    "texts": lambda one: [text.decode("utf-8", "replace") for text in one.strings],
    "number": lambda one: one.i,
    "flag": lambda one: bool(one.i),
}
"""The value of an attribute, an AttributeProto."""
