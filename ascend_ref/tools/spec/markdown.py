"""The schema of a database as one Markdown document."""

from __future__ import annotations

from ascend_ref.markdown import RENDERED, code, page, table
from ascend_spec import Schema
from ascend_spec.db.model import Table

from .pages import PRESENCE, column_table


def export_markdown(schema: Schema) -> str:
    """A section per table with its columns, and a section per enum with its members."""
    return page(
        f"# {schema.carrier} database, {schema.revision.id}",
        RENDERED.prose(schema.revision.summary),
        f"SCHEMA_VERSION {schema.revision.schema_version}, {schema.reading} reading.",
        *(
            _section(schema, subject)
            for subject in schema.tables.values()
            if subject.name not in schema.enums
        ),
    ) + "".join(
        "\n" + _members(schema, subject)
        for subject in schema.tables.values()
        if subject.name in schema.enums
    )


def _section(schema: Schema, subject: Table) -> str:
    indexes = "; ".join(f"{name} ({', '.join(over)})" for name, over in subject.indexes.items())
    return page(
        f"## {subject.name}",
        RENDERED.prose(subject.summary),
        f"Present: {PRESENCE[subject.carriers[schema.carrier]]}.",
        column_table(subject.columns.values(), RENDERED),
        f"Indexes: {indexes}." if indexes else "",
    ).rstrip("\n")


def _members(schema: Schema, subject: Table) -> str:
    rows = (
        (str(identifier), code(name))
        for identifier, name in sorted(schema.enums[subject.name].items())
    )
    return page(f"## {subject.name}", RENDERED.prose(subject.summary), table(("id", "name"), rows))
