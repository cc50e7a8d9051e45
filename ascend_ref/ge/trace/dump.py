"""Dumps of graphs by the graph engine: ``ge_proto_*.txt`` as text, and the same packed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ascend_spec import ge_catalog, per_spec
from ascend_spec.ge import GraphMessage

from .dumped import DumpedGraph, DumpedNode, Kind, Value, graph_of_dump, known_in
from .extra import needed, parse_text
from .graph import Graph, UnusableGraph
from .names import mark
from .onnx_dump import IN_FORM_OF_ONNX, graph_of_onnx_dump

_WHAT = "A dump of the graph engine"
_PACKAGE = "ge.proto"


def graph_of_text_dump(content: bytes) -> Graph:
    """The graph of a dump as text. Raises :class:`UnusableGraph`."""
    if IN_FORM_OF_ONNX.search(content):
        return graph_of_onnx_dump(content)
    model = _model()()
    parse_text(content, model, _WHAT, "a text dump of a ModelDef")
    return _graph(model)


def graph_of_packed_dump(content: bytes) -> Graph:
    """The graph of a packed ModelDef. Raises :class:`UnusableGraph`."""
    message = needed("google.protobuf.message", _WHAT)
    model = _model()()
    try:
        model.ParseFromString(content)
    except message.DecodeError:
        raise UnusableGraph("no packed ModelDef; expected one") from None
    return _graph(model)


@per_spec
def _model() -> Any:
    """The class of the outermost message, made of the fields that the spec lists."""
    pool = needed("google.protobuf.descriptor_pool", _WHAT).DescriptorPool()
    proto = needed("google.protobuf.descriptor_pb2", _WHAT)
    file = proto.FileDescriptorProto(name="ge_ir_fields.proto", package=_PACKAGE, syntax="proto3")
    messages = ge_catalog().messages
    made: dict[str, Any] = {}
    for message in messages.values():
        around = made[message.within].nested_type if message.within else file.message_type
        made[message.message] = around.add(name=message.message)
    for message in messages.values():
        _add_fields(made[message.message], message, messages)
    pool.Add(file)
    factory = needed("google.protobuf.message_factory", _WHAT)
    return factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.ModelDef"))


def _add_fields(made: Any, message: GraphMessage, messages: Mapping[str, GraphMessage]) -> None:
    field = needed("google.protobuf.descriptor_pb2", _WHAT).FieldDescriptorProto
    for one in message.fields:
        added = made.field.add(name=one.name, number=one.number)
        added.label = field.LABEL_REPEATED if one.repeated or one.map else field.LABEL_OPTIONAL
        if one.map:
            words = "".join(part.capitalize() for part in one.name.split("_"))
            entry = made.nested_type.add(name=f"{words}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, type=field.TYPE_STRING, label=1)
            entry.field.add(
                name="value",
                number=2,
                type=field.TYPE_MESSAGE,
                type_name=_path(one.type, messages),
                label=1,
            )
            added.type = field.TYPE_MESSAGE
            added.type_name = f"{_path(message.message, messages)}.{entry.name}"
        elif one.type in messages:
            added.type = field.TYPE_MESSAGE
            added.type_name = _path(one.type, messages)
        else:
            added.type = getattr(field, f"TYPE_{one.type.upper()}")


def _path(name: str, messages: Mapping[str, GraphMessage]) -> str:
    within = messages[name].within
    return f"{_path(within, messages)}.{name}" if within else f".{_PACKAGE}.{name}"


def _graph(model: Any) -> Graph:
    if not len(model.graph):
        raise UnusableGraph("there is no graph in it; expected a ModelDef with a graph")
    root = model.graph[0]
    dynamic = mark("dynamic") in root.attr and root.attr[mark("dynamic")].b
    graphs = [DumpedGraph(graph.name, [_node(op) for op in graph.op]) for graph in model.graph]
    return graph_of_dump(graphs, name=root.name or model.name, dynamic=dynamic)


def _node(op: Any) -> DumpedNode:
    values = {role: _VALUES[kind](op.attr[mark(role)]) for role, kind in known_in(op.attr)}
    return DumpedNode(op.name, op.type, op.id, op.stream_id, op.input, op.subgraph_name, values)


_VALUES: Mapping[Kind, Callable[[Any], Value]] = {
    "text": lambda one: one.s.decode("utf-8", "replace"),
    "texts": lambda one: [text.decode("utf-8", "replace") for text in one.list.s],
    "number": lambda one: one.i,
    "flag": lambda one: one.b,
}
"""The value of an attribute, an AttrDef."""
