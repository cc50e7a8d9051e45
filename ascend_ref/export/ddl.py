"""The schema of a database as one SQL script."""

from __future__ import annotations

from ascend_spec import Schema


def export_ddl(schema: Schema) -> str:
    """A script."""
    return ""
