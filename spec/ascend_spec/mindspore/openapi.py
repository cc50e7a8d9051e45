"""The requests to MindSpore's viewer as an OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ascend_spec.core.dialect import DIALECT, Node, compile_schema, exported

from .analysers import Analyser, AnswerSwitch
from .catalog import MindSporeCatalog
from .requests import (
    DEVICE_TEXT,
    DEVICES_TEXT,
    MOST_PAGES,
    MOST_ROWS,
    NUMBER_TEXT,
    NUMBERS_TEXT,
    OPERATORS,
    SORTS,
    Argument,
    Refusal,
    Request,
)

OPENAPI = "3.1.0"
JSON = "application/json"
DAMAGE = "X-Damage"
"""Header of an answer of ours: of how many places the files could not be read."""

ERROR = "refusal"
"""The definition of the body of each refusal."""

EVERYWHERE = ("unknown", "other-page", "busy")
"""Refusals that each request has, whatever it asks."""

OF_FOLDERS = ("no-job", "no-folder", "device", "unreadable", "parameter-value")
OF_BODIES = ("too-long", "too-slow", "body-type", "parameter-value")
TEXTS = {"type": "array", "items": {"type": "string"}}
VALUES = {"type": "array", "items": {"type": ["string", "number"]}}
FOLDER: Node = {"type": "string", "minLength": 1}
DEVICE: Node = {"type": "string", "pattern": f"^{DEVICE_TEXT}$"}
DEVICES: Node = {"type": "string", "pattern": f"^{DEVICES_TEXT}$"}
NUMBER: Node = {"type": "integer", "minimum": 0}
NUMBERS: Node = {"type": "string", "pattern": f"^{NUMBERS_TEXT}$"}
FLAG: Node = {"type": "boolean"}
PAGE: Node = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS},
        "offset": {"type": "integer", "minimum": 0, "maximum": MOST_PAGES},
    },
}


def openapi_document(catalog: MindSporeCatalog, day: str) -> Node:
    """OpenAPI 3.1 of the requests of a day, those that are not answered among them."""
    requests = [one for one in catalog.requests.values() if one.method_on(day)]
    definitions = catalog.answers
    wanted = {one.body for one in requests if one.body} | {ERROR}
    root = {"anyOf": [{"$ref": name} for name in definitions if name in wanted]}
    compiled = compile_schema(root, definitions, lambda _: True)["$defs"]
    return {
        "openapi": OPENAPI,
        "info": {
            "title": "MindSpore's viewer: performance",
            "version": day,
            "description": "What MindInsight is asked about the intermediate files of a run.",
        },
        "jsonSchemaDialect": DIALECT,
        "paths": {
            one.path: {str(one.method_on(day)).lower(): _operation(catalog, one, day)}
            for one in requests
        },
        "components": {
            "schemas": {name: _placed(exported(node)) for name, node in compiled.items()}
        },
    }


def refusals_of(catalog: MindSporeCatalog, request: Request, day: str) -> list[Refusal]:
    """Every way in which a request can be refused on a day."""
    if not request.is_answered:
        names = ["not-answered", *EVERYWHERE]
    else:
        arguments = request.arguments_on(day)
        names = [*EVERYWHERE, *OF_FOLDERS, *(one.refusal for one in arguments), *request.refusals]
        if request.method_on(day) == "POST":
            names += OF_BODIES
    known = catalog.refusals
    return [one for name, one in known.items() if name in names]


def _operation(catalog: MindSporeCatalog, request: Request, day: str) -> Node:
    operation: Node = {
        "operationId": request.request,
        "summary": request.summary,
        "description": " ".join(filter(None, [request.note, request.reason])),
        "parameters": [
            _parameter(one, answered=request.is_answered)
            for one in request.arguments_on(day, "query")
        ],
        "responses": dict(_responses(catalog, request, day)),
    }
    body = request.arguments_on(day, "body")
    if body and request.is_answered:
        needed = any(one.needed for one in body)
        schema = body_schema(catalog, request, day)
        operation["requestBody"] = {"required": needed, "content": {JSON: {"schema": schema}}}
    return {key: value for key, value in operation.items() if value}


def _parameter(argument: Argument, *, answered: bool) -> Node:
    """A request that is not answered needs nothing."""
    return {
        "name": argument.name,
        "in": argument.place,
        "required": argument.needed and answered,
        "description": argument.summary,
        "schema": _plain(argument) if answered else {"type": "string"},
    }


def _plain(argument: Argument) -> Node:
    """The schema of an argument that is no condition."""
    form = argument.form
    forms = {
        **{"folder": FOLDER, "device": DEVICE, "devices": DEVICES, "page": PAGE},
        **{"number": NUMBER, "numbers": NUMBERS, "flag": FLAG},
    }
    schema = forms.get(form)
    if schema is None:
        schema = {"type": "string", "enum": list(argument.words)}
    return schema if argument.otherwise is None else {**schema, "default": argument.otherwise}


def body_schema(catalog: MindSporeCatalog, request: Request, day: str) -> Node:
    """The schema of the body of a request on a day: one for each analyser that may be asked."""
    arguments = request.arguments_on(day, "body")
    chosen = next((one for one in arguments if one.name == "op_type"), None)
    if chosen is None:
        return _body(arguments, catalog.analysers[request.analysers[0]], None, day, request)
    names = chosen.words or row_analysers(catalog)
    branches = [_body(arguments, catalog.analysers[name], name, day, request) for name in names]
    if not chosen.needed:
        branches.append(_body(arguments, catalog.analysers[chosen.otherwise], None, day, request))
    return {"anyOf": branches}


def row_analysers(catalog: MindSporeCatalog) -> tuple[str, ...]:
    """The analysers whose answers have rows."""
    return tuple(name for name, one in catalog.analysers.items() if one.answer == "rows")


def _body(
    arguments: Iterable[Argument], analyser: Analyser, name: str | None, day: str, request: Request
) -> Node:
    properties: Node = {}
    needed = []
    for one in arguments:
        if one.form == "filter":
            properties[one.name] = _filter(analyser, request)
        elif one.form == "sort":
            properties[one.name] = _sort(analyser, day)
        elif one.name != "op_type":
            properties[one.name] = _plain(one)
        elif name is not None:
            properties[one.name] = {"const": name}
            needed.append(one.name)
            continue
        if one.needed:
            needed.append(one.name)
    return {
        "type": "object",
        **({"required": needed} if needed else {}),
        "additionalProperties": False,
        "properties": properties,
    }


def _filter(analyser: Analyser, request: Request) -> Node:
    """Keys that are no columns are ignored, and operators that nobody knows let no row pass.

    Switches that the request sets are refused.
    """
    *exact, parts = OPERATORS
    texts = {
        one.name
        for one in analyser.columns
        if one.form == "text" or (one.form == "json" and one.can_sort and not one.unit)
    }
    columns = {
        one.name: {
            "type": "object",
            "properties": {
                **dict.fromkeys(exact, VALUES),
                parts: TEXTS if one.name in texts else False,
            },
            "additionalProperties": VALUES,
        }
        for one in analyser.columns
    }
    switches = {
        one.name: False if one.name in request.switches else _switch(one)
        for one in analyser.switches
    }
    other = {"type": "object", "properties": {parts: TEXTS}, "additionalProperties": VALUES}
    return {
        "type": "object",
        "properties": {**columns, **switches},
        "additionalProperties": other if columns else False,
    }


def _switch(switch: AnswerSwitch) -> Node:
    match switch.form:
        case "flag":
            schema: Node = {"type": "boolean"}
        case "thresholds":
            schema = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        case "step":
            schema = {"anyOf": [NUMBER, {"type": "string", "pattern": f"^{NUMBER_TEXT}$"}]}
        case "texts":
            schema = {"type": "array", "items": {"type": "string"}, "minItems": 1}
        case _:
            schema = {"type": "string", **({"enum": [*switch.words]} if switch.words else {})}
    more = {} if switch.otherwise is None else {"default": switch.otherwise}
    return {**schema, "description": switch.summary, **more}


def _sort(analyser: Analyser, day: str) -> Node:
    """By a column of the day, under its names of all days."""
    names = [
        name
        for name in dict.fromkeys(one.name for one in analyser.columns)
        if (column := analyser.column_on(name, day)) and column.can_sort
    ]
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "name": {"enum": names},
            "type": {"enum": [*SORTS, None], "default": SORTS[1]},
        },
    }


def _responses(catalog: MindSporeCatalog, request: Request, day: str) -> Iterator[tuple[str, Node]]:
    if request.is_answered:
        schema = {"$ref": f"#/components/schemas/{request.body}"}
        damage = {
            "description": "Of how many places the files could not be read.",
            "schema": {"type": "integer", "minimum": 1},
        }
        yield (
            "200",
            {
                "description": "The answer.",
                "headers": {DAMAGE: damage},
                "content": {JSON: {"schema": schema}},
            },
        )
    refusals = refusals_of(catalog, request, day)
    for status in sorted({one.status for one in refusals}):
        texts = [f"{one.code}: {one.message}" for one in refusals if one.status == status]
        schema = {"$ref": f"#/components/schemas/{ERROR}"}
        content = {JSON: {"schema": schema}}
        yield str(status), {"description": "\n".join(texts), "content": content}


def _placed(node: Any) -> Any:
    """A schema whose definitions are components."""
    if isinstance(node, dict):
        changed = {key: _placed(value) for key, value in node.items()}
        if "$ref" in changed:
            name = str(changed["$ref"]).rpartition("/")[2]
            changed["$ref"] = f"#/components/schemas/{name}"
        return changed
    return [_placed(one) for one in node] if isinstance(node, list) else node
