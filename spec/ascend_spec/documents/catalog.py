"""The JSON documents in memory: ask for the schema of one as a writer writes it."""

from __future__ import annotations

from typing import Any

from ascend_spec.core import Folder
from ascend_spec.core.dialect import DIALECT, Node, compile_schema

FOLDER = "documents"
DOCUMENTS = ("communication", "communication_matrix", "profiler_info", "profiler_metadata")


class DocumentCatalog:
    """The schemas of :data:`DOCUMENTS`, all writers together; ``Spec.documents`` is the loaded one.

    Raises ``KeyError`` naming the known ones for an unknown document, or for a writer that does not
    write it.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def schema_of(self, name: str, writer: str) -> Node:
        """JSON Schema 2020-12 of a document as a writer writes it.

        Nodes keep our annotations ``unit`` and ``erratum``; the erratum is about whatever fails at
        or below the node.
        """
        source = self.source_of(name)
        writers = source["writers"]
        if writer not in writers:
            known = ", ".join(writers)
            raise KeyError(f"{writer!r} does not write {name}; those who do: {known}")
        schema = compile_schema(
            source, source["$defs"], lambda node: writer in node.get("writers", (writer,))
        )
        return {"$schema": DIALECT, "$id": f"urn:ascend-ref:{name}:{writer}", **schema}

    def writers_of(self, name: str) -> tuple[str, ...]:
        """The writers of a document."""
        return tuple(self.source_of(name)["writers"])

    def source_of(self, name: str) -> Any:
        """A document's schema as it is written down, for all writers together."""
        if name not in DOCUMENTS:
            raise KeyError(f"unknown document {name!r}; known: {', '.join(DOCUMENTS)}")
        return self.folder.read(f"{FOLDER}/{name}.schema.yaml")
