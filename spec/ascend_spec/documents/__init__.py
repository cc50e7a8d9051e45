"""JSON documents beside the timelines: communication, its matrix, what the profiler was told."""

from .catalog import DOCUMENTS, schema_of, source_of, writers_of

__all__ = ["DOCUMENTS", "schema_of", "source_of", "writers_of"]
