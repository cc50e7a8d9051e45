"""What the graph engine inserts into graphs for a training trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ascend_spec.core import Grade, Loader
from ascend_spec.db.model import Reading

Place = Literal["before", "after"]
Emitter = Literal["host", "compiler", "hybrid", "program", "framework"]
NameOf = Literal["type", "original-type", "node", "node-attribute", "graph-attribute"]
ExecutorName = Literal["static", "queues", "hybrid", "v2"]


@dataclass(frozen=True, slots=True)
class LogId:
    """A number that marks a point.

    ``value``: of the first operator; each further one has ``step`` more. ``place``: of the task
    that is inserted, ``None`` where none is.
    """

    log_id: str
    tag: str
    emitter: Emitter
    summary: str
    source: tuple[str, ...]
    grade: Grade
    value: int = 0
    plus: int = 0
    step: int | None = None
    place: Place | None = None
    notify: bool = False
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphName:
    """A name by which nodes, graphs or attributes are known, and what it is to the insertion."""

    name: str
    of: NameOf
    roles: tuple[str, ...]
    summary: str
    source: tuple[str, ...]
    grade: Grade
    readings: tuple[Reading, ...] = ("observed", "documented")
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Executor:
    """What runs inserted tasks. ``numbers``: first and last of those that it notes."""

    executor: ExecutorName
    of: Literal["static", "dynamic"]
    form: Literal["task", "node", "attribute"]
    numbers: tuple[tuple[int, int], ...]
    summary: str
    source: tuple[str, ...]
    grade: Grade
    errata: tuple[str, ...] = ()

    def notes(self, number: int) -> bool:
        """Whether the executor notes a point of this number."""
        return any(first <= number <= last for first, last in self.numbers)


@dataclass(frozen=True, slots=True)
class InsertionStep:
    """What takes part in the insertion. ``does``: in its order; ``value``: of a type of tasks."""

    step: str
    kind: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    does: tuple[str, ...] = ()
    value: int | None = None
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageField:
    """A field of a message; ``type``: a scalar of Protocol Buffers, or a message."""

    number: int
    name: str
    type: str
    repeated: bool = False
    map: bool = False


@dataclass(frozen=True, slots=True)
class GraphMessage:
    """A message of a dump of a graph; ``within``: the message in which it is declared."""

    message: str
    summary: str
    fields: tuple[MessageField, ...]
    source: tuple[str, ...]
    grade: Grade
    within: str | None = None
    errata: tuple[str, ...] = ()


def load_log_ids(documents: Loader, tags: Mapping[str, int], file: str) -> dict[str, LogId]:
    """Points by name. ``tags``: numbers of the values step_tags of raw files."""
    return {
        name: documents.fact(LogId, row, place, value=tags[row["tag"]] + row.get("plus", 0))
        for name, row, place in documents.rows(file, "log_id")
    }


def load_executors(documents: Loader, file: str) -> dict[str, Executor]:
    """Executors by name."""
    return {
        name: documents.fact(
            Executor, row, place, numbers=tuple((one[0], one[1]) for one in row["numbers"])
        )
        for name, row, place in documents.rows(file, "executor")
    }


def load_messages(documents: Loader, file: str) -> dict[str, GraphMessage]:
    """Messages of dumps by name."""
    return {
        name: documents.fact(
            GraphMessage, row, place, fields=tuple(MessageField(**one) for one in row["fields"])
        )
        for name, row, place in documents.rows(file, "message")
    }
