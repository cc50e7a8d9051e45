"""The JSON documents beside the timelines as Markdown pages, and their schemas as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ascend_ref.markdown import PLAIN, Style, anchor, code, facts, page, table
from ascend_spec import Catalog, document_catalog
from ascend_spec.documents import DOCUMENTS

from .pages import citations, value_range
from .subject import Subject

Node = Mapping[str, Any]


def document_section(catalog: Catalog, name: str, style: Style = PLAIN, level: int = 1) -> str:
    """One document: the objects in it, each with its keys."""
    source = document_catalog().source_of(name)
    objects = {"": source, **source["$defs"]}
    return page(
        f"{'#' * level} {name}",
        style.prose(source["description"]),
        facts(
            ("File", code(source["title"])),
            ("Written by", style.links("writer", source["writers"])),
            ("Source", citations(catalog, source["source"], style)),
            ("Errata", _errata(source, style)),
        ),
        *(
            block
            for title, node in objects.items()
            if _keys(node)
            for block in _object(title, node, source["$defs"], style, level + 1)
        ),
    )


def document_subjects(catalog: Catalog) -> Iterator[Subject]:
    """The JSON documents."""
    for name in DOCUMENTS:
        source = document_catalog().source_of(name)
        yield Subject(
            kind="document",
            name=name,
            summary=source["description"],
            page=f"timeline/documents.md#{anchor(name)}",
            section=partial(document_section, catalog, name),
            fact=source,
            also=tuple(dict.fromkeys((f"{name}.json", source["title"]))),
            cells={"file": source["title"]},
        )


def _object(
    title: str, node: Node, definitions: Mapping[str, Node], style: Style, level: int
) -> tuple[str, str, str]:
    forms = [node, *node.get("variants", ())]
    required = {key for form in forms for key in form.get("required", ())}
    rows = (_row(shown, one, definitions, shown in required, style) for shown, one in _keys(node))
    return (
        f"{'#' * level} {title or 'At the top'}",
        style.prose(node.get("description", "")) if title else "",
        table(("key", "JSON", "unit", "meaning"), rows),
    )


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
    remarks = [style.prose(meant.get("description", "")).rstrip(".")]
    if "enum" in meant:
        remarks.append(f"One of {', '.join(code(json.dumps(one)) for one in meant['enum'])}")
    if bounds := value_range(meant.get("minimum"), meant.get("maximum")):
        remarks.append(bounds[0].upper() + bounds[1:])
    if not required and not key.startswith("/"):
        remarks.append("May be missing")
    if "writers" in node:
        remarks.append(f"By {', '.join(node['writers'])}")
    if "erratum" in meant:
        remarks.append(f"See {style.link('erratum', meant['erratum'])}")
    kind = "object" if _keys(meant) else _json(meant)
    linked = f" ({name})" if kind == "object" and name else ""
    return (
        code(key),
        f"{kind}{linked}",
        meant.get("unit", ""),
        f"{'. '.join(remark for remark in remarks if remark)}.",
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


def _errata(node: Any, style: Style) -> str:
    return ", ".join(style.link("erratum", one) for one in dict.fromkeys(_cited(node)))


def _cited(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("erratum"), str):
            yield node["erratum"]
        for inner in node.values():
            yield from _cited(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _cited(inner)
