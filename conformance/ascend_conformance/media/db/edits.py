"""Changes of entities, carried out on the cells of a database: the writing side of its views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from ascend_spec import recording_catalog
from ascend_spec.core.units import factor
from ascend_spec.db.model import STRINGS, Column

from ...engine.relations.edits import CannotShow
from ...engine.relations.views import View
from .views import ShownByDatabase, newest_names


class EditableDatabase(ShownByDatabase):
    """A database that may be changed: a copy in memory. ``written``: the tables that were."""

    @cached_property
    def written(self) -> set[str]:
        """None yet."""
        return set()

    def write(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        """Make a row show these values."""
        match = self.session.layout.tables[view.name]
        self.written.add(view.name)
        cells = dict(self._cells(view, values))
        lost = values.keys() - cells.keys()
        if lost:
            raise CannotShow(f"{view.name} shows no {', '.join(sorted(lost))}")
        for name, column in cells.items():
            sql = self._written(column, f"{view.entity}.{name}", values[name])
            self.connection.execute(
                f"UPDATE main.{view.name} SET {match.columns[column.name].name} = {sql} "
                f"WHERE rowid = {place}"
            )

    def drop(self, view: View, place: int) -> None:
        """Take a row away."""
        self.written.add(view.name)
        self.connection.execute(f"DELETE FROM main.{view.name} WHERE rowid = {place}")

    def repeat(self, view: View, place: int) -> None:
        """Write a row once more, with the next free number where the table needs one."""
        self.written.add(view.name)
        match = self.session.layout.tables[view.name]
        chosen = ", ".join(
            f"(SELECT max({name}) + 1 FROM main.{view.name})"
            if match.table.columns[name].primary_key
            else name
            for name in match.columns
        )
        self.connection.execute(
            f"INSERT INTO main.{view.name} ({', '.join(match.columns)}) "
            f"SELECT {chosen} FROM main.{view.name} WHERE rowid = {place}"
        )

    def _cells(self, view: View, values: Mapping[str, Any]) -> Iterator[tuple[str, Column]]:
        match = self.session.layout.tables[view.name]
        for name in match.columns:
            column = match.table.columns[name]
            for value in column.shows.of:
                entity, _, part = value.partition(".")
                if entity == view.entity and part in values:
                    yield part, column

    def _written(self, column: Column, value: str, given: Any) -> str:
        """SQL for the cell that shows a value."""
        if column.shows.packing is not None:
            if value == column.shows.of[0]:
                return f"(({given} << 32) | ({column.name} & 4294967295))"
            return f"((({column.name} >> 32) << 32) | {given})"
        if given is None:
            return str(column.none[0]) if column.none else "NULL"
        reference = column.text_reference
        if reference is not None:
            return str(
                self._text(given) if reference == STRINGS else self._member(reference, given)
            )
        if isinstance(given, str) or column.type == "timestampText":
            return "'" + str(given).replace("'", "''") + "'"
        entity, _, name = value.partition(".")
        times = factor(column.unit, recording_catalog().entities[entity].columns[name].unit) or 1
        return str(given if times == 1 else given / times)

    def _member(self, enum: str, name: str) -> int:
        """The id of a member of an enum."""
        for number, known in newest_names(self.session, enum).items():
            if known == name:
                return number
        raise CannotShow(f"{enum} has no member {name!r}")

    def _text(self, text: str) -> int:
        """The id of a text, which is added where it is new."""
        execute = self.connection.execute
        found = execute("SELECT min(id) FROM main.STRING_IDS WHERE value = ?", (text,)).fetchone()
        if found is None or found[0] is None:
            self.written.add("STRING_IDS")
            execute(
                "INSERT INTO main.STRING_IDS (id, value) "
                "SELECT max(id) + 1, ? FROM main.STRING_IDS",
                (text,),
            )
            return self._text(text)
        return int(found[0])
