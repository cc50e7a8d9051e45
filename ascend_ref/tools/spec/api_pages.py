"""The API as Markdown pages: commands, events, error codes, envelopes, in both generations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial

from ascend_ref.markdown import PLAIN, Kind, Style, anchor, code, facts, page, table
from ascend_spec import Catalog, api_catalog, per_spec
from ascend_spec.api import ApiCatalog, Command, ErrorCode, Event, Generation
from ascend_spec.core.dialect import Node, inlined

from .pages import citations
from .schema_keys import keys_table
from .subject import Subject, headed

ENVELOPES: Mapping[str, str] = {
    "request": "What surrounds the parameters of every command.",
    "response": "What surrounds the body of every answer.",
    "event-message": "What surrounds the body of every event.",
}
DEFINITIONS = {"event-message": "event"}


def command_section(
    catalog: Catalog, command: Command, style: Style = PLAIN, level: int = 1
) -> str:
    """One command: its parameters, the body of its answer, and the errors in its place."""
    api = api_catalog()
    inner = "#" * (level + 1)
    errors = [one for one in api.errors.values() if _answers(one, command)]
    blocks = (style.link("block", f"0x{one:02X}") for one in command.blocks)
    return page(
        f"{'#' * level} {command.name}",
        style.prose(command.summary),
        facts(
            ("Module", code(command.module)),
            ("In force", f"from {command.since}" if command.since else ""),
            ("Answered from", ", ".join(blocks)),
            ("Message", style.links("envelope", _AROUND)),
            ("Source", citations(catalog, _source(api, command.params), style)),
        ),
        f"{inner} Parameters",
        _keys(api, command.params, style),
        f"{inner} Body of the answer",
        _keys(api, command.body, style),
        f"{inner} Errors",
        table(
            ("code", "name", "meaning"),
            (
                (style.link("error", str(one.code)), one.name, style.prose(one.message))
                for one in errors
            ),
        ),
    )


def event_section(event: Event, style: Style = PLAIN, level: int = 1) -> str:
    """One event with its body."""
    return page(
        f"{'#' * level} {event.name}",
        style.prose(event.summary),
        facts(
            ("Module", code(event.module)),
            ("In force", f"from {event.since}" if event.since else ""),
            ("Message", style.link("envelope", "event-message")),
        ),
        f"{'#' * (level + 1)} Body",
        _keys(api_catalog(), event.body, style),
    )


def error_section(catalog: Catalog, error: ErrorCode, style: Style = PLAIN, level: int = 1) -> str:
    """One error code and the commands that are answered with it."""
    commands = [one for one in api_catalog().commands.values() if _answers(error, one)]
    return page(
        f"{'#' * level} {error.code}",
        style.prose(error.message),
        facts(
            ("Name", error.name),
            ("Shown to the user", "yes" if error.code < SHOWN_BELOW else "no"),
            ("Answers", ", ".join(style.link("command", one.name) for one in commands)),
            ("Source", citations(catalog, error.source, style)),
        ),
    )


def envelope_section(catalog: Catalog, name: str, style: Style = PLAIN, level: int = 1) -> str:
    """The members that all messages of one kind have."""
    api = api_catalog()
    definition = DEFINITIONS.get(name, name)
    return page(
        f"{'#' * level} {name}",
        ENVELOPES[name],
        style.prose(str(api.definitions[definition]["description"])),
        facts(
            ("Source", citations(catalog, _source(api, definition), style)),
        ),
        _keys(api, definition, style),
    )


def generation_section(generation: Generation, style: Style = PLAIN, level: int = 1) -> str:
    """One state of the API, and the commands and events that came with it."""
    api = api_catalog()
    oldest = api.generations[0].id
    commands = [one.name for one in api.commands.values() if (one.since or oldest) == generation.id]
    events = [one.name for one in api.events.values() if (one.since or oldest) == generation.id]
    return page(
        f"{'#' * level} {generation.id}",
        style.prose(generation.summary),
        facts(
            ("Commands", style.links("command", commands)),
            ("Events", style.links("event", events)),
        ),
    )


def api_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Commands, events, error codes, envelopes and generations."""
    api = api_catalog()
    for command in api.commands.values():
        yield Subject(
            kind="command",
            name=command.name,
            summary=command.summary,
            page=f"api/commands.md#{anchor(command.name)}",
            section=partial(command_section, catalog, command),
            fact=partial(_command_fact, api, command),
            cells={
                "module": command.module,
                "blocks": ", ".join(f"0x{one:02X}" for one in command.blocks),
                "since": command.since or "",
            },
        )
    for event in api.events.values():
        yield Subject(
            kind="event",
            name=event.name,
            summary=event.summary,
            page=f"api/events.md#{anchor(event.name)}",
            section=partial(event_section, event),
            fact=partial(_event_fact, api, event),
            cells={"module": event.module, "since": event.since or ""},
        )
    for error in api.errors.values():
        yield Subject(
            kind="error",
            name=str(error.code),
            summary=error.message,
            page=f"api/errors.md#{error.code}",
            section=partial(error_section, catalog, error),
            fact=error,
            also=(error.name,),
            cells={"name": error.name},
        )
    for name, summary in ENVELOPES.items():
        yield Subject(
            kind="envelope",
            name=name,
            summary=summary,
            page=f"api/index.md#{anchor(name)}",
            section=partial(envelope_section, catalog, name),
            fact=partial(api.schema, DEFINITIONS.get(name, name)),
        )
    yield from headed(
        "generation", {one.id: one for one in api.generations}, "api/index.md", generation_section
    )


def _command_fact(api: ApiCatalog, command: Command) -> dict[str, object]:
    return {
        "command": command,
        "parameters": api.params_schema(command.name),
        "body": api.body_schema(command.name),
    }


def _event_fact(api: ApiCatalog, event: Event) -> dict[str, object]:
    return {"event": event, "body": api.event_schema(event.name)}


def message_place(style: Style, place: str) -> str:
    """A place of an erratum (``definition.member``), linked to a message that holds it."""
    definition = place.partition(".")[0]
    if definition in ("message", *DEFINITIONS.values(), *ENVELOPES):
        name = next((one for one in ENVELOPES if one.startswith(definition)), "request")
        return style.link("envelope", name, place)
    owner = _owners().get(definition)
    return style.link(*owner, place) if owner else code(place)


@per_spec
def _owners() -> Mapping[str, tuple[Kind, str]]:
    """By definition the kind and name of the first message that holds it."""
    api = api_catalog()
    found: dict[str, tuple[Kind, str]] = {}
    both: tuple[tuple[Kind, Mapping[str, Command | Event]], ...] = (
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
