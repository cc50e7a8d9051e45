"""Checks of tables, columns, keys, indexes and other objects against the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ascend_ref.db.introspect import PhysicalTable

from ..layout import TableMatch, knows_foreign, likeness
from ..places import Instance
from ..rules import DbRule
from ..session import Session
from . import Check, Fault

CREATED_WITHOUT_DEVICE_DATA = frozenset(
    {"STRING_IDS", "ENUM_API_TYPE", "META_DATA", "HOST_INFO", "RANK_DEVICE_MAP"}
)


def _missing_table(session: Session, rule: DbRule, places: Sequence[Instance]) -> Iterator[Fault]:
    spared = _written_with_device_data(session)
    for instance in places:
        table = instance.table
        if (
            table not in session.layout.tables
            and table not in session.layout.replaced
            and table not in spared
        ):
            yield Fault(rule, table, None, f"the database has no table {table}")


def _written_with_device_data(session: Session) -> set[str]:
    """Tables that torch_npu does not create itself, where no table of msprof is present.

    A run without device data has no msprof database to extend (db-schema.md 1.1); torch_npu then
    creates the five tables of ``CREATED_WITHOUT_DEVICE_DATA`` alone.
    """
    by_msprof = {
        name
        for name, table in session.schema.tables.items()
        if table.writer == "msprof" and name not in CREATED_WITHOUT_DEVICE_DATA
    }
    return set() if by_msprof & session.layout.tables.keys() else by_msprof


def _unknown_table(session: Session, rule: DbRule, _places: Sequence[Instance]) -> Iterator[Fault]:
    for physical in session.layout.unknown:
        name = physical.name
        if name not in session.catalog.tables and not knows_foreign(session.catalog, name, None):
            yield Fault(rule, name, None, f"{name} is no table of the spec")


def _table_of_another_revision(
    session: Session, rule: DbRule, places: Sequence[Instance]
) -> Iterator[Fault]:
    unknown = {physical.name for physical in session.layout.unknown}
    for instance in places:
        name = instance.table or ""
        if name in unknown and not _is_viewers(session, name):
            here = f"{session.schema.carrier} {session.schema.revision.id}"
            yield Fault(rule, name, None, f"{name} is not a table of {here}")


def _is_viewers(session: Session, table: str) -> bool:
    """Viewers create tables (OVERLAP_ANALYSIS) that later exporters write themselves."""
    return knows_foreign(session.catalog, table, None) is not None


def _missing_column(session: Session, rule: DbRule, places: Sequence[Instance]) -> Iterator[Fault]:
    for instance in places:
        match = session.layout.tables.get(instance.table or "")
        column = instance.column or ""
        if match and column not in match.columns and column not in match.misspelt:
            yield Fault(rule, instance.table, column, f"{instance.table} has no column {column}")


def _known_columns(session: Session, table: str) -> set[str]:
    """The columns that the table has at any revision."""
    return {column.name for column in session.catalog.tables[table].columns.values()}


def _extra_columns(session: Session) -> Iterator[tuple[TableMatch, str]]:
    for match in session.layout.tables.values():
        for column in match.extra:
            yield match, column.name


def _unknown_column(session: Session, rule: DbRule, _places: Sequence[Instance]) -> Iterator[Fault]:
    for match, name in _extra_columns(session):
        table = match.table.name
        known = {likeness(column) for column in _known_columns(session, table)}
        if likeness(name) not in known and not knows_foreign(session.catalog, table, name):
            yield Fault(rule, table, name, f"{table} has a column {name} that is not in the spec")


def _column_of_another_revision(
    session: Session, rule: DbRule, places: Sequence[Instance]
) -> Iterator[Fault]:
    extra = {(match.table.name, name) for match, name in _extra_columns(session)}
    for instance in places:
        table, column = instance.table or "", instance.column or ""
        if (table, column) in extra and not knows_foreign(session.catalog, table, column):
            here = session.schema.revision.id
            yield Fault(rule, table, column, f"{table}.{column} is not a column of {here}")


def _misspelt_column(session: Session, rule: DbRule, places: Sequence[Instance]) -> Iterator[Fault]:
    for instance in places:
        match = session.layout.tables.get(instance.table or "")
        found = match.misspelt.get(instance.column or "") if match else None
        if found:
            what = f"{instance.table}.{instance.column} is spelt {found.name}"
            yield Fault(rule, instance.table, instance.column, what, instance.column)
    for match, name in _extra_columns(session):
        table = match.table.name
        for column in _known_columns(session, table) - match.table.columns.keys():
            if column != name and likeness(column) == likeness(name):
                yield Fault(rule, table, column, f"{table}.{column} is spelt {name}", column)


def _letter_case(session: Session, rule: DbRule, _places: Sequence[Instance]) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        if match.physical.name != name:
            yield Fault(rule, name, None, f"{name} is written {match.physical.name}", name)
        for column, found in match.columns.items():
            if found.name != column:
                what = f"{name}.{column} is written {found.name}"
                yield Fault(rule, name, column, what, column)


def _column_order(session: Session, rule: DbRule, _places: Sequence[Instance]) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        known = {found.name: column for column, found in match.columns.items()}
        really = [known[found.name] for found in match.physical.columns if found.name in known]
        expected = [column for column in match.table.columns if column in match.columns]
        if really != expected:
            first = next(a for a, b in zip(really, expected, strict=True) if a != b)
            what = f"{name}.{first} stands at another position"
            yield Fault(rule, name, first, what, ", ".join(expected))


def _declared_type(session: Session, rule: DbRule, places: Sequence[Instance]) -> Iterator[Fault]:
    for instance in places:
        match = session.layout.tables.get(instance.table or "")
        name = instance.column or ""
        if not match or name not in match.columns:
            continue
        column = match.table.columns[name]
        declared = match.columns[name].declared
        if declared.upper() not in {column.declared, *column.also_declared}:
            what = f"{instance.at} is declared {declared or 'without a type'}"
            yield Fault(rule, instance.table, instance.column, what, column.declared)


def _missing_primary_key(
    session: Session, rule: DbRule, places: Sequence[Instance]
) -> Iterator[Fault]:
    for instance in places:
        match = session.layout.tables.get(instance.table or "")
        found = match.columns.get(instance.column or "") if match else None
        if found and not found.primary_key:
            yield Fault(rule, instance.table, instance.column, f"{instance.at} is no primary key")


def _unexpected_primary_key(
    session: Session, rule: DbRule, _places: Sequence[Instance]
) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        for column, found in match.columns.items():
            if found.primary_key and not match.table.columns[column].primary_key:
                yield Fault(rule, name, column, f"{name}.{column} is a primary key")


def _missing_index(session: Session, rule: DbRule, places: Sequence[Instance]) -> Iterator[Fault]:
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
            yield Fault(rule, instance.table, None, what, expected)


def _further_index(session: Session, rule: DbRule, _places: Sequence[Instance]) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        expected = set(match.table.indexes.values())
        for index in match.physical.indexes:
            known = index.columns in expected or index.name in match.table.indexes
            if index.origin == "create" and not known:
                over = ", ".join(column or "expression" for column in index.columns)
                yield Fault(rule, name, None, f"{name} has an index {index.name} over ({over})")


def _view_in_place(session: Session, rule: DbRule, _places: Sequence[Instance]) -> Iterator[Fault]:
    for name, physical in session.layout.replaced.items():
        yield Fault(rule, name, None, f"{name} is {_kind(physical)}")


def _kind(physical: PhysicalTable) -> str:
    if physical.damage:
        return f"a table that SQLite cannot read: {physical.damage}"
    if physical.without_rowid:
        return "a WITHOUT ROWID table"
    return f"a {physical.kind}" if physical.kind != "table" else "a table that hides its rowid"


def _view_or_trigger(
    session: Session, rule: DbRule, _places: Sequence[Instance]
) -> Iterator[Fault]:
    replaced = {physical.name for physical in session.layout.replaced.values()}
    for physical in session.physical.tables.values():
        if physical.kind != "table" and physical.name not in replaced:
            yield Fault(rule, physical.name, None, f"{physical.name} is a {physical.kind}")
    for trigger in session.physical.triggers:
        what = f"a trigger {trigger.name} stands on {trigger.table}"
        yield Fault(rule, trigger.table, None, what)


def _undocumented_constraint(
    session: Session, rule: DbRule, _places: Sequence[Instance]
) -> Iterator[Fault]:
    for name, match in session.layout.tables.items():
        found = sorted(_constraints(match.physical))
        if found:
            yield Fault(rule, name, None, f"{name} is declared with {', '.join(found)}")


def _constraints(table: PhysicalTable) -> set[str]:
    found = {"STRICT"} if table.strict else set()
    for column in table.columns:
        if column.not_null and not column.primary_key:
            found.add("NOT NULL")
        if column.default is not None:
            found.add("DEFAULT")
        if column.generated:
            found.add("a generated column")
        if column.collation.upper() != "BINARY":
            found.add("COLLATE")
    if any(index.origin == "unique" for index in table.indexes):
        found.add("UNIQUE")
    words = (table.sql or "").upper().replace("(", " ").split()
    if "CHECK" in words:
        found.add("CHECK")
    if "REFERENCES" in words:
        found.add("FOREIGN KEY")
    return found


def _empty_table(session: Session, rule: DbRule, places: Sequence[Instance]) -> Iterator[Fault]:
    for instance in places:
        if session.rows.get(instance.table or "") == 0:
            yield Fault(
                rule, instance.table, None, f"{instance.table} exists and is empty", count=1
            )


def _row_count(session: Session, rule: DbRule, places: Sequence[Instance]) -> Iterator[Fault]:
    for instance in places:
        table = session.schema.tables.get(instance.table or "")
        found = session.rows.get(instance.table or "")
        if table is None or table.rows is None or found is None:
            continue
        if found == 0 or (table.rows == "one" and found != 1):
            wanted = "one row" if table.rows == "one" else "at least one row"
            yield Fault(rule, table.name, None, f"{table.name} has {found:,} rows", wanted)


def _foreign_table(session: Session, rule: DbRule, _places: Sequence[Instance]) -> Iterator[Fault]:
    for physical in session.layout.unknown:
        added_by = knows_foreign(session.catalog, physical.name, None)
        if added_by:
            yield Fault(
                rule, physical.name, None, f"table {physical.name} was added by: {added_by}"
            )


def _foreign_column(session: Session, rule: DbRule, _places: Sequence[Instance]) -> Iterator[Fault]:
    for match, name in _extra_columns(session):
        added_by = knows_foreign(session.catalog, match.table.name, name)
        if added_by:
            what = f"column {match.table.name}.{name} was added by: {added_by}"
            yield Fault(rule, match.table.name, name, what)


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
