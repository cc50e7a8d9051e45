"""Places of JSON as elements, from a compiled schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ascend_spec.core.dialect import ANNOTATIONS, Node, inlined, walk
from ascend_spec.core.pointer import unescaped

from .element import Element, Fact, Limits

_STATED = frozenset(
    (
        *("type", "enum", "const", "minimum", "maximum", "pattern", "unit", "required"),
        *("properties", "items", "prefixItems", "patternProperties", "allOf", "anyOf", "then"),
        *("else", "if", "$schema", "$id", "$defs", "$ref"),
    )
)
"""Keywords that have a fact of their own, or whose content has places of its own."""


def json_elements(
    kind: str, name: str, schema: Node, *, part: str = "key", within: str = ""
) -> tuple[Element, ...]:
    """The places below the root of a compiled schema, each within the one around it.

    ``kind`` and ``name`` are those of the address of the root; each place is a ``part`` of it,
    ``within`` in front of the place. Without a part each has an address of its own, whose name is
    that of the root and the place.
    """
    nodes: dict[str, list[Node]] = {}
    needed: set[str] = set()
    for place, node in walk(inlined(schema)):
        nodes.setdefault(place, []).append(node)
    for place, node in walk(inlined(schema), conditions=False):
        needed.update(f"{place}/{key}" for key in node.get("required", ()))
    inside: dict[str, list[str]] = {}
    for place in nodes:
        if place:
            inside.setdefault(place.rpartition("/")[0], []).append(place)

    def below(around: str) -> Iterator[Element]:
        for place in inside.get(around, ()):
            key, own = unescaped(place.rpartition("/")[2]), nodes[place]
            types = _types(own)
            yield Element(
                kind,
                name if part else f"{name}{place}",
                key,
                facts=_facts(own, types, f"{around}/{key}" in needed),
                children=tuple(below(place)),
                part=part,
                place=f"{within}{place}" if part else "",
                shown=" or ".join(sorted(types or ())) or "JSON",
            )

    return tuple(below(""))


def _facts(own: list[Node], types: frozenset[str] | None, is_required: bool) -> dict[str, Fact]:
    values = {json.dumps(one) for node in own for one in _values(node)}
    return {
        "types": types,
        "required": is_required,
        "values": frozenset(values) or None,
        "range": Limits(_first(own, "minimum"), _first(own, "maximum")),
        "pattern": _first(own, "pattern"),
        "unit": _first(own, "unit"),
        "form": _form(own),
        "summary": _first(own, "description"),
    }


def _types(own: list[Node]) -> frozenset[str] | None:
    given = [node["type"] for node in own if "type" in node]
    texts = [one for of in given for one in ([of] if isinstance(of, str) else of)]
    return frozenset(texts) or None


def _values(node: Node) -> list[Any]:
    values = node.get("enum", [node["const"]] if "const" in node else [])
    return list(values)


def _first(own: list[Node], keyword: str) -> Any:
    return next((node[keyword] for node in own if keyword in node), None)


def _form(own: list[Node]) -> str:
    """What else is demanded of the value."""
    skipped = _STATED | ANNOTATIONS
    rest = [{key: value for key, value in node.items() if key not in skipped} for node in own]
    return "; ".join(json.dumps(one, sort_keys=True) for one in rest if one)
