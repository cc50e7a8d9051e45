"""The WebSocket API at a generation: commands, events, envelopes, errors."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_spec import Spec
from ascend_spec.api import ApiCatalog, Command, Event
from ascend_spec.core import bounds_of

from .element import Element
from .facts import own_facts
from .json_nodes import json_elements

ENVELOPES = {"request": "request", "response": "response", "event-message": "event"}
"""What surrounds messages, and the definition of each."""


def interface(spec: Spec, generation: str) -> Element:
    """What a server of a generation is asked, answers and reports."""
    api = spec.api
    messages = (
        _message(api, kind, one, generation)
        for kind, every in (("command", api.commands), ("event", api.events))
        for one in every.values()
        if api.axis.in_force(one, generation)
    )
    envelopes = (
        Element("envelope", name, name, children=_json(api, "envelope", name, of, generation))
        for name, of in ENVELOPES.items()
        if api.axis.in_force(bounds_of(api.definitions[of]), generation)
    )
    errors = (
        Element(
            "error",
            str(one.code),
            str(one.code),
            own_facts(one, without=("code", "name")),
            label=one.name,
            shown=one.name,
        )
        for one in api.errors.values()
    )
    return Element("generation", generation, "api", children=(*messages, *envelopes, *errors))


def _message(api: ApiCatalog, kind: str, message: Command | Event, generation: str) -> Element:
    parts: Iterator[Element] = (
        Element(
            kind,
            message.name,
            which,
            children=_json(api, kind, message.name, definition, generation, which),
            part="message",
            place=which,
        )
        for which, definition in (
            ("parameters", getattr(message, "params", None)),
            ("body", message.body),
        )
        if definition is not None
    )
    facts = own_facts(message, without=("name", "params", "body"))
    return Element(kind, message.name, message.name, facts, tuple(parts), shown=message.summary)


def _json(
    api: ApiCatalog, kind: str, name: str, definition: str, generation: str, which: str = ""
) -> tuple[Element, ...]:
    part, within = ("parameter" if which == "parameters" else "key"), (f"/{which}" if which else "")
    return json_elements(kind, name, api.schema(definition, generation), part=part, within=within)
