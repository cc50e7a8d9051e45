"""The first error of a document in one line: the place, what is there, what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_ref.cli.suggest import close_to

from .schema import ScenarioSchema
from .text import Document, Path, spell
from .units import meant

LONGEST = 60


def check(document: Document, schema: ScenarioSchema) -> None:
    """Raise the first error, by line, that the schema finds."""
    from jsonschema import Draft202012Validator

    errors = list(Draft202012Validator(schema.value).iter_errors(document.value))
    if errors:
        # A field whose value is wrong comes before the news that its kind does not read it.
        placed = [(_place(error, schema), error) for error in errors]
        path, first = min(
            placed, key=lambda one: (document.line(one[0]), _unread(one[1]), spell(one[0]))
        )
        raise document.error(path, _complaint(document, schema, path, first))


def _place(error: Any, schema: ScenarioSchema) -> Path:
    """Where the error is: at a key itself, where the key is wrong."""
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = schema.at(path)["properties"]
        return (*path, next(key for key in error.instance if key not in known))
    if error.validator == "required":
        return (*path, next(key for key in error.validator_value if key not in error.instance))
    return (*path, error.instance) if _unread(error) else path


def _unread(error: Any) -> bool:
    return "propertyNames" in error.absolute_schema_path


def found(value: object) -> str:
    """A value as a message shows it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = repr(value if len(value) <= LONGEST else f"{value[:LONGEST]}…")
        return f"the text {text}"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        text = f"[{', '.join(map(str, value))}]"
        return text if len(text) <= LONGEST else f"a list of {len(value)}"
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def expected(schema: Mapping[str, Any]) -> str:
    """What a schema asks for."""
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    optional = " or null" if "null" in kinds else ""
    if "enum" in schema:
        choices = ["null" if choice is None else str(choice) for choice in schema["enum"]]
        return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    if "integer" in kinds:
        unit = f" ({schema['x-unit']})" if "x-unit" in schema else ""
        return f"an integer from {schema['minimum']} to {schema['maximum']}{unit}{optional}"
    if "boolean" in kinds:
        return "true or false"
    if "string" in kinds:
        longest = f"a text of at most {schema.get('maxLength')} characters"
        return str(schema.get("x-form", longest))
    if "array" in kinds:
        return f"a list of {_size(schema)}{_items(schema)}{optional}"
    names = ", ".join(schema.get("properties", ()))
    return f"a mapping with {names}"


def _size(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if most is None:
        return ""
    if not least:
        return f"at most {most} "
    return f"{most} " if least == most else f"{least} to {most} "


def _items(schema: Mapping[str, Any]) -> str:
    different = "different " if schema.get("uniqueItems") else ""
    choices = schema["items"].get("enum")
    return f"{different}items" + (f" out of {', '.join(choices)}" if choices else "")


def _complaint(document: Document, schema: ScenarioSchema, path: Path, error: Any) -> str:
    if error.validator == "additionalProperties":
        return _misspelt(path, schema.at(path[:-1])["properties"])
    if _unread(error):
        return _superfluous(document, schema, path)
    asked = schema.at(path)
    if error.validator == "required":
        return f"{spell(path)} is missing; expected {expected(asked)}"
    return f"{spell(path)} is {found(error.instance)}; expected {expected(asked)}" + _hint(
        error, asked
    )


def _hint(error: Any, schema: Mapping[str, Any]) -> str:
    intended = meant(error.instance, schema) if "integer" in str(schema.get("type")) else None
    if intended is not None and error.instance != intended and "enum" not in schema:
        return f"; did you mean {intended}?"
    if isinstance(error.instance, int) and str(error.instance) in schema.get("enum", ()):
        return f"; did you mean the text '{error.instance}'?"
    if isinstance(error.instance, str) and "enum" in schema:
        close = close_to(error.instance, [str(one) for one in schema["enum"] if one is not None], 1)
        return f"; did you mean {close[0]}?" if close else ""
    if error.validator == "maximum" and "x-bound" in schema:
        return f" ({schema['x-bound']})"
    return ""


def _misspelt(path: Path, known: Mapping[str, Any]) -> str:
    name = str(path[-1])
    shown = spell(path if len(name) <= LONGEST else (*path[:-1], f"{name[:LONGEST]}…"))
    close = close_to(name, known, 1)
    if close:
        return f"{shown} is unknown; did you mean {close[0]}?"
    return f"{shown} is unknown; expected one of {', '.join(known)}"


def _superfluous(document: Document, schema: ScenarioSchema, path: Path) -> str:
    section = "fault" if path[0] == "faults" else str(path[0])
    around = document.value
    for part in path[:-1]:
        around = around[part]
    kind = around.get("kind", schema.at((*path[:-1], "kind")).get("default"))
    names = ", ".join(schema.read_by(section, kind))
    return f"{spell(path)} is not read by kind {kind}; expected only {names}"
