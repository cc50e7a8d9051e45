"""JSON documents next to the timelines: communication, its matrix, settings and metadata."""

from .catalog import DOCUMENTS as DOCUMENTS
from .catalog import DocumentCatalog as DocumentCatalog
