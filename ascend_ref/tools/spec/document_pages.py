"""The JSON documents next to the timelines as Markdown pages, and their schemas as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ascend_ref.markdown import Style, code, commas, sentences, table
from ascend_spec import document_catalog
from ascend_spec.documents import DOCUMENTS

from .pages import citations, value_range
from .subject import Subject, things

Node = Mapping[str, Any]


def _document_section(name: str, style: Style) -> str:
    """One document: the objects in it, each with its keys."""
    source = document_catalog().source_of(name)
    objects = {"": source, **source["$defs"]}
    return style.page(
        name,
        source["description"],
        ("File", code(source["title"])),
        ("Written by", style.links("writer", source["writers"])),
        ("Source", citations(source["source"], style)),
        ("Errata", style.links("erratum", dict.fromkeys(_cited(source)))),
        *(
            block
            for title, node in _objects(objects)
            for block in _object(title, node, source["$defs"], style.below())
        ),
    )


def document_subjects() -> Iterator[Subject]:
    """The JSON documents."""
    source_of = document_catalog().source_of
    yield from things(
        "document",
        {name: name for name in DOCUMENTS},
        "timeline/documents.md#{anchor}",
        _document_section,
        summary=lambda name: source_of(name)["description"],
        fact=source_of,
        also=lambda name: tuple(dict.fromkeys((f"{name}.json", source_of(name)["title"]))),
        cells=lambda name: {"file": source_of(name)["title"]},
    )


def _objects(named: Mapping[str, Node]) -> Iterator[tuple[str, Node]]:
    """Every object that has keys, those that stand within another one behind it."""
    for title, node in named.items():
        keys = _keys(node)
        if keys:
            yield title, node
            inner = {key: one for key, one in keys if "$ref" not in one and not key.startswith("/")}
            yield from _objects(inner)


def _object(
    title: str, node: Node, definitions: Mapping[str, Node], style: Style
) -> tuple[str, str, str]:
    forms = [node, *node.get("variants", ())]
    required = {key for form in forms for key in form.get("required", ())}
    unlisted = commas(code(key) for form in forms for key in _unlisted(form))
    always = f" Always there: {unlisted}." if unlisted else ""
    rows = (_row(shown, one, definitions, shown in required, style) for shown, one in _keys(node))
    return (
        style.heading(title or "At the top"),
        f"{style.prose(node.get('description', '')) if title else ''}{always}",
        table(("key", "JSON", "unit", "meaning"), rows),
    )


def _unlisted(node: Node) -> Iterator[str]:
    """The keys that must be there without a row of their own."""
    known = node.get("properties", {})
    return (key for key in node.get("required", ()) if key not in known)


def _keys(node: Node) -> list[tuple[str, Node]]:
    """The keys of an object; those that are given by a form come last."""
    keys = list(node.get("properties", {}).items())
    keys += [(f"/{form}/", one) for form, one in node.get("patternProperties", {}).items()]
    further = node.get("additionalProperties")
    if isinstance(further, Mapping):
        keys.append((f"/{node.get('propertyNames', {}).get('pattern', '.*')}/", further))
    for variant in node.get("variants", ()):
        own = {"writers": variant["writers"]}
        keys += [(key, {**one, **own}) for key, one in _keys(variant)]
    return keys


def _row(
    key: str, node: Node, definitions: Mapping[str, Node], required: bool, style: Style
) -> tuple[str, str, str, str]:
    name = node.get("$ref", "").rpartition("/")[2]
    meant: Node = {**definitions.get(name, {}), **node}
    meaning = sentences(
        style.prose(meant.get("description", "")),
        *_values(meant),
        f"Each is an array: {_in_order(meant, style)}" if _in_order(meant, style) else "",
        value_range(meant.get("minimum"), meant.get("maximum")),
        "" if required or key.startswith("/") else "May be missing",
        f"By {commas(node['writers'])}" if "writers" in node else "",
        style.see([meant["erratum"]] if "erratum" in meant else ()),
    )
    kind = "object" if _keys(meant) else _json(meant)
    linked = f" ({name})" if kind == "object" and name else ""
    return code(key), f"{kind}{linked}", meant.get("unit", ""), meaning


def _values(node: Node) -> Iterator[str]:
    """The values that one may have, and those that the items of an array may have."""
    forms = [node, *node.get("variants", ()), *node.get("anyOf", ())]
    for words, found in (
        ("One of", [form.get("enum", ()) for form in forms]),
        ("Items are", [form.get("items", {}).get("enum", ()) for form in forms]),
    ):
        listed = commas(dict.fromkeys(code(json.dumps(one)) for values in found for one in values))
        if listed:
            yield f"{words} {listed}"


def _in_order(node: Node, style: Style) -> str:
    """What the items of each array in an object mean, by their places."""
    further = node.get("additionalProperties")
    items = further.get("prefixItems", ()) if isinstance(further, Mapping) else ()
    return ", ".join(
        style.prose(one["description"].rstrip(".").lower())
        + (f" in {one['unit']}" if "unit" in one else "")
        for one in items
    )


def _json(node: Node) -> str:
    """The JSON types of a value, in every form that it has."""
    forms = [node, *node.get("variants", ()), *node.get("anyOf", ())]
    kinds: dict[str, None] = {}
    for form in forms:
        given = form.get("type", ())
        kinds.update(dict.fromkeys([given] if isinstance(given, str) else given))
        if "$ref" in form and form is not node:
            kinds["object"] = None
        if "enum" in form:
            kinds.update(dict.fromkeys(_kind(one) for one in form["enum"]))
        if "const" in form:
            kinds[_kind(form["const"])] = None
    return " or ".join(kinds)


def _kind(value: object) -> str:
    return {str: "string", int: "integer", type(None): "null"}.get(type(value), "number")


def _cited(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("erratum"), str):
            yield node["erratum"]
        for inner in node.values():
            yield from _cited(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _cited(inner)
