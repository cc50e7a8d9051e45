"""The schema of a database as one Markdown document."""

from __future__ import annotations

from ascend_ref.markdown import RENDERED, code, page, table
from ascend_spec import Schema

from .pages import table_page


def export_markdown(schema: Schema) -> str:
    """A section per table, as its page has it, and a section per enum with its members."""
    inner = RENDERED.below()
    tables = [one for name, one in schema.tables.items() if name not in schema.enums]
    return page(
        RENDERED.heading(f"{schema.carrier} database, {schema.revision.id}"),
        RENDERED.prose(schema.revision.summary),
        f"SCHEMA_VERSION {schema.revision.schema_version}, {schema.reading} reading.",
        *(table_page(one, inner) for one in tables),
        *(
            inner.page(
                name,
                schema.tables[name].summary,
                table(
                    ("id", "name"),
                    ((str(one), code(text)) for one, text in sorted(members.items())),
                ),
            )
            for name, members in schema.enums.items()
        ),
    )
