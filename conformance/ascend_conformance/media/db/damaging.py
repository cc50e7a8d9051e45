"""A database damaged as a rule's break does, each changed row recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from ascend_ref.db.display import printable
from ascend_ref.db.introspect import quote_identifier
from ascend_ref.db.open import TICK, UnreadableDatabase

from ...engine.candidate import Candidate
from ...engine.damaging import MOST_LISTED, Change
from ...engine.relations.binding import Unjudged
from ...engine.relations.edits import CannotShow, change
from ...engine.relations.rule import Relation, RelationSearch
from ...engine.trials import NotBreakable
from ...finding import Scalar
from ...options import Options
from ...ruleset import Rule
from .edits import EditableDatabase
from .mutation import statements
from .opening import open_session
from .plan import all_instances, schema_key
from .rules import DbRule
from .session import Session, start
from .sql import register, single_row

STEPS = 200_000
"""Calls of the progress handler after which a break is given up: some minutes."""

_SHOWN = 200
"""Characters of a statement or value."""


def damage_database(candidate: Candidate, rule: Rule[Any], at: str | None) -> list[Change]:
    """Carry out a rule's break in a database, at a place (``TABLE.column``) or at the first.

    Raises :class:`NotBreakable`.
    """
    try:
        with open_session(candidate, Options()) as clean:
            if single_row(clean.connection, TRIGGERS)[0]:
                raise NotBreakable("it has triggers, which a change would run")
            with _writing(candidate.path, clean) as connection:
                watch = _Watch(connection)
                connection.execute("BEGIN IMMEDIATE")
                _carry_out(candidate, clean, watch, rule, at)
                found = list(watch.changes(clean.connection, str(candidate.path)))
                connection.execute("COMMIT")
    except (UnreadableDatabase, apsw.Error) as problem:
        raise NotBreakable(str(problem)) from problem
    return found


TRIGGERS = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"


@contextmanager
def _writing(path: Path, clean: Session) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        register(connection)
        ticks = iter(range(STEPS))
        connection.set_progress_handler(lambda: next(ticks, None) is None, TICK)
        if clean.profiler is not None and clean.profiler.path is not None:
            connection.execute("ATTACH ? AS profiler", (str(clean.profiler.path),))
        yield connection


class _Watch:
    """Every row that statements change; what a statement does without rows is the statement."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._rows: dict[tuple[str, int], None] = {}
        self._others: list[str] = []
        self._before = connection.total_changes()
        connection.set_update_hook(self._note)

    def _note(self, _kind: int, schema: str, table: str, row: int) -> None:
        if schema == "main" and len(self._rows) < MOST_LISTED:
            self._rows[table, row] = None

    def run(self, statement: str) -> None:
        """Run a statement of a break."""
        before = len(self._rows)
        self.connection.execute(statement)
        if len(self._rows) == before:
            self._others.append(statement)

    def forget(self) -> None:
        """Begin anew, after what was done has been undone."""
        self._rows.clear()
        self._others.clear()
        self._before = self.connection.total_changes()

    @property
    def changed(self) -> bool:
        """Whether anything is another now."""
        wrote = self.connection.total_changes() > self._before
        return bool(self._rows) or (bool(self._others) and wrote) or bool(self._ddl())

    def _ddl(self) -> list[str]:
        return [one for one in self._others if not one.lstrip().upper().startswith(_OF_ROWS)]

    def changes(self, before: apsw.Connection, file: str) -> Iterator[Change]:
        """What is another than before."""
        for table, row in self._rows:
            old, new = _row(before, table, row), _row(self.connection, table, row)
            where = f"{table}, rowid {row}"
            if not old or not new:
                came = "a new row" if new else "a row less"
                yield Change(file, f"{where}: {came}")
                continue
            for column in new:
                if old.get(column) != new[column]:
                    yield Change(file, where, column, old.get(column), new[column])
        for statement in self._others:
            yield Change(file, printable(statement)[:_SHOWN])


_OF_ROWS = ("UPDATE", "DELETE", "INSERT")


def _row(connection: apsw.Connection, table: str, row: int) -> dict[str, Scalar]:
    select = f"SELECT * FROM main.{quote_identifier(table)} WHERE rowid = ?"
    try:
        cursor = connection.execute(select, (row,))
        found = cursor.fetchone()
        names = [entry[0] for entry in cursor.get_description()] if found else []
    except (apsw.SQLError, apsw.ExecutionCompleteError):
        return {}  # the table is new, or gone
    shown = (
        printable(str(one))[:_SHOWN] if isinstance(one, (str, bytes)) else one
        for one in found or ()
    )
    return dict(zip(names, shown, strict=True))


def _carry_out(
    candidate: Candidate, clean: Session, watch: _Watch, rule: Rule[Any], at: str | None
) -> None:
    if isinstance(rule.search, RelationSearch):
        _relate(candidate, clean, watch, rule)
        return
    reasons: list[str] = []
    for place, todo in _ways(clean, rule, at, reasons):
        watch.connection.execute("SAVEPOINT way")
        try:
            for statement in todo:
                watch.run(statement)
        except apsw.SQLError as problem:
            reasons.append(f"{place}: {problem}")
        else:
            if watch.changed:
                watch.connection.execute("RELEASE way")
                return
            reasons.append(f"{place}: it changes nothing here")
        watch.connection.execute("ROLLBACK TO way")
        watch.forget()
    raise NotBreakable(reasons[0] if reasons else "the rule has no place in it")


def _ways(
    clean: Session, rule: DbRule, at: str | None, reasons: list[str]
) -> Iterator[tuple[str, list[str]]]:
    for instance in all_instances(schema_key(clean.schema)):
        if instance.rule.id == rule.id and at in (None, instance.at):
            try:
                yield instance.at, statements(instance, clean, rule.breaks)
            except NotBreakable as reason:
                reasons.append(f"{instance.at}: {reason}" if instance.at else str(reason))


def _relate(candidate: Candidate, clean: Session, watch: _Watch, relation: Relation) -> None:
    session = start(
        candidate.path.name, None, watch.connection, "observed", profiler=clean.profiler
    )
    shown = EditableDatabase(session, watch.connection)
    for edit in relation.search.edits:
        try:
            done = change(relation, edit, shown)
        except CannotShow as reason:
            raise NotBreakable(str(reason)) from reason
        if isinstance(done, Unjudged):
            raise NotBreakable(done.reason)
