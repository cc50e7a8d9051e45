"""The forms that messages of the API have, by command, event and generation."""

from __future__ import annotations

from itertools import islice
from typing import Any

from ascend_spec import api_catalog, per_spec

from ...engine.schema_judge import Departure, SchemaJudge, Tokens

MOST = 2_000
"""Departures of one message that are looked at."""


def departures_in(form: SchemaJudge, value: Any, before: Tokens = ()) -> list[Departure]:
    """What is wrong with a value that stands at ``before`` in its message; at most :data:`MOST`."""
    return list(islice(form.departures(value, before), MOST))


@per_spec
def body_form(command: str, generation: str) -> SchemaJudge:
    """The form of the body of a command. Raises ``KeyError`` where the generation has none."""
    return SchemaJudge(api_catalog().schema(api_catalog().commands[command].body, generation))


@per_spec
def response_form(generation: str) -> SchemaJudge:
    """The form of the message around a body."""
    return SchemaJudge(api_catalog().schema("response", generation))


@per_spec
def event_form(event: str | None) -> SchemaJudge:
    """The form of an event's body; of the message around any for ``None``."""
    known = api_catalog()
    schema = known.schema("event") if event is None else known.schema(known.events[event].body)
    return SchemaJudge(schema)
