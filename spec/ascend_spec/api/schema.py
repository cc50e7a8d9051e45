"""From the schema documents to one self-contained JSON Schema of one generation.

The documents are JSON Schema 2020-12 with a vocabulary of ours. Of it ``unit``, ``erratum`` and
``maxBytes`` remain in the result as annotations; the rest is resolved here:

- ``since``, ``until``: what is not in force is left out, also of ``required``;
- ``variants``: the one in force is merged into its place;
- a reference into another document becomes one into the ``$defs`` of the result;
- a required property with an erratum gets an ``allOf`` of its own, so that the erratum stands at
  the schema node which notices that the property is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascend_spec.core import Axis, bounds_of

Node = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SUBSCHEMA = ("items", "additionalProperties", "if", "then", "else")
SUBSCHEMA_LISTS = ("allOf", "anyOf", "prefixItems")
_RESOLVED = ("since", "until", "variants", "source")


def bundle(definitions: Mapping[str, Node], name: str, axis: Axis, generation: str) -> Node:
    """A definition and all that it refers to, as it was in one of the generations of the axis.

    Raises ``KeyError`` for an unknown name, and for what is not in force.
    """
    pruner = _Pruner(definitions, axis, generation)
    if not pruner.in_force(definitions[name]):
        raise KeyError(f"{name} is not part of generation {generation}")
    schema = {"$schema": DIALECT, **pruner.pruned(definitions[name])}
    found: dict[str, Node] = {}
    while pruner.wanted - found.keys():
        for missing in sorted(pruner.wanted - found.keys()):
            found[missing] = pruner.pruned(definitions[missing])
    return {**schema, "$defs": dict(sorted(found.items()))} if found else schema


class _Pruner:
    def __init__(self, definitions: Mapping[str, Node], axis: Axis, generation: str) -> None:
        self.definitions = definitions
        self.axis = axis
        self.generation = generation
        self.wanted: set[str] = set()

    def in_force(self, node: Any) -> bool:
        """Whether a node's bounds, and those of what it refers to, hold the generation."""
        if not isinstance(node, dict):
            return True
        if not self.axis.in_force(bounds_of(node), self.generation):
            return False
        return "$ref" not in node or self.in_force(self.definitions[_target(node)])

    def pruned(self, node: Any) -> Any:
        """A node that is in force, without what below it is not."""
        if not isinstance(node, dict):
            return node
        for variant in node.get("variants", ()):
            if self.in_force(variant):
                node = {**variant, **node}
                break
        result = {key: value for key, value in node.items() if key not in _RESOLVED}
        if "$ref" in result:
            target = _target(result)
            self.wanted.add(target)
            result["$ref"] = f"#/$defs/{target}"
        for key in SUBSCHEMA:
            if key in result:
                result[key] = self.pruned(result[key])
        for key in SUBSCHEMA_LISTS:
            if key in result:
                result[key] = [self.pruned(one) for one in result[key] if self.in_force(one)]
        noted = self._members(result)
        if noted:
            result["allOf"] = [*result.get("allOf", ()), *noted]
        return {key: value for key, value in result.items() if key != "allOf" or value}

    def _members(self, result: Node) -> list[Node]:
        """Prunes the properties in place; returns the requirements that carry an erratum."""
        properties: Node = result.get("properties", {})
        gone = {name for name, node in properties.items() if not self.in_force(node)}
        known = {name: self.pruned(properties[name]) for name in properties if name not in gone}
        if properties:
            result["properties"] = known
        required = [name for name in result.pop("required", ()) if name not in gone]
        noted = {
            name: known[name]["erratum"]
            for name in required
            if isinstance(known.get(name), dict) and "erratum" in known[name]
        }
        if plain := [name for name in required if name not in noted]:
            result["required"] = plain
        return [{"required": [name], "erratum": erratum} for name, erratum in noted.items()]


def _target(node: Node) -> str:
    name: str = node["$ref"].rpartition("/")[2]
    return name


def erratum_at(schema: Node, path: Sequence[str | int]) -> str | None:
    """The erratum at or nearest above a place of a bundled schema.

    ``path`` is the place of a failing keyword as validators report it, where a reference may be a
    step ``$ref`` or none: ``["properties", "id", "type"]``.
    """
    nodes = _nodes_on(schema, schema, list(path)) or [schema]
    return next((node["erratum"] for node in reversed(nodes) if "erratum" in node), None)


def _nodes_on(schema: Node, at: Any, path: list[str | int]) -> list[Node] | None:
    """The schema nodes from ``at`` along a path; ``None`` where there is no such path."""
    if isinstance(at, dict) and "$ref" in at:
        target = schema["$defs"][_target(at)]
        rest = path[1:] if path[:1] == ["$ref"] else path
        beyond = _nodes_on(schema, target, rest)
        if beyond is not None:
            return [at, *beyond]
    if not path:
        return [at] if isinstance(at, dict) else []
    steps = 2 if path[0] == "properties" else 1  # the name behind it is no schema node
    inner = at
    for step in path[:steps]:
        try:
            inner = inner[step]
        except (KeyError, IndexError, TypeError):
            return None
    below = _nodes_on(schema, inner, path[steps:])
    return None if below is None else [*([at] if isinstance(at, dict) else []), *below]
