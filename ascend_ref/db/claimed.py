"""The schema that a database claims: a revision's, less what its writer never writes."""

from __future__ import annotations

from pathlib import Path

from ascend_spec import Schema, catalog, layout_catalog
from ascend_spec.db.model import Carrier, Reading, Revision

from .detect import Identity
from .introspect import PhysicalSchema


def claimed_schema(
    physical: PhysicalSchema,
    carrier: Carrier,
    revision: str,
    path: Path | None,
    reading: Reading = "observed",
) -> Schema:
    """The schema of a revision as the writer of this file fills it.

    MindSpore keeps an analysis without what the adapter of torch_npu adds, and torch_npu alone
    writes where CANN's profiler did not run. Raises ``KeyError`` for an unknown revision.
    """
    schema = catalog().at(revision, carrier, reading)
    of_mindspore = path and path.name == layout_catalog().file("mindspore", "analysis")
    if of_mindspore and _lacks_adapter(physical, schema):
        schema = schema.without_adapter
    alone = catalog().without_device_data(schema)
    if carrier == "pytorch" and not _has_others(physical, schema, alone):
        schema = alone
    return schema


def claimed_revision(identity: Identity, beside: Revision | None) -> Revision:
    """The revision found, or that of the profiler database beside it if it fits equally well.

    An analysis.db carries no version and changed only once, so it alone does not show its revision.
    """
    nearest = identity.candidates[0].distance
    if any(one.revision == beside and one.distance == nearest for one in identity.candidates):
        return beside or identity.revision
    return identity.revision


def of_same_writer(schema: Schema, revision: str) -> Schema:
    """Another revision as the writer of a :func:`claimed_schema` would have filled it."""
    other = catalog().at(revision, schema.carrier, schema.reading)
    if not schema.adapter:
        other = other.without_adapter
    return other if schema.device_data else catalog().without_device_data(other)


def _lacks_adapter(physical: PhysicalSchema, schema: Schema) -> bool:
    """Whether nothing of what the adapter of torch_npu alone writes is in the file."""
    tables = schema.tables.values()
    columns = [(table, one) for table in tables for one in table.columns.values()]
    return not any(one.adapter_only and physical.readable(one.name) for one in tables) and not any(
        one.adapter_only and physical.readable(table.name, one.name) for table, one in columns
    )


def _has_others(physical: PhysicalSchema, schema: Schema, alone: Schema) -> bool:
    """Whether tables stand in the file that CANN's profiler alone writes (db-schema.md 1.1)."""
    return any(physical.readable(name) for name in schema.tables.keys() - alone.tables.keys())
