"""CREATE statements in the form in which the exporters write them.

Observed in real files (``db-schema.md`` §1.2): msprof joins columns with a bare comma, torch_npu
with comma and space; the key is written inline and so is an alias of the rowid; nothing else is
declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ascend_spec import Schema
from ascend_spec.db.model import Table

_SEPARATORS = {"msprof": ","}
_OTHER_SEPARATOR = ", "


def create_table(table: Table, schema: Schema) -> str:
    """The CREATE TABLE statement of a table of ``schema``."""
    columns = (
        (column.name, column.declared, column.primary_key) for column in table.columns.values()
    )
    return create_statement(table.name, columns, creator(table, schema))


def create_statement(
    table: str, columns: Iterable[tuple[str, str, bool]], exporter: str | None
) -> str:
    """The CREATE TABLE statement of an exporter; names are written as they are given.

    columns: the name, the declared type and whether it is the key.
    """
    separator = _SEPARATORS.get(exporter or "", _OTHER_SEPARATOR)
    written = separator.join(
        f"{name} {declared}{' PRIMARY KEY' if is_key else ''}".rstrip()
        for name, declared, is_key in columns
    )
    return f"CREATE TABLE {table} ({written})"


def create_indexes(table: Table) -> Iterator[str]:
    """The CREATE INDEX statements of a table; only msprof makes any."""
    for name, columns in table.indexes.items():
        yield f"CREATE INDEX {name} ON {table.name} ({_SEPARATORS['msprof'].join(columns)})"


def version_facts(version: str) -> dict[str, str]:
    """What META_DATA states of SCHEMA_VERSION, as a whole and in parts."""
    parts = zip(("MAJOR", "MINOR", "MICRO"), version.split("."), strict=True)
    return {"SCHEMA_VERSION": version} | {f"SCHEMA_VERSION_{part}": text for part, text in parts}


def creator(table: Table, schema: Schema) -> str:
    """Which exporter creates the table in a database of this carrier.

    The first databases of msprof have no RANK_DEVICE_MAP (erratum E42): there torch_npu creates it.
    """
    if not schema.device_data:
        return "torch_npu"
    if table.name == "RANK_DEVICE_MAP" and schema.carrier == "pytorch":
        return "msprof" if table.is_held("msprof", schema.revision.date) else "torch_npu"
    return table.writer


def creation_order(schema: Schema) -> tuple[Table, ...]:
    """The tables as they come into being: msprof's, its STRING_IDS last of them, torch_npu's."""
    tables = schema.tables.values()
    msprof = [table for table in tables if creator(table, schema) == "msprof"]
    return (
        *(table for table in msprof if table.name != "STRING_IDS"),
        *(table for table in msprof if table.name == "STRING_IDS"),
        *(table for table in tables if table not in msprof),
    )
