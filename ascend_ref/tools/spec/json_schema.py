"""The schema of a database as one JSON Schema: any validator can then judge a row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ascend_spec import Schema, catalog
from ascend_spec.core import StorageClass
from ascend_spec.core.dialect import DIALECT, Node
from ascend_spec.db.model import Column, Table

if TYPE_CHECKING:
    from ascend_spec.text import CsvColumn

_JSON_TYPES: dict[StorageClass, str] = {
    "integer": "integer",
    "real": "number",
    "text": "string",
    "blob": "string",
    "null": "null",
}


def export_json_schema(schema: Schema) -> str:
    """JSON Schema 2020-12: ``$defs`` holds one object schema per table, for one row each.

    The document itself describes a whole database as ``{"TABLE": [row, …], …}``. Units, sentinels,
    references and evidence stand in ``x-`` annotations, which validators ignore. A row may hold
    further columns, since viewers add some; a blob is to be given as base64 text.
    """
    document = {
        "$schema": DIALECT,
        "$id": f"urn:ascend-ref:{schema.carrier}:{schema.revision.id}:{schema.reading}",
        "title": f"{schema.carrier} database, {schema.revision.id}",
        "description": schema.revision.summary,
        "x-schema-version": schema.revision.schema_version,
        "x-reading": schema.reading,
        "type": "object",
        "properties": {table.name: _rows(table) for table in schema.tables.values()},
        "required": [
            table.name
            for table in schema.tables.values()
            if table.carriers[schema.carrier] == "always"
        ],
        "$defs": {table.name: _row(schema, table) for table in schema.tables.values()},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rows(table: Table) -> Node:
    rows: Node = {"type": "array", "items": {"$ref": f"#/$defs/{table.name}"}}
    if table.rows:
        rows["minItems"] = 1
    if table.rows == "one":
        rows["maxItems"] = 1
    return rows


def _row(schema: Schema, table: Table) -> Node:
    return {
        "title": table.name,
        "description": table.summary,
        "type": "object",
        "properties": {
            column.name: _property(schema, table, column) for column in table.columns.values()
        },
        "required": [column.name for column in table.columns.values()],
        **extensions(
            presence=table.carriers[schema.carrier],
            interval=table.interval,
            indexes=table.indexes,
            grade=table.grade,
            source=table.source,
            errata=table.errata,
        ),
    }


def _property(schema: Schema, table: Table, column: Column) -> Node:
    place = f"{table.name}.{column.name}"
    decision = catalog().decisions.get(place) if schema.reading == "observed" else None
    return {
        "description": column.summary,
        **_values(schema, column),
        **extensions(
            declared=column.declared,
            value_type=column.type,
            primary_key=column.primary_key,
            unit=column.unit,
            references=column.references,
            none=column.none,
            null=column.nullable,
            members=column.members,
            grade=decision.grade if decision else column.grade,
            source=column.source,
            overruled=decision.against if decision else None,
            errata=column.errata,
        ),
    }


def _values(schema: Schema, column: Column) -> Node:
    """What a value can be: a regular one, or a sentinel that no bound applies to."""
    regular = _regular(schema, column)
    if column.none and len(regular) > 1:
        return {"anyOf": [{"enum": list(column.none)}, regular]}
    return regular


def _regular(schema: Schema, column: Column) -> Node:
    types = list(dict.fromkeys(_JSON_TYPES[storage] for storage in column.storage))
    if column.nullable and "null" not in types:
        types.append("null")
    if "number" in types and "integer" in types:
        types.remove("integer")
    values: Node = {"type": types[0] if len(types) == 1 else types}
    allowed = _closed_set(schema, column)
    if allowed:
        values["enum"] = [*allowed, None] if "null" in types else allowed
    return values | limits(column)


def _closed_set(schema: Schema, column: Column) -> list[int] | list[str]:
    """The only values there are: ids of enum tables, or texts; empty where there are more."""
    if column.members and "STRING_IDS.id" not in column.references:
        return list(column.members)
    if column.soft_reference or not column.references:
        return []
    owners = [target.partition(".")[0] for target in column.references]
    if any(owner not in schema.enums for owner in owners):
        return []
    return sorted({identifier for owner in owners for identifier in schema.enums[owner]})


def limits(column: Column | CsvColumn) -> Node:
    """Minimum and maximum, where there are any."""
    known = {"minimum": column.minimum, "maximum": column.maximum}
    return {name: value for name, value in known.items() if value is not None}


def extensions(**stated: object) -> Node:
    """What validators ignore: members that begin with ``x-``; empty ones are left out."""
    return {f"x-{name.replace('_', '-')}": value for name, value in stated.items() if value}
