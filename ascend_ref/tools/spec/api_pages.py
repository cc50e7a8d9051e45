"""The API as Markdown pages: commands, events, error codes, envelopes, in both generations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial

from ascend_ref.markdown import Style, code, commas, page, table
from ascend_spec import api_catalog, per_spec
from ascend_spec.api import ApiCatalog, Command, ErrorCode, Event, Generation
from ascend_spec.core.dialect import Node, inlined

from .pages import citations, hexed, in_force
from .schema_keys import keys_table
from .subject import Subject, things

ENVELOPES: Mapping[str, str] = {
    "request": "What surrounds the parameters of every command.",
    "response": "What surrounds the body of every answer.",
    "event-message": "What surrounds the body of every event.",
}
DEFINITIONS = {"event-message": "event"}


def command_section(command: Command, style: Style) -> str:
    """One command: its parameters, the body of its answer, and the errors in its place."""
    api, inner = api_catalog(), style.below()
    rows = (
        (style.link("error", str(one.code)), one.name, style.prose(one.message))
        for one in api.errors.values()
        if _answers(one, command)
    )
    return style.page(
        command.name,
        command.summary,
        ("Module", code(command.module)),
        ("In force", in_force(command.since, None)),
        ("Answered from", style.links("block", map(hexed, command.blocks))),
        ("Message", style.links("envelope", _AROUND)),
        ("Source", citations(_source(api, command.params), style)),
        inner.heading("Parameters"),
        _keys(api, command.params, style),
        inner.heading("Body of the answer"),
        _keys(api, command.body, style),
        inner.heading("Errors"),
        table(("code", "name", "meaning"), rows),
    )


def event_section(event: Event, style: Style) -> str:
    """One event with its body."""
    return style.page(
        event.name,
        event.summary,
        ("Module", code(event.module)),
        ("In force", in_force(event.since, None)),
        ("Message", style.link("envelope", "event-message")),
        style.below().heading("Body"),
        _keys(api_catalog(), event.body, style),
    )


def error_section(error: ErrorCode, style: Style) -> str:
    """One error code and the commands that are answered with it."""
    commands = (one.name for one in api_catalog().commands.values() if _answers(error, one))
    return style.page(
        error.code,
        error.message,
        ("Name", error.name),
        ("Shown to the user", "yes" if error.code < SHOWN_BELOW else "no"),
        ("Answers", style.links("command", commands)),
        ("Source", citations(error.source, style)),
    )


def _envelope_section(name: str, style: Style) -> str:
    """The members that all messages of one kind have."""
    api = api_catalog()
    definition = DEFINITIONS.get(name, name)
    return page(
        style.heading(name),
        ENVELOPES[name],
        style.prose(str(api.definitions[definition]["description"])),
        ("Source", citations(_source(api, definition), style)),
        _keys(api, definition, style),
    )


def generation_section(generation: Generation, style: Style) -> str:
    """One state of the API, and the commands and events that came with it."""
    api = api_catalog()
    oldest = api.generations[0].id
    commands = (one.name for one in api.commands.values() if (one.since or oldest) == generation.id)
    events = (one.name for one in api.events.values() if (one.since or oldest) == generation.id)
    return style.page(
        generation.id,
        generation.summary,
        ("Commands", style.links("command", commands)),
        ("Events", style.links("event", events)),
    )


def api_subjects() -> Iterator[Subject]:
    """Commands, events, error codes, envelopes and generations."""
    api = api_catalog()
    yield from things(
        "command",
        api.commands,
        "api/commands.md#{anchor}",
        command_section,
        fact=lambda command: (
            lambda: {
                "command": command,
                "parameters": api.schema(command.params),
                "body": api.schema(command.body),
            }
        ),
        cells=lambda command: {
            "module": command.module,
            "blocks": commas(map(hexed, command.blocks)),
            "since": command.since or "",
        },
    )
    yield from things(
        "event",
        api.events,
        "api/events.md#{anchor}",
        event_section,
        fact=lambda event: lambda: {"event": event, "body": api.schema(event.body)},
        cells=lambda event: {"module": event.module, "since": event.since or ""},
    )
    yield from things(
        "error",
        {error.code: error for error in api.errors.values()},
        "api/errors.md#{anchor}",
        error_section,
        summary=lambda error: error.message,
        also=lambda error: (error.name,),
        cells=lambda error: {"name": error.name},
    )
    yield from things(
        "envelope",
        {name: name for name in ENVELOPES},
        "api/index.md#{anchor}",
        _envelope_section,
        summary=lambda name: ENVELOPES[name],
        fact=lambda name: partial(api.schema, DEFINITIONS.get(name, name)),
    )
    generations = {one.id: one for one in api.generations}
    yield from things("generation", generations, "api/index.md#{anchor}", generation_section)


def message_place(style: Style, place: str) -> str:
    """A place of an erratum (``definition.member``), linked to a message that holds it."""
    definition = place.partition(".")[0]
    if definition in ("message", *DEFINITIONS.values(), *ENVELOPES):
        name = next((one for one in ENVELOPES if one.startswith(definition)), "request")
        return style.link("envelope", name, place)
    owner = _owners().get(definition)
    return style.link(*owner, place) if owner else code(place)


@per_spec
def _owners() -> Mapping[str, tuple[str, str]]:
    """By definition the kind and name of the first message that holds it."""
    api = api_catalog()
    found: dict[str, tuple[str, str]] = {}
    both: tuple[tuple[str, Mapping[str, Command | Event]], ...] = (
        ("command", api.commands),
        ("event", api.events),
    )
    for kind, messages in both:
        for message in messages.values():
            for definition in filter(None, (getattr(message, "params", None), message.body)):
                bundle = api.schema(definition)
                for name in (definition, *bundle.get("$defs", ())):
                    found.setdefault(name, (kind, message.name))
    return found


SHOWN_BELOW = 9000
_AROUND = ("request", "response")


def _answers(error: ErrorCode, command: Command) -> bool:
    return any(fnmatchcase(command.name, pattern) for pattern in error.answers)


def _source(api: ApiCatalog, definition: str) -> tuple[str, ...]:
    return tuple(api.definitions[definition].get("source", ()))


def _keys(api: ApiCatalog, definition: str, style: Style) -> str:
    """The members of a definition, over the generations that have it."""
    known: dict[str, Node] = {}
    for generation in api.generations:
        try:
            known[generation.id] = inlined(api.schema(definition, generation.id))
        except KeyError:  # came later
            continue
    rows = keys_table(known, style)
    return rows if rows.count("\n") > 1 else "None."
