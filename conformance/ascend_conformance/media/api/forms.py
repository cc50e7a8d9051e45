"""The forms that messages of the API have, by command, event and generation.

Bodies of the older generation are made from those of the newest. The two schemas show what became
of a member: members that the older one does not describe are left out, and where it does not know
``compare``, the value of that member takes the place of the object around it (A8). Renamed members
are listed here (A6).
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from ascend_spec import api_catalog, per_spec
from ascend_spec.core.dialect import Node, inlined

from ...engine.schema_judge import Departure, SchemaJudge, Tokens

MOST = 2_000
"""Departures of one message that are looked at."""

RENAMED = {
    "source/api/line": {"Instruction Executed": "Instructions Executed", "Cycle": "Cycles"},
}
"""New names of members by command, each with its older one."""

WRAPPED = "compare"


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


def in_older_form(command: str, body: dict[str, Any], generation: str) -> dict[str, Any]:
    """The body of an answer as a generation has it. Raises ``KeyError`` where it has none."""
    known = api_catalog()
    schema = inlined(known.schema(known.commands[command].body, generation))
    found: dict[str, Any] = _converted(body, schema, RENAMED.get(command, {}))
    return found


def _converted(value: Any, node: Node, renamed: dict[str, str]) -> Any:
    if isinstance(value, list):
        inner = node.get("items")
        if not isinstance(inner, dict):
            return value
        return [_converted(element, inner, renamed) for element in value]
    described = node.get("properties")
    if not isinstance(value, dict) or described is None:
        return value
    if WRAPPED in value and WRAPPED not in described:
        value = value[WRAPPED]
    named = {renamed.get(key, key): member for key, member in value.items()}
    return {
        key: _converted(member, described[key], renamed)
        for key, member in named.items()
        if key in described
    }
