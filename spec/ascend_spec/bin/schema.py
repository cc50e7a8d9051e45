"""From the payload documents to plain JSON Schema of one epoch.

The documents (``payloads/*.schema.yaml``) are JSON Schema 2020-12 with a vocabulary of ours, which
``vocabulary/bin_payload.schema.yaml`` describes. Of it, ``unit``, ``erratum``, ``advisory`` and
``references`` remain in the result as annotations; the rest is resolved here:

- ``$ref`` is replaced by its target, and keys beside it replace those of the target;
- ``since``, ``until``: what is not in force at the epoch is left out, also of ``required``;
- ``variants``: the one in force is merged into its place;
- ``values_of`` becomes ``enum``, with the values of that enum that are in force, or, for an open
  enum, forbids those that no longer are;
- ``keys_of`` becomes required properties, one for each value of the enum, each as ``each`` says;
- a required property with ``missing`` gets an ``allOf`` of its own, so that its erratum stands at
  the schema node which notices that the property is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .model import BinEnum, EnumMember

Node = dict[str, Any]
InForce = Callable[[str | None, str | None], bool]

SUBSCHEMA = (
    *("items", "contains", "additionalProperties", "propertyNames"),
    *("not", "if", "then", "else"),
)
SUBSCHEMA_LISTS = ("allOf", "prefixItems")
NEVER = "never"
_RESOLVED = (
    *("since", "until", "variants", "missing", "source", "$defs", "$schema"),
    *("values_of", "or_text", "keys_of", "each"),
)


def compile_payload(
    document: Node, shared: Mapping[str, Node], enums: Mapping[str, BinEnum], in_force: InForce
) -> Node:
    """One document as a plain schema without ``$ref``.

    ``shared`` holds the definitions that any document may refer to, as
    ``common.schema.yaml#/$defs/<name>``; ``in_force`` tells whether bounds enclose the epoch.
    """
    definitions = {f"#/$defs/{name}": node for name, node in document.get("$defs", {}).items()}
    definitions |= {f"common.schema.yaml#/$defs/{name}": node for name, node in shared.items()}
    return _Compiler(definitions, enums, in_force).compile(document)


class _Compiler:
    def __init__(
        self, definitions: Mapping[str, Node], enums: Mapping[str, BinEnum], in_force: InForce
    ) -> None:
        self.definitions = definitions
        self.enums = enums
        self.in_force = in_force

    def compile(self, node: Node) -> Node:
        """One node that is in force, and everything below it."""
        node = self._merged(node)
        result = {key: value for key, value in node.items() if key not in _RESOLVED}
        branches: list[Node] = []
        if "values_of" in node:
            branches += self._enumerate(node, result)
        if "keys_of" in node:
            self._spread(node, result)
        for key in SUBSCHEMA:
            if key in result:
                inner = self._merged(result.pop(key))
                if self._stands(inner):
                    result[key] = self.compile(inner)
        for key in SUBSCHEMA_LISTS:
            if key in result:
                merged = map(self._merged, result[key])
                result[key] = [self.compile(one) for one in merged if self._stands(one)]
        if "properties" in result:
            branches += self._properties(result)
        if branches:
            result["allOf"] = [*result.get("allOf", ()), *branches]
        return {key: value for key, value in result.items() if key != "allOf" or value}

    def _stands(self, node: Node) -> bool:
        since = node.get("since")
        return since != NEVER and self.in_force(since, node.get("until"))

    def _merged(self, node: Node) -> Node:
        """The node with the target of its reference and its variant in force laid under it.

        A node none of whose variants is in force is never in force itself.
        """
        while "$ref" in node or "variants" in node:
            own = {key: value for key, value in node.items() if key not in ("$ref", "variants")}
            if "$ref" in node:
                own = {**self.definitions[node["$ref"]], **own}
            if "variants" in node:
                standing = next(filter(self._stands, node["variants"]), None)
                if standing is None:
                    return {**own, "since": NEVER}
                own = {**standing, "since": node.get("since"), "until": node.get("until"), **own}
            node = own
        return node

    def _enumerate(self, node: Node, result: Node) -> list[Node]:
        """What an enum demands: in place where it is closed, else as further branches."""
        enum = self.enums[node["values_of"]]
        standing = [member for member in enum.members if self.in_force(member.since, member.until)]
        gone = [member for member in enum.members if not self.in_force(None, member.until)]
        if not enum.closed:
            return [_branch({"not": {"enum": texts}}, erratum) for erratum, texts in _grouped(gone)]
        result["enum"] = _spelled([member.value for member in standing], node)
        proper = _spelled([one.value for one in standing if one.alias_of is None], node)
        aliases = [member for member in standing if member.alias_of is not None]
        return [_branch({"enum": proper}, erratum) for erratum, _ in _grouped(aliases)]

    def _spread(self, node: Node, result: Node) -> None:
        """Makes a required property of each value that an enum has in force."""
        members = [
            member
            for member in self.enums[node["keys_of"]].members
            if self.in_force(member.since, member.until)
        ]
        result["properties"] = {
            str(member.value): {**node["each"], "description": member.summary} for member in members
        }
        result["required"] = list(result["properties"])

    def _properties(self, result: Node) -> list[Node]:
        """Compiles the properties in place; returns the requirements that carry an erratum."""
        merged = {name: self._merged(node) for name, node in result["properties"].items()}
        standing = {name: node for name, node in merged.items() if self._stands(node)}
        result["properties"] = {name: self.compile(node) for name, node in standing.items()}
        missing = {name: node["missing"] for name, node in standing.items() if "missing" in node}
        required = [
            name for name in result.pop("required", ()) if name in standing or name not in merged
        ]
        plain = [name for name in required if name not in missing]
        if plain:
            result["required"] = plain
        return [{"required": [name], **missing[name]} for name in required if name in missing]


def _branch(demand: Node, erratum: str | None) -> Node:
    """A demand whose failure is advice, since a known erratum explains it."""
    return {**demand, "erratum": erratum, "advisory": True}


def _grouped(members: Sequence[EnumMember]) -> list[tuple[str | None, list[str | int]]]:
    """Values by the erratum about them, in the order of the enum."""
    groups: dict[str | None, list[str | int]] = {}
    for member in members:
        groups.setdefault(member.erratum, []).append(member.value)
    return list(groups.items())


def _spelled(values: Sequence[str | int], node: Node) -> list[str | int]:
    """The values, and integers as text too where the node allows it."""
    texts = [str(value) for value in values if isinstance(value, int)] if "or_text" in node else []
    return [*values, *texts]


def known_keys(schema: Node) -> dict[str, frozenset[str]]:
    """For each place of a compiled schema that is an object with described properties, their names.

    A place is a JSON pointer with ``*`` for every array index and every key of a map; the payload
    itself is ``""``. Objects whose keys are free (maps) are left out.
    """
    described: dict[str, set[str]] = {}
    maps = set()
    for place, node in walk(schema):
        if "properties" in node:
            described.setdefault(place, set()).update(node["properties"])
        if "additionalProperties" in node:
            maps.add(place)
    return {place: frozenset(keys) for place, keys in described.items() if place not in maps}


def walk(schema: Node, place: str = "", *, conditions: bool = True) -> Iterator[tuple[str, Node]]:
    """Every node of a compiled schema with the place in the payload that it speaks of.

    ``if``, ``not`` and ``contains`` are left out, for they describe no content; what holds under a
    condition is part of the walk unless ``conditions`` is false.
    """
    yield place, schema
    for name, node in schema.get("properties", {}).items():
        yield from walk(node, f"{place}/{escaped(name)}", conditions=conditions)
    maps_and_lists = _present(schema, "items", "additionalProperties")
    for node in (*maps_and_lists, *schema.get("prefixItems", ())):
        yield from walk(node, f"{place}/*", conditions=conditions)
    branches = _present(schema, "then", "else") if conditions else ()
    for node in (*schema.get("allOf", ()), *branches):
        yield from walk(node, place, conditions=conditions)


def _present(schema: Node, *keys: str) -> Iterator[Node]:
    return (schema[key] for key in keys if key in schema)


def escaped(key: str) -> str:
    """A key as a token of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def nearest(schema: Node, path: Sequence[str | int], keyword: str) -> Node | None:
    """The schema node at or above a place of a compiled schema that carries a keyword.

    ``path`` is the place of a failing keyword as validators report it, such as
    ``["properties", "name", "type"]``; a step that the schema does not have ends the search.
    """
    found = schema if keyword in schema else None
    at: Any = schema
    inside_properties = False
    for step in path:
        try:
            at = at[step]
        except (KeyError, IndexError, TypeError):
            break
        inside_properties = step == "properties" and not inside_properties
        if isinstance(at, dict) and not inside_properties and keyword in at:
            found = at
    return found
