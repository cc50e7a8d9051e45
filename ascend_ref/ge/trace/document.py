"""A graph as JSON of the published form, and the judgement of what is no graph."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ascend_ref.json_damage import find_damage, wide_text
from ascend_ref.json_keys import ObjectReader
from ascend_spec import ge_catalog, per_spec
from ascend_spec.ge import ge_schema

from .graph import Graph, Node, UnusableGraph
from .names import mark

_LONGEST = 60
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""The escape of a half of a character, which only its other half may follow."""


def graph_of_json(content: bytes) -> Graph:
    """The graph of a text of the published form. Raises :class:`UnusableGraph`."""
    return graph_of(_document(content))


def graph_of(document: Mapping[str, Any]) -> Graph:
    """The graph of a document that obeys the schema. Raises :class:`UnusableGraph`."""
    subgraphs = document.get("subgraphs", ())
    numbers: dict[str, int] = {}
    for number, one in enumerate(subgraphs, 1):
        if numbers.setdefault(one["name"], number) != number:
            raise UnusableGraph(
                f"subgraphs[{number - 1}].name: {_short(one['name'])} is that of another one; "
                "expected one for each"
            )
    parent = document.get("parent")
    return Graph(
        [
            [_node(one, numbers, graph) for one in nodes]
            for graph, nodes in enumerate([document["nodes"], *(one["nodes"] for one in subgraphs)])
        ],
        name=document.get("name", ""),
        names_of_subgraphs=list(numbers),
        dynamic=document.get("dynamic", False),
        need_iteration=document.get("need_iteration", False),
        parent_dynamic=None if parent is None else parent["dynamic"],
    )


def graph_of_rows(
    nodes: Sequence[Mapping[str, Any]],
    subgraphs: Sequence[tuple[str, Sequence[Mapping[str, Any]]]],
    **more: Any,
) -> Graph:
    """The graph of nodes that were read from another form. Raises :class:`UnusableGraph`."""
    inner = [{"name": name, "nodes": list(rows)} for name, rows in subgraphs]
    document = {"nodes": list(nodes), "subgraphs": inner, **more}
    _judge(document)
    return graph_of(document)


def _node(row: Mapping[str, Any], numbers: Mapping[str, int], graph: int) -> Node:
    unknown = [one for one in row.get("subgraphs", ()) if one not in numbers]
    if unknown:
        raise UnusableGraph(
            f"node {row['id']}: {_short(unknown[0])} is no sub-graph; "
            "expected the name of one of subgraphs"
        )
    return Node(
        int(row["id"]),
        row["name"],
        row["type"],
        row["kernel_lib"],
        int(row.get("stream", 0)),
        row.get("original_type", ""),
        tuple(row.get("origin_op_names", ())),
        tuple(None if one is None else (int(one[0]), int(one[1])) for one in row.get("inputs", ())),
        tuple(map(int, row.get("control", ()))),
        tuple(numbers[one] for one in row.get("subgraphs", ())),
        int(row.get("parent_input", -1)),
        _attributes(row.get("attributes")),
        graph,
    )


def _attributes(found: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The attributes that are looked at; the number of a mark as an integer."""
    if not found:
        return {}
    known = {name: found[name] for name in _looked_at() if name in found}
    if mark("number-mark") in known:
        known[mark("number-mark")] = int(known[mark("number-mark")])
    return known


@per_spec
def _looked_at() -> frozenset[str]:
    """Names of the attributes that the published form has."""
    properties = _schema()["$defs"]["attributes"]["properties"]
    return frozenset(properties)


@per_spec
def _schema() -> Mapping[str, Any]:
    return ge_schema(ge_catalog().documents, "graph")


# --- texts that are no graph ----------------------------------------------------------------------


def _document(content: bytes) -> Mapping[str, Any]:
    reader = ObjectReader()
    try:
        document = json.loads(content, object_pairs_hook=reader, parse_constant=_refused)
    except UnusableGraph:
        raise
    except RecursionError:
        raise UnusableGraph("nested too deep; expected a graph") from None
    except ValueError:
        raise UnusableGraph(_damage(content)) from None
    if _HALF.search(content) and find_damage(content) is not None:
        raise UnusableGraph(_damage(content))
    doubled = next(reader.doubled_keys(document), None)
    if doubled is not None:
        raise UnusableGraph(f"{_spelled(doubled)} stands twice; expected it once")
    _judge(document)
    found: Mapping[str, Any] = document
    return found


def _refused(text: str) -> float:
    raise UnusableGraph(f"{text} is no number of JSON; expected a graph as JSON")


def _damage(content: bytes) -> str:
    """Where a text stops to be JSON."""
    damage = wide_text(content) or find_damage(content)
    if damage is None:
        return "a number with too many digits; expected a graph as JSON"
    line = content.count(b"\n", 0, damage.offset) + 1
    return f"line {line}, byte {damage.offset}: {damage.reason}; expected a graph as JSON"


def _judge(document: object) -> None:
    """Raise the first error that the schema finds."""
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(_schema()))
    error = next(validator.iter_errors(document), None)
    if error is None:
        return
    place = list(error.instance_path)
    value: Any = document
    for part in place:
        value = value[part]
    schema: Any = _schema()
    raise UnusableGraph(_complaint(place, value, schema))


def _complaint(place: Sequence[str | int], value: object, root: Mapping[str, Any]) -> str:
    """One line: the place, what is there and what is expected."""
    schema = _at(place, root)
    where = _spelled(place)
    if isinstance(value, Mapping) and schema.get("type") == "object":
        known = schema.get("properties", {})
        missing = [one for one in schema.get("required", ()) if one not in value]
        if missing:
            return (
                f"{where}: {missing[0]} is missing; expected {_expected(known[missing[0]], root)}"
            )
        unknown = [one for one in value if one not in known]
        return f"{where}: {_short(unknown[0])} is unknown; expected one of {', '.join(known)}"
    return f"{where} is {_short(value)}; expected {_expected(schema, root)}"


def _at(place: Sequence[str | int], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a place, with what it refers to."""
    schema = _whole(root, root)
    for part in place:
        inner = (
            schema.get("items") if isinstance(part, int) else schema.get("properties", {}).get(part)
        )
        if not isinstance(inner, Mapping):
            return schema
        schema = _whole(inner, root)
    return schema


def _whole(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    return {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}


def _expected(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    schema = _whole(schema, root)
    if "anyOf" in schema:
        return "null or a pair of the id of a node and the number of an output"
    kind = schema.get("type")
    if kind == "integer":
        return f"an integer from {schema['minimum']} to {schema['maximum']}"
    if kind == "array":
        return f"a list, each {_expected(schema['items'], root)}"
    if kind == "object":
        required = schema.get("required")
        return "an object" + (f" with {', '.join(required)}" if required else "")
    if kind == "boolean":
        return "true or false"
    return "a text that is not empty" if schema.get("minLength") else "a text"


def _spelled(place: Sequence[str | int]) -> str:
    """``nodes[3].inputs[0]``."""
    text = "".join(f"[{one}]" if isinstance(one, int) else f".{_cut(one)}" for one in place)
    return text.removeprefix(".") or "the document"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _short(value: object) -> str:
    """A value as a message shows it."""
    if isinstance(value, str):
        return f"the text {_cut(value)!r}"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    try:
        return _cut(json.dumps(value))
    except ValueError:
        return "an integer of thousands of digits"
