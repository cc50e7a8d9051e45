"""The entities of the recording as a database shows them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import cached_property
from itertools import chain
from typing import Any

import apsw
import pyarrow as pa

from ascend_ref.db.open import read_examples
from ascend_spec import recording_catalog
from ascend_spec.core.shows import Show
from ascend_spec.core.units import factor
from ascend_spec.db.model import STRINGS, Column
from ascend_spec.recording import Entity

from ...engine.relations.views import Codes, Dialect, Part, View, Views, with_interval
from .constants import ConstantSets
from .session import Session, batches_of
from .sql import without

LINKS = frozenset({"connectionId", "globalTaskId", "operatorId", "callchainId"})
"""Value types of numbers that only link rows: a sentinel among them is no link."""

SPACE = "database"

ROWS_PER_TEXT = 4
"""Rows of a table for each text from which on all texts are compared once, not one for a row."""


class ShownByDatabase:
    """An open database as what relations are judged in.

    ``condemned``: by ``TABLE.column``, conditions of rows whose cell other rules have found bad;
    such rows take part in no relation that reads the cell. ``resolved``: ``TABLE.column`` of
    references that other rules found to lead to a row, all of them.
    """

    dialect: Dialect = "sqlite"

    def __init__(
        self,
        session: Session,
        connection: apsw.Connection,
        condemned: Mapping[str, Sequence[str]] | None = None,
        resolved: Collection[str] = (),
    ) -> None:
        self.session = session
        self.connection = connection
        self.condemned = condemned or {}
        self.resolved = resolved

    def views(self) -> Sequence[View]:
        """One view for each table and entity of which it shows a column."""
        return self._views

    @cached_property
    def _views(self) -> Views:
        return Views(
            view
            for table in self.session.layout.tables
            if self.session.rows[table]
            for view in self._of_table(table)
        )

    def rows(self, query: str) -> Iterable[tuple[Any, ...]]:
        """The rows of a SELECT."""
        return self.connection.execute(query)

    def batches(
        self, query: str, multiplies: bool
    ) -> AbstractContextManager[Iterator[pa.RecordBatch]]:
        """The rows of a SELECT, each column of one type.

        In bulk, where neither the work has to be limited nor the SQL is of condemned cells, which
        may need what this connection alone has.
        """
        if multiplies or self.condemned:
            return nullcontext(batches_of(self.connection, query))
        return closing(self.session.stream(query))

    def values(self, query: str, columns: int, rows: int) -> Sequence[tuple[Any, ...]]:
        """The first rows of a SELECT; texts may be of any bytes."""
        return read_examples(self.connection, query, columns=columns, rows=rows)

    def _of_table(self, table: str) -> Iterator[View]:
        match = self.session.layout.tables[table]
        shown: dict[str, dict[str, str]] = {}
        linked: dict[str, dict[str, str]] = {}
        codes: dict[str, dict[str, Codes]] = {}
        keys: dict[str, set[str]] = {}
        for name in match.columns:
            column = match.table.columns[name]
            guards = self.condemned.get(f"{table}.{name}", ())
            sound = without(guards)
            for value, sql in self._values(table, column):
                entity, _, part = value.partition(".")
                coded = self._codes(table, column)
                if coded is not None and part not in shown.get(entity, {}):
                    codes.setdefault(entity, {})[part] = coded
                if part not in shown.get(entity, {}) and self.session.targets.is_key(table, name):
                    keys.setdefault(entity, set()).add(part)
                shown.setdefault(entity, {}).setdefault(part, sql)
                link = self._linked(table, column)
                conditions = " AND ".join(one for one in (sound, link) if one)
                if conditions:
                    linked.setdefault(entity, {})[part] = conditions
        for entity, columns in shown.items():
            links = linked.get(entity, {})
            unique = frozenset(keys.get(entity, ()))
            facts = recording_catalog().entities[entity]
            self._guard_length(links, facts)
            if self._only_device is not None:
                for name in facts.columns:
                    if facts.columns[name].type == "deviceId":
                        columns.setdefault(name, self._only_device)
            whole = with_interval(columns, facts.interval)
            numbers = codes.get(entity, {})
            shower = Part(f"main.{table}", f"{table}.rowid", whole, (), links, numbers, unique)
            yield View(entity, table, SPACE, (shower,), "database")

    @cached_property
    def _only_device(self) -> str | None:
        """The device that every row is of, where the database names just one."""
        if not self.session.layout.holds("NPU_INFO.id"):
            return None
        found = self.connection.execute("SELECT id FROM main.NPU_INFO LIMIT 2").fetchall()
        return str(found[0][0]) if len(found) == 1 and isinstance(found[0][0], int) else None

    @cached_property
    def _has_texts(self) -> bool:
        """Whether texts can be looked up."""
        return all(self.session.layout.holds(use) for use in (STRINGS, "STRING_IDS.value"))

    def _codes(self, table: str, column: Column) -> Codes | None:
        """The numbers of a cell that names texts, where it pays to look the texts up at once."""
        reference, cell = column.text_reference, f"{table}.{column.name}"
        if reference is None or column.shows.form != "plain":
            return None
        if reference != STRINGS:
            names = newest_names(self.session, reference)
            is_whole = cell in self.resolved and self._are_named(reference, names)
            return Codes(cell, names, is_whole=is_whole)
        strings, _, key = STRINGS.partition(".")
        if not self._has_texts or not self.session.targets.is_key(strings, key):
            return None
        pays = self.session.rows[table] >= ROWS_PER_TEXT * self.session.rows[strings]
        # A database in memory is one of the self-test, whose texts change from query to query.
        written = str if self.session.path is None else self._sets.write_out
        is_whole = cell in self.resolved and self._is_every_text_there
        return Codes(cell, None, strings, written, is_whole) if pays else None

    def _are_named(self, enum: str, names: Mapping[int, str]) -> bool:
        """Whether every member that a reference may name has one of these names."""
        target = self.session.targets[enum, "id"]
        held = chain.from_iterable(range(low, high + 1) for low, high in target.ranges or ())
        return target.ranges is not None and all(
            map(names.__contains__, chain(target.further, held))
        )

    @cached_property
    def _is_every_text_there(self) -> bool:
        select = "SELECT 1 FROM main.STRING_IDS WHERE value IS NULL LIMIT 1"
        return self.connection.execute(select).fetchone() is None

    @cached_property
    def _sets(self) -> ConstantSets:
        return ConstantSets(self.connection, self.session.layout, self.session.targets)

    def _guard_length(self, linked: dict[str, str], entity: Entity) -> None:
        guards = [linked[name] for name in (entity.interval or ()) if name in linked]
        if entity.interval and guards:
            linked[entity.interval[2]] = " AND ".join(guards)

    def _linked(self, table: str, column: Column) -> str:
        if column.type not in LINKS or not column.none:
            return ""
        listed = ", ".join(map(str, column.none))
        return f"{table}.{column.name} NOT IN ({listed})"

    def _values(self, table: str, column: Column) -> Iterator[tuple[str, str]]:
        """The values that a column shows, each with its SQL."""
        show, cell = column.shows, f"{table}.{column.name}"
        if show.form == "packed":
            high, low = show.of
            yield high, f"({cell} >> 32)"
            yield low, f"({cell} & 4294967295)"
        elif show.form == "plain":
            sql = self._plain(cell, column, show)
            if sql is not None:
                yield show.of[0], sql

    def _plain(self, cell: str, column: Column, show: Show) -> str | None:
        reference = column.text_reference
        if reference == STRINGS:
            text = f"(SELECT value FROM main.STRING_IDS WHERE id = {cell})"
            return text if self._has_texts else None
        if reference is not None:
            names = newest_names(self.session, reference).items()
            cases = " ".join(f"WHEN {number} THEN '{name}'" for number, name in names)
            return f"(CASE {cell} {cases} END)"
        if column.type == "timestampText":
            return f"CAST({cell} AS INTEGER)"
        return self._number(cell, column, show)

    def _number(self, cell: str, column: Column, show: Show) -> str | None:
        """A number in the unit of its value, NULL for a sentinel."""
        entity, _, name = show.of[0].partition(".")
        if recording_catalog().entities[entity].columns[name].is_text:
            return cell if "text" in column.storage else f"CAST({cell} AS TEXT)"
        times = factor(column.unit, recording_catalog().entities[entity].columns[name].unit)
        if times is not None and times != 1:
            return f"CAST(round({cell} * {times}) AS INTEGER)"
        if times is not None and column.none and column.type not in LINKS:
            listed = ", ".join(map(str, column.none))
            return f"(CASE WHEN {cell} IN ({listed}) THEN NULL ELSE {cell} END)"
        return None if times is None else cell


def newest_names(session: Session, enum: str) -> Mapping[int, str]:
    """The names of an enum's members by id, those of the newest revision where they changed."""
    members = sorted(session.catalog.enums[enum].members, key=lambda one: one.since or "")
    return {member.id: member.name.replace("'", "''") for member in members}
