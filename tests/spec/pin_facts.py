"""The spec's documents as facts: what stands at which place, read without the spec's own loaders.

A place is the kind and name of a document, then the keys that lead to a node, an item of a list by
the key that names it: ``table/TASK/columns/modelId``. The facts of a node are its scalars and its
lists of scalars. Prose and provenance are no facts, nor are names by which the project's own parts
find each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

SPEC = Path(__file__).parents[2] / "spec" / "ascend_spec"

Facts = dict[str, Any]
Places = dict[str, Facts]

PROSE = frozenset(
    [
        "summary",
        "reason",
        "note",
        "description",
        "why",
        "source",
        "errata",
        "erratum",
        "claim",
        "resolution",
        "at",
        "tells",
        "shows",
        "grade",
        "meaning",
        "example",
        "examples",
        "added_by",
        "capabilities",
        "where",
        "writer",
        "says",
        "documented_as",
        "message",
        "when",
        "sorted_by",
        "expects",
        "program",
        "$schema",
        "$id",
        "$comment",
    ]
)
OURS = frozenset(
    [
        "formula",
        "event",
        "thread",
        "slug",
        "form",
        "payload",
        "$ref",
        "body",
        "params",
        "like",
        "keys_of",
        "values_of",
        "dtype_object",
        "kind",
        "rule",
        "bandwidth_erratum",
        "advisory",
        "yields_to",
        "documented",
        "record",
        "grammar",
        "line",
        "method",
        "way",
        "parser",
        "places",
        "made_of",
        "each",
        "takes",
        "shown_by",
        "cost_class",
        "proposal",
        "refusal",
        "refusals",
        "reader",
        "behaviour",
    ]
)
# Provenance as a whole, and what the documents say where an erratum decides against them. The
# entities of the recording, and the words for what readers do, are the own model of the project; no
# document or file states them.
NOT_FACTS = ("sources", "errata", "behaviours")
MODEL = "recording"
KINDS = {"table": "table", "enum": "enum", "file": "csv", "layer": "layer"}
NAMING = [
    "function",
    "component",
    "name",
    "id",
    "arg",
    "event",
    "code",
    "key",
    "title",
    "file",
    "column",
    "command",
    "table",
    "layer",
    "path",
    "op_type",
    "metric",
    "spelled",
    "core",
    "block",
    "kind",
    "chip",
    "series",
    "grammar",
    "line",
    "record",
    "method",
    "way",
    "analyser",
    "request",
    "behaviour",
    "option",
    "variable",
    "bit",
]


@cache
def documents() -> Mapping[str, Any]:
    """Each document of the spec by its path without the suffix."""
    return {
        path.relative_to(SPEC).with_suffix("").as_posix(): yaml.load(
            path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
        )
        for path in sorted(SPEC.rglob("*.yaml"))
        if not {"vocabulary", MODEL} & set(path.parts) and path.stem not in NOT_FACTS
    }


def facts(name: str, document: Any) -> Places:
    """The facts of one document by place."""
    places: Places = {}
    if name.endswith(".schema") and isinstance(document, dict):
        document = {key: value for key, value in document.items() if key != "title"}
    for path, own in _nodes(document, ()):
        places["/".join((address(name, document), *path))] = own
    return places


def address(name: str, document: Any) -> str:
    """The kind and name of what a document is about, or its path where that is several things."""
    for key, kind in KINDS.items() if isinstance(document, dict) else ():
        named = document.get(key)
        if isinstance(named, str):
            return f"{kind}/{named}"
        if isinstance(named, list):
            return f"{kind}/{'+'.join(named)}"
    return name.removeprefix("core/").removeprefix("db/")


def _nodes(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Facts]]:
    if isinstance(value, dict):
        kept = {str(key): item for key, item in value.items() if str(key) not in PROSE}
        own = {key: item for key, item in kept.items() if _plain(item) and key not in OURS}
        if own:
            yield path, own
        for key, item in kept.items():
            if not _plain(item):
                yield from _nodes(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from _nodes(item, (*path, _name(item, value) or str(number)))


def _plain(value: Any) -> bool:
    """A scalar or a list of scalars."""
    if isinstance(value, list):
        return not any(isinstance(item, (dict, list)) for item in value)
    return not isinstance(value, dict)


def _name(item: Any, siblings: list[Any]) -> str | None:
    """The first naming key that tells all siblings apart."""
    if isinstance(item, dict):
        for key in NAMING:
            if key in item and not isinstance(item[key], (dict, list)):
                values = [json.dumps(one.get(key)) for one in siblings if isinstance(one, dict)]
                if len(set(values)) == len(siblings):
                    return str(item[key])
    return None
