"""Which kind of profile database a file is: by its tables, else by its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from ascend_spec import Catalog, layout_catalog
from ascend_spec.db.model import Carrier

from .display import clip, printable
from .header import UnreadableDatabase
from .introspect import PhysicalSchema, quote_identifier

FRAMEWORK_STRINGS = 1 << 28
"""First STRING_IDS.id that the framework exporter gives out (db-schema.md §4.6)."""
FRAMEWORK_API_TYPES = (50001, 50002, 50003, 50004)
ENOUGH_COLUMNS = 3
"""Columns that a nameless file must share with the spec; names like META_DATA are common."""


class NotAProfile(UnreadableDatabase):
    """A sound SQLite database that is not one of the profile databases of the spec."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The carrier, why it was chosen, and what speaks against it."""

    carrier: Carrier
    reason: str
    rank_from_name: int | None
    conflict: str | None


def identify_carrier(
    physical: PhysicalSchema, connection: apsw.Connection, path: Path, catalog: Catalog
) -> Origin:
    """Decide the carrier; raises :class:`NotAProfile` where neither tables nor name show one."""
    named, rank = carrier_of_name(path.name)
    found = _carrier_of_tables(physical, connection, catalog, named)
    if found is None and named is None:
        raise NotAProfile(path, _unknown(physical))
    if found is None:
        assert named is not None  # noqa: S101 - the case above
        return Origin(named, "file name; no table of a profile is inside", rank, None)
    carrier, reason = found
    conflict = None
    if named is not None and named != carrier:
        conflict = f"the file name belongs to {named}, the tables to {carrier}"
    return Origin(carrier, reason, rank, conflict)


def carrier_of_name(name: str) -> tuple[Carrier | None, int | None]:
    """Carrier and rank that a file name stands for."""
    match = layout_catalog().database(name)
    return (None, None) if match is None else (match.file.carrier, match.rank)


def _carrier_of_tables(
    physical: PhysicalSchema,
    connection: apsw.Connection,
    catalog: Catalog,
    named: Carrier | None,
) -> tuple[Carrier, str] | None:
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
    analysis = [name for name in shared if set(catalog.tables[name].carriers) == {"analysis"}]
    if 2 * len(analysis) > len(shared):
        return "analysis", f"table {analysis[0]}"
    traces = [
        *(
            f"rows in table {name}"
            for name in shared
            if set(catalog.tables[name].carriers) == {"pytorch"}
            and _has_rows(physical, connection, name)
        ),
        *_framework_traces(physical, connection),
    ]
    # One trace in a file that is named as msprof names its own may be a slip of its exporter.
    if len(traces) > (1 if named == "msprof" else 0):
        return "pytorch", traces[0]
    if named == "pytorch":
        return "pytorch", "file name; its tables may be of msprof or pytorch"
    return "msprof", f"table {next(iter(shared))}"


def _has_rows(physical: PhysicalSchema, connection: apsw.Connection, name: str) -> bool:
    table = physical.readable(name)
    if table is None:
        return False
    query = f"SELECT 1 FROM {quote_identifier(table.name)} LIMIT 1"
    return connection.execute(query).fetchone() is not None


def _framework_traces(physical: PhysicalSchema, connection: apsw.Connection) -> Iterator[str]:
    """Rows that only the framework exporter writes, in tables that msprof has too."""
    ids = ", ".join(str(number) for number in FRAMEWORK_API_TYPES)
    for name, condition in (
        ("ENUM_API_TYPE", f"id IN ({ids})"),
        ("STRING_IDS", f"id >= {FRAMEWORK_STRINGS} AND typeof(id) = 'integer'"),
    ):
        table = physical.readable(name)
        if table is None or table.column("id") is None:
            continue
        row = connection.execute(
            f"SELECT id FROM {quote_identifier(table.name)} WHERE {condition} LIMIT 1"
        ).fetchone()
        if row is not None:
            yield f"{name}.id {row[0]}"


def _unknown(physical: PhysicalSchema) -> str:
    if not physical.tables:
        return "a database without tables; expected the tables of a profile"
    names = ", ".join(printable(name) for name in list(physical.tables)[:5])
    more = f" and {len(physical.tables) - 5:,} more" if len(physical.tables) > 5 else ""
    return (
        f"a database with the tables {clip(names, 200)}{more}; "
        "expected those of msprof, torch_npu or analysis.db"
    )
