"""One database at another revision, made by SQL inside SQLite."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeAlias

import apsw

from ascend_ref.db.claimed import claimed_revision, claimed_schema, of_same_writer
from ascend_ref.db.ddl import version_facts
from ascend_ref.db.detect import identify
from ascend_ref.db.display import clip, printable
from ascend_ref.db.header import UnreadableDatabase, sound_length
from ascend_ref.db.introspect import PhysicalSchema, describe, quote_identifier
from ascend_ref.db.open import (
    ONCE_KIB,
    database_uri,
    open_readonly,
    require_sound,
    restrict,
    row_bound,
)
from ascend_ref.db.side_files import side_files
from ascend_ref.db.writer import LOAD_PRAGMAS
from ascend_spec import Schema, catalog
from ascend_spec.db.model import Revision

from .account import Entry, Migrated
from .cells import OWN
from .crossing import crossings
from .members import Members, migrate_members
from .plan import Planner, TablePlan
from .strings import Strings

Progress: TypeAlias = Callable[[int, int, str], None]
"""Is called with the tables done, all tables, and the current one."""

OLD = "old"
"""The name under which the old file is attached."""
MOST_MEMBERS = 10_000
"""Rows read of one enum table; the largest real one has 78."""
TEMPORARY_PRAGMAS = ("temp_store = FILE", "temp.journal_mode = MEMORY")
"""What is made of the old file may be too much for memory, and be given up half way."""
STRING_IDS, META_DATA = "STRING_IDS", "META_DATA"


def migrate_database(
    source: Path,
    revision: Revision,
    target: Path,
    beside: Revision | None = None,
    progress: Progress | None = None,
) -> Migrated:
    """Write ``source`` as a database of another revision into the new file ``target``.

    Columns that no revision changed are copied as they are. ``beside``: the revision of the
    profiler's database in the same folder. Raises :class:`UnreadableDatabase` for a file that is
    damaged or no profile, and for rows that cannot stand in a table of the target; ``OSError``.
    """
    with closing(open_readonly(source, ONCE_KIB)) as connection:
        require_sound(connection, source)
        physical = describe(connection)
        identity = identify(physical, connection, source, catalog())
        before = claimed_revision(identity, beside)
        old = claimed_schema(physical, identity.carrier, before.id, source)
        new = of_same_writer(old, revision.id)
        rows = row_bound(connection)
    with _both(source, target, physical.encoding) as connection:
        try:
            plans = _plans(connection, physical, old, new, rows)
            with connection:
                entries = list(_fill(connection, *plans, progress))
                entries += _state_version(connection, physical, new)
        except apsw.Error as error:
            raise _reported(error, source, target) from None
    entries += _beside(source)
    return Migrated(
        file=source.name,
        fate="migrated",
        before=old.revision.id,
        after=new.revision.id,
        entries=tuple(entries),
    )


def _plans(
    connection: apsw.Connection, physical: PhysicalSchema, old: Schema, new: Schema, rows: int
) -> tuple[Sequence[TablePlan], Strings]:
    """What is to be done, and the texts that it needs. ``rows``: more than the old file has."""

    def holds(place: str) -> bool:
        table, _, column = place.partition(".")
        return physical.readable(table, column) is not None

    members = dict(_members(connection, physical, old, new))
    strings = Strings(connection, _readable(physical, STRING_IDS, "id", "value"))
    days = old.revision.date, new.revision.date
    crossed = crossings(connection, *days, holds, rows)
    return list(Planner(physical, old, new, members, strings, crossed).plans()), strings


def _readable(physical: PhysicalSchema, name: str, *columns: str) -> str | None:
    """The name of an old table that has these columns, as SQL."""
    found = physical.readable(name, *columns)
    return None if found is None else f"{OLD}.{quote_identifier(found.name)}"


def _members(
    connection: apsw.Connection, physical: PhysicalSchema, old: Schema, new: Schema
) -> Iterator[tuple[str, Members]]:
    """What becomes of the members of each enum that both revisions have."""
    for name in sorted(old.enums.keys() & new.enums.keys()):
        table = _readable(physical, name, "id", "name")
        held = old.enums[name] if table is None else _held(connection, table, physical.encoding)
        used = partial(_used, connection, physical, old, name)
        enum = catalog().enums[name]
        yield name, migrate_members(enum, held, old.enums[name], new.enums[name], used)


def _used(
    connection: apsw.Connection,
    physical: PhysicalSchema,
    schema: Schema,
    enum: str,
    numbers: Collection[int],
) -> set[int]:
    """Those of the ids of an enum that stand in a column which refers to it."""
    found: set[int] = set()
    listed = ", ".join(map(str, sorted(numbers)))
    for table in schema.tables.values():
        for column in table.columns.values():
            own = _readable(physical, table.name, column.name)
            if column.text_reference == enum and own is not None:
                name = quote_identifier(column.name)
                select = f"SELECT DISTINCT CAST({name} AS INTEGER) FROM {own}"
                rows = connection.execute(f"{select} WHERE {name} IN ({listed})")
                found.update(number for (number,) in rows)
    return found


def _held(connection: apsw.Connection, table: str, encoding: str) -> dict[int, str]:
    """Id to name of the rows that have both, at most so many."""
    rows = connection.execute(
        f"SELECT id, CAST(name AS BLOB) FROM {table} WHERE typeof(id) = 'integer' "
        f"AND typeof(name) = 'text' ORDER BY id LIMIT {MOST_MEMBERS}"
    )
    found = {}
    for number, name in rows:
        with suppress(UnicodeDecodeError):
            found[number] = name.decode(encoding)
    return found


@contextmanager
def _both(source: Path, target: Path, encoding: str) -> Iterator[apsw.Connection]:
    """A connection to the new file, to which the old one is attached, to be read only."""
    sound_length(source)
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    with closing(apsw.Connection(database_uri(target, mode="rwc"), flags=flags)) as connection:
        restrict(connection)
        for pragma in (*LOAD_PRAGMAS, f"encoding = '{encoding}'", *TEMPORARY_PRAGMAS):
            connection.execute(f"PRAGMA {pragma}")
        # quote_from_bytes leaves no quote in a URI.
        connection.execute(f"ATTACH '{database_uri(source, mode='ro')}' AS {OLD}")
        yield connection


def _reported(error: apsw.Error, source: Path, target: Path) -> Exception:
    if isinstance(error, apsw.FullError | apsw.IOError):
        number = errno.ENOSPC if isinstance(error, apsw.FullError) else errno.EIO
        return OSError(number, os.strerror(number), str(target))
    words = clip(printable(str(error)), 200)
    return UnreadableDatabase(source, f"{words}; expected rows that fit the target's tables")


def _fill(
    connection: apsw.Connection,
    plans: Sequence[TablePlan],
    strings: Strings,
    progress: Progress | None,
) -> Iterator[Entry]:
    for done, plan in enumerate(plans):
        if progress:
            progress(done, len(plans), plan.name)
        if plan.statement:
            connection.execute(plan.statement)
        rows = _copy(connection, plan)
        yield from _entries(connection, plan, rows)
        if plan.name == STRING_IDS:
            yield from _add_strings(connection, strings)
    for plan in plans:
        for name, columns in plan.indexes.items():
            if plan.statement:
                connection.execute(f"CREATE INDEX {name} ON {plan.name} ({','.join(columns)})")


def _copy(connection: apsw.Connection, plan: TablePlan) -> int:
    """Copy the rows; returns how many the old table has."""
    if plan.members:
        connection.executemany(
            f"INSERT INTO {plan.name} (id, name) VALUES (?, ?)", plan.members.items()
        )
    if plan.source is None:
        return len(plan.members)
    table = f"{OLD}.{quote_identifier(plan.source.name)}"
    if plan.members or not plan.statement:
        return int(connection.execute(f"SELECT count(*) FROM {table}").get)
    into = quote_identifier(plan.name)
    if plan.as_it_is:
        # SQLite then copies records without a look into them, where nothing else differs.
        connection.execute(f"INSERT INTO main.{into} SELECT * FROM {table}")
    else:
        cells = ", ".join(one.sql for one in plan.cells)
        connection.execute(
            f"INSERT INTO main.{into} SELECT {cells} FROM {table} AS {OWN} NOT INDEXED{plan.join}"
        )
    return connection.changes()


def _entries(connection: apsw.Connection, plan: TablePlan, rows: int) -> Iterator[Entry]:
    """The notes on a table, with their counts; those of one table in one pass."""
    conditions = [note.condition for note in plan.notes if note.condition is not None]
    counts: list[int] = []
    if conditions and plan.source is not None:
        wanted = ", ".join(f"count(*) FILTER (WHERE {one})" for one in conditions)
        table = f"{OLD}.{quote_identifier(plan.source.name)} AS {OWN}{plan.join}"
        (found,) = connection.execute(f"SELECT {wanted} FROM {table}")
        counts = [int(one or 0) for one in found]
    for note in plan.notes:
        effect, count = note.effect, note.count
        if note.condition is not None:
            count = counts.pop(0)
        elif count is None:
            count = rows
        if note.condition is not None and not count:
            if not note.vanishes:
                continue
            effect = "gone"
        yield Entry(effect, printable(note.place), printable(note.words), count)

    if plan.members and plan.source is not None and rows > plan.read:
        words = f"rows without an id and a name, or beyond the first {MOST_MEMBERS:,}"
        yield Entry("lost", plan.name, words, rows - plan.read)


def _add_strings(connection: apsw.Connection, strings: Strings) -> Iterator[Entry]:
    new = strings.new()
    if new:
        connection.executemany(f"INSERT INTO {STRING_IDS} (id, value) VALUES (?, ?)", new.items())
        words = ", ".join(new.values())
        yield Entry("added", STRING_IDS, f"texts of columns that appear: {words}", len(new))


def _state_version(
    connection: apsw.Connection, physical: PhysicalSchema, new: Schema
) -> Iterator[Entry]:
    """Set SCHEMA_VERSION and its parts in META_DATA, where it states them."""
    version = new.revision.schema_version
    if physical.readable(META_DATA, "name", "value") is None:
        return
    changed = 0
    for name, value in version_facts(version).items():
        connection.execute(
            f"UPDATE {META_DATA} SET value = ? WHERE name = ? AND value IS NOT ?",
            (value, name, value),
        )
        changed += connection.changes()
    if changed:
        yield Entry("converted", f"{META_DATA}.value", f"SCHEMA_VERSION {version}", changed)


def _beside(source: Path) -> Iterator[Entry]:
    """What an ordinary reader would take from the files of an unfinished writer."""
    found = side_files(source)
    if found.wal_frames:
        words = "pages of its write-ahead log, which are not read"
        yield Entry("lost", f"{source.name}-wal", words, found.wal_frames)
    if found.hot_journal_bytes:
        words = "bytes of a journal that was not rolled back"
        yield Entry("lost", f"{source.name}-journal", words, found.hot_journal_bytes)
