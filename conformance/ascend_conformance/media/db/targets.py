"""The surveyed target columns of one session."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any, Protocol

import apsw

from ascend_spec import Schema

from .layout import Layout
from .places import reference_kind
from .references import Target, survey_column, survey_key

Place = tuple[str, str]


class Surveyed(Protocol):
    """What a survey reads: one database and what its schema says of it."""

    connection: apsw.Connection
    layout: Layout

    @property
    def schema(self) -> Schema:
        """What the database should be."""

    def stream(self, select: str) -> Any:
        """The batches of a SELECT of one column."""


class Targets:
    """Surveys each (table, column) once, when it is first asked for.

    Not for several threads at once: ask for everything that is needed before they start.
    """

    def __init__(self, session: Surveyed) -> None:
        self._session = session
        self._known: dict[Place, Target] = {}

    def __getitem__(self, place: Place) -> Target:
        if place not in self._known:
            self._known[place] = self._survey(*place)
        return self._known[place]

    def is_key(self, table: str, column: str) -> bool:
        """Whether the column stands in the file as an alias of the rowid."""
        if not self._session.layout.holds(f"{table}.{column}"):
            return False
        match = self._session.layout.tables[table]
        return match.physical.rowid_alias == match.columns[column].name

    def _survey(self, table: str, column: str) -> Target:
        session = self._session
        if self.is_key(table, column):
            target = survey_key(session.connection, table, column)
        else:
            with closing(session.stream(f"SELECT {column} FROM {table}")) as batches:
                target = survey_column(session.connection, table, column, batches)
        return replace(target, further=self._members(table, column))

    def _members(self, table: str, column: str) -> frozenset[int]:
        """Ids that count as held: an enum member that the table lacks is reported as such, once."""
        if reference_kind(f"{table}.{column}") != "enum":
            return frozenset()
        return frozenset(self._session.schema.enums.get(table, ()))
