"""Whether messages have the form that their JSON Schemas ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

import jsonschema_rs

from ascend_spec import per_spec
from ascend_spec.api import erratum_at, insight_catalog

from .places import Tokens, shown

MOST = 2_000
"""Departures of one message that are looked at."""

LISTED = 12
"""Values of an enumeration that are spelled out."""

_DESCENTS = ("properties", "items", "prefixItems", "additionalProperties")

Steps: TypeAlias = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Departure:
    """A place at which a message has not the form of its schema.

    ``tokens`` lead to the value, or to where a missing one would stand. ``erratum`` is noted at
    that very place of the schema. ``is_unknown_key``: the schema only does not describe the key.
    """

    tokens: Tokens
    expected: str
    actual: str
    erratum: str | None
    is_unknown_key: bool = False


class Form:
    """A schema of the API, compiled."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._validator = jsonschema_rs.Draft202012Validator(schema)

    @cached_property
    def _alternatives(self) -> list[Form]:
        return [Form({**self._schema, "anyOf": [one]}) for one in self._schema.get("anyOf", ())]

    def like(self, example: Any) -> Form:
        """Of a schema of alternatives the one that the example fits, so that it alone is asked
        for; else the schema itself."""
        if len(self._alternatives) < 2:
            return self
        fitting = (one for one in self._alternatives if one._validator.is_valid(example))
        return next(fitting, self)

    def departures(self, value: Any, before: Tokens = ()) -> list[Departure]:
        """What is wrong with a value that stands at ``before`` in its message; at most
        :data:`MOST`."""
        if self._validator.is_valid(value):
            return []
        errors = self._validator.iter_errors(value)
        found = (one for error in errors for one in self._of_error(error, before))
        return list(islice(found, MOST))

    def _of_error(
        self, error: jsonschema_rs.ValidationError, before: Tokens
    ) -> Iterator[Departure]:
        at = (*before, *error.instance_path)
        told = error.kind.as_dict()
        keyword = error.evaluation_path[-1]
        erratum = _own_erratum(self._schema, error.evaluation_path)
        if keyword == "additionalProperties":
            # Of an object that may have no keys at all, the error is at the key itself.
            unexpected: list[Tokens] = [(key,) for key in told.get("unexpected", ())]
            for below in unexpected or [()]:
                yield Departure((*at, *below), "", "present", erratum, True)
        elif keyword == "required":
            missing = told["property"]
            yield Departure((*at, missing), f"the key {missing}", "nothing", erratum)
        elif keyword == "anyOf":
            yield from self._of_alternatives(error, before, erratum)
        else:
            yield Departure(at, _expectation(str(keyword), told), shown(error.instance), erratum)

    def _of_alternatives(
        self, error: jsonschema_rs.ValidationError, before: Tokens, erratum: str | None
    ) -> Iterator[Departure]:
        """The errors of the closest alternative; a single one where none suits the value itself."""
        depth = len(error.instance_path)
        alternatives: list[Any] = error.kind.as_dict()["context"]
        closest = min(
            alternatives,
            key=lambda errors: (
                sum(len(one.instance_path) == depth for one in errors),
                len(errors),
            ),
        )
        if len(alternatives) == 1 or all(len(one.instance_path) > depth for one in closest):
            for one in closest:
                yield from self._of_error(one, before)
            return
        wanted = [next(self._of_error(errors[0], before)).expected for errors in alternatives]
        yield Departure(
            (*before, *error.instance_path),
            " or ".join(dict.fromkeys(wanted)),
            shown(error.instance),
            erratum,
        )


def _own_erratum(schema: dict[str, Any], path: Steps) -> str | None:
    """The erratum of the failing place itself, not one of what it lies in."""
    found = erratum_at(schema, list(path))
    descents = [place for place, step in enumerate(path) if step in _DESCENTS]
    above = erratum_at(schema, list(path[: descents[-1]])) if descents else None
    return found if found != above else None


def _expectation(keyword: str, told: dict[str, Any]) -> str:
    if keyword == "type":
        return " or ".join(told["types"])
    if keyword in {"const", "enum"}:
        values = told.get("options", [told.get("expected_value")])
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in values[:LISTED])
    phrase = _PHRASES.get(keyword)
    return phrase.format(told.get("limit", told.get("pattern"))) if phrase else f"{keyword} to hold"


_PHRASES = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "minItems": "at least {} elements",
    "maxItems": "at most {} elements",
    "items": "no further elements",
    "pattern": "a text that matches {}",
}


@per_spec
def body_form(command: str, generation: str) -> Form:
    """The form of the body of a command. Raises ``KeyError`` where the generation has none."""
    return Form(insight_catalog().body_schema(command, generation))


@per_spec
def response_form(generation: str) -> Form:
    """The form of the message around a body."""
    return Form(insight_catalog().response_schema(generation))


@per_spec
def event_form(event: str | None) -> Form:
    """The form of an event's body; of the message around any for ``None``."""
    known = insight_catalog()
    return Form(known.event_message_schema() if event is None else known.event_schema(event))
