"""JSON documents next to the timelines: communication, its matrix, settings and metadata."""

from .catalog import DOCUMENTS, DocumentCatalog

__all__ = ["DOCUMENTS", "DocumentCatalog"]
