"""The JSON documents in memory: ask for the schema of one as a writer writes it."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from ascend_spec.core.dialect import DIALECT, Node, compile_schema
from ascend_spec.loader import read_document

FOLDER = "documents"
DOCUMENTS = ("communication", "communication_matrix", "profiler_info", "profiler_metadata")


def schema_of(name: str, writer: str) -> Node:
    """JSON Schema 2020-12 of one of :data:`DOCUMENTS` as a writer writes it.

    Nodes keep our annotations ``unit`` and ``erratum``; the erratum is about whatever fails at or
    below the node. Raises ``KeyError`` naming the known ones for an unknown document, or for a
    writer that does not write it.
    """
    return deepcopy(_schema(name, writer))


def writers_of(name: str) -> tuple[str, ...]:
    """The writers of a document; raises ``KeyError`` for an unknown one."""
    return tuple(source_of(name)["writers"])


def source_of(name: str) -> Any:
    """A document's schema as it is written down, for all writers together."""
    if name not in DOCUMENTS:
        raise KeyError(f"unknown document {name!r}; known: {', '.join(DOCUMENTS)}")
    return read_document(f"{FOLDER}/{name}.schema.yaml")


@cache
def _schema(name: str, writer: str) -> Node:
    if writer not in writers_of(name):
        known = ", ".join(writers_of(name))
        raise KeyError(f"{writer!r} does not write {name}; those who do: {known}")
    source = source_of(name)
    schema = compile_schema(
        source, source["$defs"], lambda node: writer in node.get("writers", (writer,))
    )
    return {"$schema": DIALECT, "$id": f"urn:ascend-ref:{name}:{writer}", **schema}
