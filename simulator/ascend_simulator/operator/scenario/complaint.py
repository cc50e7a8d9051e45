"""What the schema has against a document, told in one line: the place, what is there, what not."""

from __future__ import annotations

from typing import Any

from ascend_ref.cli.suggest import close_to

from ...scenario.complaint import LONGEST, expected, found
from ...scenario.document import Document, Path, spell
from ...scenario.units import meant
from .schema import kernel_schema, schema_at


def check(document: Document) -> None:
    """Raise the first error, by line, that the schema finds."""
    from jsonschema import Draft202012Validator

    errors = list(Draft202012Validator(kernel_schema()).iter_errors(document.value))
    if errors:
        first = min(errors, key=lambda error: (document.line(_place(error)), spell(_place(error))))
        raise document.error(_place(first), _told(_place(first), first))


def _place(error: Any) -> Path:
    """Where the error is: at a key itself, where the key is wrong."""
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = schema_at(path)["properties"]
        return (*path, next(key for key in error.instance if key not in known))
    return path


def _told(path: Path, error: Any) -> str:
    if error.validator == "additionalProperties":
        return _misspelt(path)
    schema = schema_at(path)
    return f"{spell(path)} is {found(error.instance)}; expected {expected(schema)}" + _hint(
        error.instance, schema
    )


def _hint(instance: object, schema: Any) -> str:
    intended = meant(instance, schema) if "integer" in str(schema.get("type")) else None
    if intended is not None and instance != intended and "enum" not in schema:
        return f"; did you mean {intended}?"
    if isinstance(instance, str) and "enum" in schema:
        close = close_to(instance, [str(one) for one in schema["enum"]], 1)
        return f"; did you mean {close[0]}?" if close else ""
    return ""


def _misspelt(path: Path) -> str:
    known = schema_at(path[:-1])["properties"]
    name = str(path[-1])
    shown = spell(path if len(name) <= LONGEST else (*path[:-1], f"{name[:LONGEST]}…"))
    close = close_to(name, known, 1)
    if close:
        return f"{shown} is unknown; did you mean {close[0]}?"
    return f"{shown} is unknown; expected one of {', '.join(known)}"
