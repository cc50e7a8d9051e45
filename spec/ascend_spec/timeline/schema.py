"""Events as JSON Schema 2020-12: of one layer, or of a file that holds one layer alone.

Order of keys cannot be said in JSON Schema; it stands in the annotation ``x-keys``. Nodes keep
``unit`` and ``erratum``, those of args their grade as ``x-grade``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ascend_spec.core.dialect import DIALECT, Node
from ascend_spec.core.names import NameForm
from ascend_spec.documents import DocumentCatalog

from .catalog import TimelineCatalog
from .model import Arg, EventKind, FlowEnd, FlowKind, Layer, MetadataEvent, Phase

STEP_TRACE = "step_trace_json"
INSTANT = r"^[0-9]{1,16}\.[0-9]{3}$"
BARE_INSTANT = r"^[0-9]{1,16}(\.[0-9]{3})?$"
DIGITS = "^-?[0-9]+$"


def event_schema(facts: TimelineCatalog, name: str, writer: str, file: str | None = None) -> Node:
    """JSON Schema 2020-12 of an event of a layer, by its name, in the file of a writer.

    Raises ``KeyError`` naming the known ones for an unknown layer, or for a writer without it.
    """
    if name not in facts.layers:
        raise KeyError(f"unknown layer {name!r}; known: {', '.join(facts.layers)}")
    layer = facts.layers[name]
    if layer not in facts.layers_of(writer):
        raise KeyError(f"{writer!r} has no layer {name}")
    variants: list[Node] = []
    for engine in facts.engines(writer, layer):
        for variant in _events(facts, layer, engine, writer, file):
            if variant not in variants:
                variants.append(variant)
    return {
        "$schema": DIALECT,
        "$id": f"urn:ascend-ref:event:{layer.slug}:{writer}",
        "title": layer.name,
        "description": layer.summary,
        "anyOf": variants,
    }


def document_schema(
    facts: TimelineCatalog, documents: DocumentCatalog, name: str, writer: str
) -> Node:
    """JSON Schema 2020-12 of a JSON document as a writer writes it: communication,
    communication_matrix, profiler_info, profiler_metadata or step_trace_json.

    Raises ``KeyError`` naming the known ones for an unknown document, or for a writer that does not
    write it.
    """
    if name != STEP_TRACE:
        return documents.schema_of(name, writer)
    known = facts.files[STEP_TRACE].writers
    if writer not in known:
        raise KeyError(f"{writer!r} does not write {name}; those who do: {', '.join(known)}")
    event = event_schema(facts, "Step Trace", writer, STEP_TRACE)
    return {
        "$schema": event.pop("$schema"),
        "$id": f"urn:ascend-ref:{name}:{writer}",
        "title": facts.files[STEP_TRACE].name.template,
        "description": facts.files[STEP_TRACE].summary,
        "type": "array",
        "items": {key: value for key, value in event.items() if key not in ("$id", "title")},
    }


def _events(
    facts: TimelineCatalog, layer: Layer, engine: str, writer: str, file: str | None
) -> Iterator[Node]:
    for event in facts.metadata.values():
        yield _metadata(facts, layer, event, engine)
    for kind in facts.events(layer, engine, file):
        yield _kind(facts, layer, kind, engine)
    for flow in facts.flows_of(writer):
        yield from _points(facts, layer, flow, engine, writer)


def _metadata(facts: TimelineCatalog, layer: Layer, event: MetadataEvent, engine: str) -> Node:
    args = _object({event.arg: {"type": _types(event.json)}}, [event.arg])
    return _event(
        facts, layer, "M", engine, event.summary, {"name": {"const": event.name}, "args": args}
    )


def _kind(facts: TimelineCatalog, layer: Layer, kind: EventKind, engine: str) -> Node:
    properties: Node = {"name": _named(kind.name)}
    if kind.cat is not None:
        properties["cat"] = {"const": kind.cat}
    if engine in kind.bare_ts:
        properties["ts"] = {"type": "string", "pattern": BARE_INSTANT}
    if kind.id is not None:
        properties["id"] = _named(kind.id)
    args = kind.args_of(engine)
    if args or facts.form(engine).parts[layer.part].empty_args:
        properties["args"] = _args(args)
    schema = _event(
        facts, layer, kind.phase, engine, kind.summary, properties, kind.keys.get(engine, ())
    )
    return {**schema, "erratum": kind.errata[0]} if kind.errata else schema


def _points(
    facts: TimelineCatalog, layer: Layer, flow: FlowKind, engine: str, writer: str
) -> Iterator[Node]:
    """The points of a flow on a layer; the framework's arrows end on layers of msprof, too."""
    made = {one: flow_id for one in (engine, writer) if (flow_id := flow.id_of(one)) is not None}
    if not made:
        return
    maker, flow_id = next(iter(made.items()))
    points: tuple[tuple[Phase, FlowEnd], ...] = (("s", flow.start), ("f", flow.end))
    for phase, point in points:
        if layer.name not in point.at:
            continue
        is_number = flow_id.json == "integer"
        number = {"type": "integer"} if is_number else {"type": "string", "pattern": DIGITS}
        properties: Node = {"name": _named(flow.name), "cat": {"const": flow.cat}, "id": number}
        if maker in point.bp:
            properties["bp"] = {"const": "e"}
        keys = point.keys.get(maker, facts.form(maker).parts[flow.part].keys[phase])
        yield _event(facts, layer, phase, maker, flow.summary, properties, keys)


def _event(
    facts: TimelineCatalog,
    layer: Layer,
    phase: Phase,
    engine: str,
    summary: str,
    properties: Node,
    order: tuple[str, ...] = (),
) -> Node:
    form = facts.form(engine)
    keys = order or form.parts[layer.part].keys.get(phase, ())
    own: Node = {**properties, "ph": {"const": phase}}
    for key, fact in facts.keys.items():
        if phase in fact.required and key not in own:
            own[key] = {"type": _types(form.types[key])}
            if key == "ts" and form.types["ts"] == ("string",):
                own[key]["pattern"] = INSTANT
            if key == "dur":
                own[key]["minimum"] = 0
            if fact.unit:
                own[key]["unit"] = fact.unit
    ordered = [key for key in keys if key in own]
    return {
        **_object(
            {key: own[key] for key in [*ordered, *sorted(own.keys() - set(ordered))]}, sorted(own)
        ),
        "description": summary,
        "x-keys": ordered,
    }


def _args(args: tuple[Arg, ...]) -> Node:
    schema = _object(
        {arg.name.template: _value(arg) for arg in args if arg.name.is_fixed},
        [arg.name.template for arg in args if arg.required and arg.name.is_fixed],
    )
    changing = {arg.name.pattern: _value(arg) for arg in args if not arg.name.is_fixed}
    if changing:
        schema["patternProperties"] = changing
        schema["minProperties"] = sum(arg.required for arg in args)
    return schema


def _value(arg: Arg) -> Node:
    value: Node = {"type": _types(arg.json)}
    if arg.values:
        value = {"enum": list(arg.values)}
    for key in ("minimum", "maximum", "pattern"):
        if getattr(arg, key) is not None:
            value[key] = getattr(arg, key)
    if arg.none:
        value = {"anyOf": [value, {"enum": list(arg.none)}]}
    value["x-grade"] = arg.grade
    if arg.unit:
        value["unit"] = arg.unit
    if arg.errata:
        value["erratum"] = arg.errata[0]
    return {**value, "description": arg.summary}


def _object(properties: Node, required: list[str]) -> Node:
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _named(name: NameForm) -> Node:
    return (
        {"const": name.template} if name.is_fixed else {"type": "string", "pattern": name.pattern}
    )


def _types(types: tuple[str, ...]) -> str | list[str]:
    return types[0] if len(types) == 1 else list(types)
