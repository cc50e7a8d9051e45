"""Dumps of graphs by the graph engine: ``ge_proto_*.txt`` as text, and the same packed.

A dump does not state whether the graph needs iterations: it does where its root has a node that
ends a loop of them. Nodes of a dump from before the graph was sorted all have one id, and are
numbered in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ascend_spec import ge_catalog, per_spec
from ascend_spec.ge import GraphMessage

from .document import graph_of_rows
from .extra import needed
from .graph import Graph, UnusableGraph
from .names import mark, names

_WHAT = "A dump of the graph engine"
_PACKAGE = "ge.proto"
CONTROL = -1
"""The number of an output that is an edge of control."""


def graph_of_text_dump(content: bytes) -> Graph:
    """The graph of a dump as text. Raises :class:`UnusableGraph`."""
    text_format = needed("google.protobuf.text_format", _WHAT)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise UnusableGraph(f"byte {problem.start} is not UTF-8; expected a text dump") from None
    model = _model()()
    try:
        text_format.Parse(text, model, allow_unknown_field=True)
    except RecursionError:
        raise UnusableGraph("nested too deep; expected a text dump of a ModelDef") from None
    except (text_format.ParseError, ValueError) as problem:
        raise UnusableGraph(f"line {problem}; expected a text dump of a ModelDef") from None
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
    numbers = {op.id for graph in model.graph for op in graph.op}
    count = sum(len(graph.op) for graph in model.graph)
    turns = iter(range(count)) if len(numbers) == 1 and count > 1 else None
    graphs = [_rows(graph, turns) for graph in model.graph]
    loops = names("loop-end", "observed")
    dynamic = mark("dynamic") in root.attr and root.attr[mark("dynamic")].b
    return graph_of_rows(
        graphs[0],
        [(graph.name, rows) for graph, rows in zip(model.graph[1:], graphs[1:], strict=True)],
        name=root.name or model.name,
        dynamic=dynamic,
        need_iteration=any(op.name in loops for op in root.op),
    )


def _rows(graph: Any, turns: Iterable[int] | None) -> list[dict[str, Any]]:
    """The nodes of a graph in the published form."""
    ids: dict[str, int] = {}
    given = iter(turns) if turns is not None else None
    for op in graph.op:
        if op.name in ids:
            raise UnusableGraph(
                f"graph {graph.name[:60]!r}: two nodes are called {op.name[:60]!r}; "
                "expected one of each name"
            )
        ids[op.name] = op.id if given is None else next(given)
    return [_row(op, ids) for op in graph.op]


def _row(op: Any, ids: Mapping[str, int]) -> dict[str, Any]:
    inputs: list[tuple[int, int] | None] = []
    control: list[int] = []
    for text in op.input:
        name, _, output = text.rpartition(":")
        if not text:
            inputs.append(None)
        elif name not in ids or not output.removeprefix("-").isdecimal():
            raise UnusableGraph(
                f"node {ids[op.name]} ({op.name[:60]}): input {text[:60]!r} is of no node; "
                "expected the name of a node of the same graph, a colon and an output"
            )
        elif int(output) == CONTROL:
            control.append(ids[name])
        else:
            inputs.append((ids[name], int(output)))
    row: dict[str, Any] = {
        "id": ids[op.name],
        "name": op.name,
        "type": op.type,
        "kernel_lib": _text(op, "kernel-library"),
        "stream": op.stream_id,
        "original_type": _text(op, "original-type"),
        "inputs": [None if one is None else list(one) for one in inputs],
        "control": control,
        "subgraphs": [name for name in op.subgraph_name if name],
        "attributes": _attributes(op),
    }
    if mark("original-names") in op.attr:
        found = op.attr[mark("original-names")].list.s
        row["origin_op_names"] = [one.decode("utf-8", "replace") for one in found]
    if mark("parent-input") in op.attr:
        row["parent_input"] = op.attr[mark("parent-input")].i
    return row


def _text(op: Any, role: str) -> str:
    name = mark(role)
    return op.attr[name].s.decode("utf-8", "replace") if name in op.attr else ""


def _attributes(op: Any) -> dict[str, Any]:
    roles = ("no-task", "forward-mark", "backward-mark", "end-mark")
    found: dict[str, Any] = {
        mark(role): op.attr[mark(role)].b for role in roles if mark(role) in op.attr
    }
    if mark("number-mark") in op.attr:
        found[mark("number-mark")] = op.attr[mark("number-mark")].i
    if mark("one-launch") in op.attr:
        found[mark("one-launch")] = op.attr[mark("one-launch")].s.decode("utf-8", "replace")
    return found
