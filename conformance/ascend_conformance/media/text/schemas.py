"""JSON documents against the schemas of their writers: errors summed up by place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import jsonschema_rs

from ascend_ref.db.display import clip, printable
from ascend_spec import per_spec
from ascend_spec.bin.schema import nearest
from ascend_spec.documents import schema_of

from ..bin.schematext import expectation

MAX_ERRORS = 10_000
"""Errors of one document that are counted."""

Path = Sequence[str | int]


@dataclass(slots=True)
class SchemaFault:
    """All errors of one keyword at one place. ``pointer`` and ``shown`` are of the first value."""

    place: str
    keyword: str
    pointer: str
    shown: str
    expected: str
    erratum: str | None
    count: int = 0


def schema_faults(name: str, writer: str, value: Any) -> list[SchemaFault]:
    """What the schema of a document finds wrong with its value, in the order of the document."""
    schema, validator = _judge(name, writer)
    found: dict[tuple[str, str], SchemaFault] = {}
    for error in islice(validator.iter_errors(value), MAX_ERRORS):
        path = list(error.schema_path)
        keyword = str(path[-1])
        details = error.kind.as_dict()
        missing = str(details["property"]) if keyword == "required" else None
        if keyword == "additionalProperties" and "unexpected" in details:
            for key in details["unexpected"]:
                _note(found, schema, path, [*error.instance_path, key], keyword, None, "a key")
            continue
        shown = "absent" if missing else _shown(error.instance)
        _note(found, schema, path, error.instance_path, keyword, missing, shown)
    return list(found.values())


def _note(
    found: dict[tuple[str, str], SchemaFault],
    schema: dict[str, Any],
    path: list[str | int],
    where: Path,
    keyword: str,
    missing: str | None,
    shown: str,
) -> None:
    place = place_of(path, missing)
    if (place, keyword) not in found:
        noted = nearest(schema, path, "erratum")
        expected = expectation(schema, path, missing)
        if keyword == "additionalProperties":
            expected = "only keys that the schema describes"
        found[place, keyword] = SchemaFault(
            place=place,
            keyword=keyword,
            pointer="".join(f"/{_token(str(one))}" for one in where),
            shown=shown,
            expected=expected,
            erratum=noted["erratum"] if noted else None,
        )
    found[place, keyword].count += 1


def place_of(path: Path, missing: str | None) -> str:
    """Where a keyword stands, by the names in the document; ``*`` for those that vary."""
    parts: list[str] = []
    steps = iter(path[:-1])
    for step in steps:
        if step == "properties":
            parts.append(str(next(steps)))
        elif step == "patternProperties":
            next(steps)
            parts.append("*")
        elif step == "additionalProperties":
            parts.append("*")
        elif step == "prefixItems":
            parts.append(str(next(steps)))
        elif step == "items":
            parts.append("*")
        elif step in ("allOf", "anyOf", "oneOf"):
            next(steps)
    if missing is not None:
        parts.append(missing)
    return "/".join(parts)


@per_spec
def _judge(name: str, writer: str) -> tuple[dict[str, Any], jsonschema_rs.Draft202012Validator]:
    schema = schema_of(name, writer)
    inlined = _inlined(schema, schema.pop("$defs", {}))
    return inlined, jsonschema_rs.Draft202012Validator(inlined)


def _inlined(node: Any, definitions: dict[str, Any]) -> Any:
    """The node with what it refers to in its place, so that paths lead through it."""
    if isinstance(node, list):
        return [_inlined(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    found = {key: _inlined(one, definitions) for key, one in node.items() if key != "$ref"}
    if isinstance(node.get("$ref"), str):
        target = definitions[node["$ref"].rpartition("/")[2]]
        return {**_inlined(target, definitions), **found}
    return found


def _shown(value: Any) -> str:
    """A value of the file on one short line; of a container, how large it is."""
    if isinstance(value, dict):
        return f"an object of {len(value):,} keys"
    if isinstance(value, list):
        return f"a list of {len(value):,} elements"
    text = value[:400] if isinstance(value, str) else value
    return clip(printable(json.dumps(text, ensure_ascii=False)))


def _token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
