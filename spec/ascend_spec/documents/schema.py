"""From a schema document to the plain JSON Schema of one writer.

The documents are JSON Schema 2020-12 with a vocabulary of ours. ``unit`` and ``erratum`` remain in
the result as annotations; the rest is resolved here:

- ``writers``: a node of other writers only is left out, also of ``required``;
- ``variants``: the one of the writer is merged into its place;
- ``source``: dropped;
- a required property with an erratum gets an ``allOf`` of its own, so that the erratum stands at
  the node which notices that the property is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Node = dict[str, Any]

_RESOLVED = ("writers", "variants", "source")
_MAPS = ("properties", "patternProperties", "$defs")
_LISTS = ("allOf", "anyOf", "prefixItems")
_NODES = ("items", "additionalProperties", "propertyNames", "if", "then", "else")


def compiled(node: Node, writer: str) -> Node:
    """The node as it is for a writer, without definitions that nothing refers to."""
    schema: Node = _of_writer(node, writer)
    definitions: Node = schema.pop("$defs", {})
    used: set[str] = set()
    reach = list(_targets(schema))
    while reach:
        name = reach.pop()
        if name not in used:
            used.add(name)
            reach += _targets(definitions[name])
    kept = {name: one for name, one in definitions.items() if name in used}
    return {**schema, "$defs": kept} if kept else schema


def _of_writer(node: Any, writer: str) -> Any:
    if not isinstance(node, dict):
        return node
    for variant in node.get("variants", ()):
        if _holds(variant, writer):
            node = {**node, **variant}
    found = {key: value for key, value in node.items() if key not in _RESOLVED}
    for key in _MAPS:
        if key in found:
            inner = found[key].items()
            found[key] = {
                name: _of_writer(one, writer) for name, one in inner if _holds(one, writer)
            }
    for key in _LISTS:
        if key in found:
            found[key] = [_of_writer(one, writer) for one in found[key] if _holds(one, writer)]
    for key in _NODES:
        if key in found:
            found[key] = _of_writer(found[key], writer)
    return _with_requirements(found, node.get("properties", {}), writer)


def _with_requirements(found: Node, properties: Node, writer: str) -> Node:
    """The node with what is required of the writer, an erratum beside it where there is one."""
    required = [name for name in found.pop("required", ()) if _holds(properties.get(name), writer)]
    noted = {name: properties[name]["erratum"] for name in required if _noted(properties.get(name))}
    if plain := [name for name in required if name not in noted]:
        found["required"] = plain
    if noted:
        own = [{"required": [name], "erratum": erratum} for name, erratum in noted.items()]
        found["allOf"] = [*found.get("allOf", ()), *own]
    return found


def _noted(node: Any) -> bool:
    return isinstance(node, Mapping) and "erratum" in node


def _holds(node: Any, writer: str) -> bool:
    return not isinstance(node, Mapping) or writer in node.get("writers", (writer,))


def _targets(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for one in node for name in _targets(one)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"].rpartition("/")[2]] if isinstance(node.get("$ref"), str) else []
    return own + [name for one in node.values() for name in _targets(one)]
