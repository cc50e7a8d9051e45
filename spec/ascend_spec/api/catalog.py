"""The WebSocket API in memory: load once, then ask for the schemas of one generation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import TypeVar

from ascend_spec.core import Axis, Erratum, Loader, bounds_of
from ascend_spec.core.dialect import DIALECT, Node, NotInForce, compile_schema
from ascend_spec.core.loader import part, without

from .model import Command, ErrorCode, Event, Generation

FOLDER = "api"
LATEST = "upstream"

Message = TypeVar("Message", Command, Event)


class ApiCatalog:
    """Commands, events and error codes; ``Spec.api`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents
        self.generations: tuple[Generation, ...] = tuple(
            documents.by("id", Generation, f"{FOLDER}/generations.yaml").values()
        )
        self.axis = Axis("generation", [one.id for one in self.generations])
        self.commands: Mapping[str, Command] = self._messages(Command, "command", "params", "body")
        self.events: Mapping[str, Event] = self._messages(Event, "event", "body")
        self.errors: Mapping[str, ErrorCode] = documents.by(
            "name", ErrorCode, f"{FOLDER}/errors.yaml"
        )

    def _messages(self, kind: type[Message], key: str, *references: str) -> dict[str, Message]:
        """Commands or events by name; their ``references`` become names of definitions."""
        name = f"{FOLDER}/{key}s.yaml"
        return {
            message: self.documents.fact(
                kind,
                without(row, key),
                place,
                name=message,
                **{one: part(row, one, str, place).rpartition("/")[2] for one in references},
            )
            for message, row, place in self.documents.rows(name, key)
        }

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Disagreements between the documents and the viewer, and its defects, by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def definitions(self) -> Mapping[str, Node]:
        """The ``$defs`` of all schema documents together, each name once."""
        read = self.documents.folder.read
        return {
            name: node
            for document in DOCUMENTS
            for name, node in read(f"{FOLDER}/{document}.schema.yaml")["$defs"].items()
        }

    @cache  # noqa: B019 - the catalog lives as long as the process
    def schema(self, definition: str, generation: str = LATEST) -> Node:
        """One definition with all that it refers to, as it was in a generation.

        Raises ``KeyError`` for an unknown name, and for what the generation does not have.
        """
        self.axis.number(generation)
        try:
            schema = compile_schema(
                self.definitions[definition],
                self.definitions,
                lambda node: self.axis.in_force(bounds_of(node), generation),
            )
        except NotInForce:
            raise KeyError(f"{definition} is not part of generation {generation}") from None
        return {"$schema": DIALECT, **schema}


DOCUMENTS = ("shared", "timeline", "source", "details", "global", "events")
