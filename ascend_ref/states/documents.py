"""JSON documents as a writer writes them."""

from __future__ import annotations

from ascend_spec import Spec
from ascend_spec.documents import DOCUMENTS

from .element import Element
from .facts import on_day
from .json_nodes import json_elements


def documents(spec: Spec, at: str) -> Element:
    """The JSON documents of a writer, or of one on a day, key by key."""
    catalog = spec.documents
    writer, _ = on_day(spec, at)
    children = (
        Element(
            "document",
            name,
            name,
            children=json_elements("document", name, catalog.schema_of(name, writer)),
            shown="a document in JSON",
        )
        for name in DOCUMENTS
        if writer in catalog.writers_of(name)
    )
    return Element("writer", writer, "documents", children=tuple(children))
