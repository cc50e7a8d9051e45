"""The WebSocket API in memory: load once, then ask for the schemas of one generation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

from ascend_spec import loader
from ascend_spec.core.dialect import DIALECT, Node, NotInForce, compile_schema
from ascend_spec.model import Erratum

from .model import Command, ErrorCode, Event, Generation

FOLDER = "api"
LATEST = "upstream"


class InsightCatalog:
    """Commands, events and error codes. Use :func:`insight_catalog` to get the loaded one."""

    def __init__(self) -> None:
        self.generations: tuple[Generation, ...] = tuple(
            Generation(row["id"], row["summary"]) for row in _read("generations.yaml")
        )
        self.commands: Mapping[str, Command] = {
            row["command"]: Command(
                name=row["command"],
                module=row["module"],
                summary=row["summary"],
                params=row["params"].rpartition("/")[2],
                body=row["body"].rpartition("/")[2],
                blocks=tuple(row["blocks"]),
                since=row.get("since"),
            )
            for row in _read("commands.yaml")
        }
        self.events: Mapping[str, Event] = {
            row["event"]: Event(
                name=row["event"],
                module=row["module"],
                summary=row["summary"],
                body=row["body"].rpartition("/")[2],
                since=row.get("since"),
            )
            for row in _read("events.yaml")
        }
        self.errors: Mapping[str, ErrorCode] = {
            row["name"]: ErrorCode(row["code"], row["name"], row["message"])
            for row in _read("errors.yaml")
        }
        self._schemas: dict[tuple[str, str], Node] = {}

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Disagreements between the documents and the viewer, and its defects, by id."""
        return loader.load_errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def definitions(self) -> Mapping[str, Node]:
        """The ``$defs`` of all schema documents together, each name once."""
        return {
            name: node
            for document in DOCUMENTS
            for name, node in _read(f"{document}.schema.yaml")["$defs"].items()
        }

    def params_schema(self, command: str, generation: str = LATEST) -> Node:
        """JSON Schema 2020-12 of the parameters of a command."""
        return self.schema(self.commands[command].params, generation)

    def body_schema(self, command: str, generation: str = LATEST) -> Node:
        """JSON Schema 2020-12 of the body of a command's answer, where its result is true."""
        return self.schema(self.commands[command].body, generation)

    def event_schema(self, event: str, generation: str = LATEST) -> Node:
        """JSON Schema 2020-12 of the body of an event."""
        return self.schema(self.events[event].body, generation)

    def request_schema(self, generation: str = LATEST) -> Node:
        """JSON Schema 2020-12 of the message around parameters."""
        return self.schema("request", generation)

    def response_schema(self, generation: str = LATEST) -> Node:
        """JSON Schema 2020-12 of the message around the body of an answer."""
        return self.schema("response", generation)

    def event_message_schema(self, generation: str = LATEST) -> Node:
        """JSON Schema 2020-12 of the message around the body of an event."""
        return self.schema("event", generation)

    def schema(self, definition: str, generation: str = LATEST) -> Node:
        """One definition with all that it refers to, as it was in a generation.

        Raises ``KeyError`` for an unknown name, and for what the generation does not have.
        """
        key = definition, generation
        if key not in self._schemas:
            order = [known.id for known in self.generations]
            if generation not in order:
                raise KeyError(f"no generation {generation!r}; there are {', '.join(order)}")
            at = order.index(generation)

            def holds(node: Mapping[str, Any]) -> bool:
                since, until = node.get("since", order[0]), node.get("until")
                return order.index(since) <= at and (until is None or at < order.index(until))

            try:
                schema = compile_schema(self.definitions[definition], self.definitions, holds)
            except NotInForce:
                raise KeyError(f"{definition} is not part of generation {generation}") from None
            self._schemas[key] = {"$schema": DIALECT, **schema}
        return self._schemas[key]


DOCUMENTS = ("shared", "timeline", "source", "details", "global", "events")


def _read(name: str) -> Any:
    return loader.read_document(f"{FOLDER}/{name}")


@cache
def insight_catalog() -> InsightCatalog:
    """The packaged documents, loaded once per process."""
    return InsightCatalog()
