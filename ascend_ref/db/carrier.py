"""Which kind of profile database a file is: by its tables, else by its name."""

from __future__ import annotations

from pathlib import Path

import apsw

from ascend_spec import Catalog, layout_catalog
from ascend_spec.db.model import Carrier

from .display import clip, first_of, printable
from .header import UnreadableDatabase
from .introspect import PhysicalSchema, PhysicalTable, quote_identifier

FRAMEWORK_STRINGS = 1 << 28
"""First STRING_IDS.id that the framework exporter gives out (db-schema.md §4.6)."""
FRAMEWORK_TRACES = (
    ("ENUM_API_TYPE", "id IN (50001, 50002, 50003, 50004)"),
    ("STRING_IDS", f"id >= {FRAMEWORK_STRINGS} AND typeof(id) = 'integer'"),
)
"""Rows that only the framework exporter writes, in tables that msprof has too."""
ENOUGH_COLUMNS = 3
"""Columns that a nameless file must share with the spec; names like META_DATA are common."""


class NotAProfile(UnreadableDatabase):
    """A sound SQLite database that is not one of the profile databases of the spec."""


def identify_carrier(
    physical: PhysicalSchema, connection: apsw.Connection, path: Path, catalog: Catalog
) -> tuple[Carrier, int | None]:
    """The carrier, and the rank that the file name states.

    Raises :class:`NotAProfile` where neither tables nor name show a carrier.
    """
    named, rank = carrier_of_name(path.name)
    found = _carrier_of_tables(physical, connection, catalog, named) or named
    if found is None:
        raise NotAProfile(path, _unknown(physical))
    return found, rank


def carrier_of_name(name: str) -> tuple[Carrier | None, int | None]:
    """Carrier and rank that a file name stands for."""
    match = layout_catalog().match(name)
    if match is None or match.file.carrier is None:
        return None, None
    return match.file.carrier, match.rank


def _carrier_of_tables(
    physical: PhysicalSchema,
    connection: apsw.Connection,
    catalog: Catalog,
    named: Carrier | None,
) -> Carrier | None:
    shared: dict[str, int] = {}
    for table in catalog.tables.values():
        found = physical.readable(table.name)
        if found is not None:
            names = {column.name for column in table.columns.values()}
            count = sum(column.name in names for column in found.columns)
            if count:
                shared[table.name] = count
    if sum(shared.values()) < ENOUGH_COLUMNS:
        return None
    only = {name: set(catalog.tables[name].carriers) for name in shared}
    if 2 * list(only.values()).count({"analysis"}) > len(shared):
        return "analysis"
    framework = [name for name in shared if only[name] == {"pytorch"}]
    traces = sum(
        _has_rows(connection, table, condition)
        for table, condition in (
            *((physical.readable(name), "true") for name in framework),
            *((physical.readable(name, "id"), rows) for name, rows in FRAMEWORK_TRACES),
        )
    )
    # One trace in a file that is named as msprof names its own may be a slip of its exporter.
    if traces > (1 if named == "msprof" else 0) or named == "pytorch":
        return "pytorch"
    return "msprof"


def _has_rows(connection: apsw.Connection, table: PhysicalTable | None, condition: str) -> bool:
    if table is None:
        return False
    query = f"SELECT 1 FROM {quote_identifier(table.name)} WHERE {condition} LIMIT 1"
    return connection.execute(query).fetchone() is not None


def _unknown(physical: PhysicalSchema) -> str:
    if not physical.tables:
        return "a database without tables; expected the tables of a profile"
    names = first_of([clip(printable(name), 40) for name in physical.tables], 5)
    return f"a database with the tables {names}; expected those of msprof, torch_npu or analysis.db"
