"""Checks of tables, columns, keys, indexes and other objects against the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ascend_ref.db.introspect import PhysicalTable

from ..layout import TableMatch, knows_foreign, likeness
from ..session import Session
from . import Check, Fault, Places


def _standing(session: Session, places: Places) -> Iterator[tuple[TableMatch, str, str]]:
    """The places whose table stands in the file: table, its name, and column or ``""``."""
    for instance in places:
        match = session.layout.tables.get(instance.table or "")
        if match:
            yield match, match.table.name, instance.column or ""


def _missing_table(session: Session, places: Places) -> Iterator[Fault]:
    layout = session.layout
    known = layout.tables.keys() | layout.replaced.keys()
    for instance in places:
        if instance.table not in known:
            yield Fault(f"the database has no table {instance.table}", instance.table)


def _unknown_table(session: Session, _places: Places) -> Iterator[Fault]:
    for physical in session.layout.unknown:
        name = physical.name
        if name not in session.catalog.tables and not knows_foreign(session.catalog, name):
            yield Fault(f"{name} is no table of the spec", name)


def _table_of_another_revision(session: Session, places: Places) -> Iterator[Fault]:
    """Viewers create tables (OVERLAP_ANALYSIS) that later exporters write themselves."""
    unknown = {physical.name for physical in session.layout.unknown}
    for instance in places:
        name = instance.table or ""
        if name in unknown and not knows_foreign(session.catalog, name):
            here = f"{session.schema.carrier} {session.schema.revision.id}"
            yield Fault(f"{name} is not a table of {here}", name)


def _missing_column(session: Session, places: Places) -> Iterator[Fault]:
    for match, table, column in _standing(session, places):
        if column not in match.columns and column not in match.misspelt:
            yield Fault(f"{table} has no column {column}", table, column)


def _known_columns(session: Session, table: str) -> set[str]:
    """The columns that the table has at any revision."""
    return {column.name for column in session.catalog.tables[table].columns.values()}


def _extra_columns(session: Session) -> Iterator[tuple[TableMatch, str, str]]:
    """Columns that the schema does not have: table, its name, column."""
    for name, match in session.layout.tables.items():
        for column in match.extra:
            yield match, name, column.name


def _unknown_column(session: Session, _places: Places) -> Iterator[Fault]:
    for _, table, name in _extra_columns(session):
        known = {likeness(column) for column in _known_columns(session, table)}
        if likeness(name) not in known and not knows_foreign(session.catalog, table, name):
            yield Fault(f"{table} has a column {name} that is not in the spec", table, name)


def _column_of_another_revision(session: Session, places: Places) -> Iterator[Fault]:
    extra = {(table, name) for _, table, name in _extra_columns(session)}
    here = session.schema.revision.id
    for _, table, column in _standing(session, places):
        if (table, column) in extra and not knows_foreign(session.catalog, table, column):
            yield Fault(f"{table}.{column} is not a column of {here}", table, column)


def _misspelt_column(session: Session, places: Places) -> Iterator[Fault]:
    for match, table, column in _standing(session, places):
        found = match.misspelt.get(column)
        if found:
            yield Fault(f"{table}.{column} is spelt {found.name}", table, column, column)
    for match, table, name in _extra_columns(session):
        for column in _known_columns(session, table) - match.table.columns.keys():
            if column != name and likeness(column) == likeness(name):
                yield Fault(f"{table}.{column} is spelt {name}", table, column, column)


def _letter_case(session: Session, _places: Places) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        if match.physical.name != name:
            yield Fault(f"{name} is written {match.physical.name}", name, None, name)
        for column, found in match.columns.items():
            if found.name != column:
                yield Fault(f"{name}.{column} is written {found.name}", name, column, column)


def _column_order(session: Session, _places: Places) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        known = {found.name: column for column, found in match.columns.items()}
        really = [known[found.name] for found in match.physical.columns if found.name in known]
        expected = [column for column in match.table.columns if column in match.columns]
        if really != expected:
            first = next(a for a, b in zip(really, expected, strict=True) if a != b)
            what = f"{name}.{first} stands at another position"
            yield Fault(what, name, first, ", ".join(expected))


def _declared_type(session: Session, places: Places) -> Iterator[Fault]:
    for match, table, name in _standing(session, places):
        if name in match.columns:
            column, declared = match.table.columns[name], match.columns[name].declared
            if declared.upper() not in {column.declared, *column.also_declared}:
                what = f"{table}.{name} is declared {declared or 'without a type'}"
                yield Fault(what, table, name, column.declared)


def _missing_primary_key(session: Session, places: Places) -> Iterator[Fault]:
    for match, table, column in _standing(session, places):
        if column in match.columns and not match.columns[column].primary_key:
            yield Fault(f"{table}.{column} is no primary key", table, column)


def _unexpected_primary_key(session: Session, _places: Places) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        for column, found in match.columns.items():
            known = (match.table, session.catalog.tables[name])  # keyed by msprof alone (E56)
            if found.primary_key and not any(
                one.columns[column].primary_key for one in known if column in one.columns
            ):
                yield Fault(f"{name}.{column} is a primary key", name, column)


def _missing_index(session: Session, places: Places) -> Iterator[Fault]:
    for instance in places:
        match = session.layout.tables.get(instance.table or "")
        if not match:
            continue
        over = match.table.indexes[instance.place["index"]]
        if not all(column in match.columns for column in over):
            continue
        found = {index.columns for index in match.physical.indexes}
        if tuple(match.columns[column].name for column in over) not in found:
            what = f"{instance.table} has no index over ({', '.join(over)})"
            expected = f"{instance.place['index']} on {instance.table}({', '.join(over)})"
            yield Fault(what, instance.table, None, expected)


def _further_index(session: Session, _places: Places) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        expected = set(match.table.indexes.values())
        for index in match.physical.indexes:
            known = index.columns in expected or index.name in match.table.indexes
            if index.origin == "create" and not known:
                over = ", ".join(column or "expression" for column in index.columns)
                yield Fault(f"{name} has an index {index.name} over ({over})", name)


def _view_in_place(session: Session, _places: Places) -> Iterator[Fault]:
    for name, physical in session.layout.replaced.items():
        yield Fault(f"{name} is {_kind(physical)}", name)


def _kind(physical: PhysicalTable) -> str:
    if physical.damage:
        return f"a table that SQLite cannot read: {physical.damage}"
    if physical.without_rowid:
        return "a WITHOUT ROWID table"
    return f"a {physical.kind}" if physical.kind != "table" else "a table that hides its rowid"


def _view_or_trigger(session: Session, _places: Places) -> Iterator[Fault]:
    replaced = {physical.name for physical in session.layout.replaced.values()}
    for physical in session.physical.tables.values():
        if physical.kind != "table" and physical.name not in replaced:
            yield Fault(f"{physical.name} is a {physical.kind}", physical.name)
    for trigger in session.physical.triggers:
        yield Fault(f"a trigger {trigger.name} stands on {trigger.table}", trigger.table)


def _undocumented_constraint(session: Session, _places: Places) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        found = sorted(_constraints(match.physical))
        if found:
            yield Fault(f"{name} is declared with {', '.join(found)}", name)


def _constraints(table: PhysicalTable) -> set[str]:
    words = (table.sql or "").upper().replace("(", " ").split()
    columns = table.columns
    stated = {
        "STRICT": table.strict,
        "NOT NULL": any(column.not_null and not column.primary_key for column in columns),
        "DEFAULT": any(column.default is not None for column in columns),
        "a generated column": any(column.generated for column in columns),
        "COLLATE": any(column.collation.upper() != "BINARY" for column in columns),
        "UNIQUE": any(index.origin == "unique" for index in table.indexes),
        "CHECK": "CHECK" in words,
        "FOREIGN KEY": "REFERENCES" in words,
    }
    return {name for name, is_stated in stated.items() if is_stated}


def _empty_table(session: Session, places: Places) -> Iterator[Fault]:
    for _, table, _ in _standing(session, places):
        if session.rows[table] == 0:
            yield Fault(f"{table} exists and is empty", table)


def _row_count(session: Session, places: Places) -> Iterator[Fault]:
    for match, name, _ in _standing(session, places):
        wanted, found = match.table.rows, session.rows[name]
        if (wanted and found == 0) or (wanted == "one" and found != 1):
            expected = "one row" if wanted == "one" else "at least one row"
            yield Fault(f"{name} has {found:,} rows", name, None, expected)


def _foreign_table(session: Session, _places: Places) -> Iterator[Fault]:
    for physical in session.layout.unknown:
        added_by = knows_foreign(session.catalog, physical.name)
        if added_by:
            yield Fault(f"table {physical.name} was added by: {added_by}", physical.name)


def _foreign_column(session: Session, _places: Places) -> Iterator[Fault]:
    for _, table, name in _extra_columns(session):
        added_by = knows_foreign(session.catalog, table, name)
        if added_by:
            yield Fault(f"column {table}.{name} was added by: {added_by}", table, name)


CHECKS: Mapping[str, Check] = {
    "missing-table": _missing_table,
    "unknown-table": _unknown_table,
    "table-of-another-revision": _table_of_another_revision,
    "missing-column": _missing_column,
    "unknown-column": _unknown_column,
    "column-of-another-revision": _column_of_another_revision,
    "misspelt-column": _misspelt_column,
    "letter-case": _letter_case,
    "column-order": _column_order,
    "declared-type": _declared_type,
    "missing-primary-key": _missing_primary_key,
    "unexpected-primary-key": _unexpected_primary_key,
    "missing-index": _missing_index,
    "further-index": _further_index,
    "view-in-place-of-table": _view_in_place,
    "view-or-trigger": _view_or_trigger,
    "undocumented-constraint": _undocumented_constraint,
    "empty-table": _empty_table,
    "row-count": _row_count,
    "foreign-table": _foreign_table,
    "foreign-column": _foreign_column,
}
