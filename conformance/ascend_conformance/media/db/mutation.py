"""How to break a clean profile so that exactly one rule fires at exactly one place.

A rule's own ``break`` statements are filled in; for the schema checks written in Python the
statements are derived here from the table that they damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from ascend_ref.db.ddl import create_indexes, create_table
from ascend_spec.db.model import Column, Table

from ...engine.trials import NotBreakable
from ...ruleset import fill
from .places import Instance
from .session import Session
from .sql import single_row


def statements(instance: Instance, session: Session, change: Sequence[str]) -> list[str]:
    """SQL that makes a change of the rule at the instance's place.

    Without one the statements follow from the schema. Raises :class:`NotBreakable` where the place
    exists in the spec but not in such a file.
    """
    rule = instance.rule
    if instance.table and instance.table in session.schema.tables and rule.search.code is None:
        _require_rows(instance, session)
    if change:
        place = {**instance.place, **_values(instance, session)}
        try:
            place["victim"] = _victim(instance, session)
        except NotBreakable:
            return [fill(_added_row(instance, session, change[0]), place)]
        return [fill(statement, place) for statement in change]
    build = SCHEMA_BREAKS.get(rule.search.code or "")
    if build is None:
        raise NotBreakable("broken on files, not by SQL")
    if callable(build):
        return build(instance, session)
    column = instance.column or ""
    names = {"table": instance.table or "", "column": column, "swapped": column.swapcase()}
    return [fill(build, {"declared": "INTEGER", **names, **instance.place})]


def _table(instance: Instance, session: Session) -> Table:
    return session.schema.tables[instance.table or ""]


def _require_rows(instance: Instance, session: Session) -> None:
    if not session.rows.get(instance.table or ""):
        raise NotBreakable(f"the specimen has no rows in {instance.table}")


def _values(instance: Instance, session: Session) -> dict[str, str]:
    """Values that the break statements of structural rules ask for."""
    table = session.schema.tables.get(instance.table or "")
    column = table.columns.get(instance.column or "") if table else None
    if table is None or column is None:
        return {}
    values = {"infinite": "9e999"}
    for name, bound, step in (("below", column.minimum, -1), ("above", column.maximum, 1)):
        if bound is not None:
            beyond = (bound + number * step for number in count(1))
            values[name] = str(next(value for value in beyond if value not in column.none))
    targets = [target for target in column.references if session.schema.column(target)]
    if targets:
        target, _, key = targets[0].partition(".")
        known = ", ".join(map(str, session.schema.accepted.get(target, ())))
        values["orphan"] = (
            f"(SELECT min(t.{key}) + 1 FROM {target} t WHERE t.{key} + 1 NOT IN ({known}) "
            f"AND t.{key} + 1 NOT IN (SELECT {key} FROM {target} WHERE {key} IS NOT NULL))"
        )
    if column.members:
        through = bool(instance.place.get("further_uses"))
        values["stranger"] = (
            f"(SELECT id FROM STRING_IDS WHERE value NOT IN ({instance.place['members']}) LIMIT 1)"
            if through
            else "'nobody'"
        )
    return values


CHANGED_VALUE = re.compile(r"UPDATE \{table\} SET \{column\} = (.+) WHERE rowid = \{victim\}")


def _added_row(instance: Instance, session: Session, statement: str) -> str:
    """A copy of the last row with the bad value in it, where every existing row is needed."""
    table = _table(instance, session)
    change = CHANGED_VALUE.fullmatch(statement)
    if change is None or any(column.primary_key for column in table.columns.values()):
        raise NotBreakable(f"other rows refer to every value of {instance.at}")
    values = ", ".join(change[1] if name == instance.column else name for name in table.columns)
    return f"INSERT INTO {table.name} SELECT {values} FROM {table.name} ORDER BY rowid DESC LIMIT 1"


def _victim(instance: Instance, session: Session) -> str:
    table = session.schema.tables.get(instance.table or "")
    column = table.columns.get(instance.column or "") if table else None
    if table is None or column is None or "{victim}" not in "".join(instance.rule.breaks):
        return ""
    return victim(table, column, session)


def victim(table: Table, column: Column, session: Session) -> str:
    """A row whose value in this column no other row depends on: SQL for its rowid.

    Its value is NULL, or stands in another row of the table as well, or nothing refers to it.
    Raises :class:`NotBreakable` when every row is needed.
    """
    name = column.name
    place = f"{table.name}.{name}"
    free = [
        f"{name} NOT IN (SELECT {other.name} FROM {owner.name} WHERE {other.name} IS NOT NULL)"
        for owner in session.schema.tables.values()
        for other in owner.columns.values()
        if place in other.references and session.rows.get(owner.name)
    ]
    repeated = f"{name} IN (SELECT {name} FROM {table.name} GROUP BY {name} HAVING count(*) > 1)"
    where = f" WHERE {name} IS NULL OR {repeated} OR ({' AND '.join(free)})" if free else ""
    row = f"SELECT max(rowid) FROM {table.name}{where}"
    if single_row(session.connection, row)[0] is None:
        raise NotBreakable(f"other rows refer to every value of {place}")
    return f"({row})"


def _rebuild(
    instance: Instance,
    session: Session,
    change: Callable[[str], str] = str,
    columns: list[str] | None = None,
) -> list[str]:
    """Create the table anew from changed DDL and copy its rows; indexes are created again."""
    table = _table(instance, session)
    kept = columns or list(table.columns)
    changed = replace(
        table,
        columns={name: table.columns[name] for name in kept},
        indexes={
            index: over for index, over in table.indexes.items() if all(one in kept for one in over)
        },
    )
    names = ", ".join(kept)
    old = f"old_{table.name}"
    return [
        *(f"DROP INDEX {index}" for index in table.indexes),
        f"ALTER TABLE {table.name} RENAME TO {old}",
        change(create_table(changed, session.schema)),
        f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {old}",
        f"DROP TABLE {old}",
        *create_indexes(changed),
    ]


def _missing_column(instance: Instance, session: Session) -> list[str]:
    table = _table(instance, session)
    kept = [name for name in table.columns if name != instance.column]
    if not kept:
        raise NotBreakable("a table needs one column")
    return _rebuild(instance, session, columns=kept)


def _column_order(instance: Instance, session: Session) -> list[str]:
    names = list(_table(instance, session).columns)
    if len(names) < 2:
        raise NotBreakable("one column has no order")
    return _rebuild(instance, session, columns=[names[1], names[0], *names[2:]])


SAME_AFFINITY = {"INTEGER": "BIGINT", "TEXT": "VARCHAR", "NUMERIC": "DECIMAL", "REAL": "DOUBLE"}
"""Another declared type with the same affinity, so that the stored values stay as they are."""


def _declared_type(instance: Instance, session: Session) -> list[str]:
    column = _table(instance, session).columns[instance.column or ""]
    if column.primary_key:
        raise NotBreakable("a key of another type is no rowid alias: see missing-primary-key")
    old, new = f"{column.name} {column.declared}", f"{column.name} {SAME_AFFINITY[column.declared]}"
    return _rebuild(instance, session, lambda ddl: _replace_definition(ddl, old, new))


def _replace_definition(ddl: str, old: str, new: str) -> str:
    head, _, body = ddl.partition("(")
    parts = [part.strip() for part in body.rstrip(")").split(",")]
    if old not in parts:
        raise ValueError(f"no column definition {old!r} in: {ddl}")
    return f"{head}({','.join(new if part == old else part for part in parts)})"


def _missing_primary_key(instance: Instance, session: Session) -> list[str]:
    return _rebuild(instance, session, lambda ddl: ddl.replace(" PRIMARY KEY", ""))


def _unexpected_primary_key(instance: Instance, session: Session) -> list[str]:
    table = _table(instance, session)
    free = [
        name
        for name, column in table.columns.items()
        if column.declared == "INTEGER" and not column.nullable and _ascends(session, table, name)
    ]
    if any(column.primary_key for column in table.columns.values()) or not free:
        raise NotBreakable("no other column can be a key")
    old = f"{free[0]} INTEGER"
    return _rebuild(
        instance, session, lambda ddl: _replace_definition(ddl, old, f"{old} PRIMARY KEY")
    )


def _ascends(session: Session, table: Table, column: str) -> bool:
    """Whether the values ascend with the rowid: as a key they leave the rows in their order."""
    if not session.layout.holds(f"{table.name}.{column}"):
        return False
    query = (
        f"SELECT coalesce(min({column} > before), 1) FROM (SELECT {column}, "
        f"lag({column}) OVER (ORDER BY rowid) AS before FROM {table.name})"
    )
    return bool(single_row(session.connection, query)[0])


def _view_in_place(instance: Instance, session: Session) -> list[str]:
    table = _table(instance, session)
    return [
        *(f"DROP INDEX {index}" for index in table.indexes),
        f"ALTER TABLE {table.name} RENAME TO copy_of_table",
        f"CREATE VIEW {table.name} AS SELECT 1 AS {next(iter(table.columns))}",
        "DROP TABLE copy_of_table",
    ]


def _empty_table(instance: Instance, session: Session) -> list[str]:
    _require_rows(instance, session)
    return [f"DELETE FROM {instance.table}"]


def _row_count(instance: Instance, session: Session) -> list[str]:
    table = _table(instance, session)
    if table.rows is None:
        raise NotBreakable("any number of rows is legal")
    if table.rows == "one":
        return [f"INSERT INTO {table.name} SELECT * FROM {table.name} LIMIT 1"]
    return [f"DELETE FROM {table.name}"]


def _other_table(instance: Instance, session: Session) -> list[str]:
    table = session.catalog.tables[instance.table or ""]
    unique = {column.name: column for column in table.columns.values()}
    return [create_table(replace(table, columns=unique), session.schema)]


def _foreign_table(instance: Instance, _session: Session) -> list[str]:
    if (instance.table or "").startswith("sqlite_"):
        raise NotBreakable("only SQLite itself creates it")
    return [f"CREATE TABLE {instance.table}(id INTEGER)"]


def _last_column(instance: Instance, session: Session) -> Column:
    columns = _table(instance, session).columns.values()
    plain = [column for column in columns if not column.primary_key]
    if not plain:
        raise NotBreakable("the table has its key only")
    return plain[-1]


def _further_index(instance: Instance, session: Session) -> list[str]:
    return [f"CREATE INDEX Further ON {instance.table}({_last_column(instance, session).name})"]


def _undocumented_constraint(instance: Instance, session: Session) -> list[str]:
    column = _last_column(instance, session)
    old = f"{column.name} {column.declared}"
    return _rebuild(
        instance, session, lambda ddl: _replace_definition(ddl, old, f"{old} DEFAULT 0")
    )


def _member_of_another_revision(instance: Instance, session: Session) -> list[str]:
    table = instance.table or ""
    expected = session.schema.enums[table]
    for identifier, names in session.schema.accepted[table].items():
        if identifier not in expected:
            return [f"INSERT INTO {table} VALUES ({identifier}, '{min(names)}')"]
    for identifier, names in session.schema.accepted[table].items():
        for name in sorted(names):
            if expected[identifier] != name:
                return [f"UPDATE {table} SET name = '{name}' WHERE id = {identifier}"]
    raise NotBreakable("this enum never changed")


def _rename(to: str) -> str:
    return f'ALTER TABLE {{table}} RENAME COLUMN "{{column}}" TO "{to}"'


ADD_COLUMN = "ALTER TABLE {table} ADD COLUMN {column} {declared}"

SCHEMA_BREAKS: Mapping[str, str | Callable[[Instance, Session], list[str]]] = {
    "missing-table": "DROP TABLE {table}",
    "unknown-table": "CREATE TABLE SURPRISE(id INTEGER)",
    "table-of-another-revision": _other_table,
    "missing-column": _missing_column,
    "unknown-column": "ALTER TABLE {table} ADD COLUMN surprise INTEGER",
    "column-of-another-revision": ADD_COLUMN,
    "misspelt-column": _rename("_{column}"),
    "letter-case": _rename("{swapped}"),
    "column-order": _column_order,
    "declared-type": _declared_type,
    "missing-primary-key": _missing_primary_key,
    "unexpected-primary-key": _unexpected_primary_key,
    "missing-index": "DROP INDEX {index}",
    "further-index": _further_index,
    "view-in-place-of-table": _view_in_place,
    "view-or-trigger": "CREATE VIEW Overview AS SELECT 1 AS one",
    "undocumented-constraint": _undocumented_constraint,
    "empty-table": _empty_table,
    "row-count": _row_count,
    "foreign-table": _foreign_table,
    "foreign-column": ADD_COLUMN,
    "enum-member-missing": "DELETE FROM {table} WHERE id = {id}",
    "enum-member-unknown": "INSERT INTO {table} VALUES (60000, 'TELEPATHY')",
    "enum-member-renamed": "UPDATE {table} SET name = 'X' || name WHERE id = {id}",
    "enum-member-of-another-revision": _member_of_another_revision,
    "user-version": "PRAGMA user_version = 2026053012",
}
"""By the code of a check: the statement that breaks its rule, or what derives statements from the
schema. ``swapped`` is the name of the column in the other letter case.
"""
