"""Changes of entities, carried out on CSV cells and events: the writing side of their views."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from ascend_ref.text.read import is_text
from ascend_spec import recording_catalog, timeline_catalog
from ascend_spec.core.shows import Show
from ascend_spec.core.units import factor
from ascend_spec.text import CsvColumn
from ascend_spec.timeline import EventKind

from ...compare.sql import quoted
from ...engine.relations.edits import CannotShow
from ...engine.relations.views import View
from .layers import layer_table
from .loadcsv import columns_in
from .views import ShownByFiles, row_of_place


class EditableFiles(ShownByFiles):
    """Facts that may be changed; layers must be views of the events."""

    def write(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        """Make a row show these values."""
        if view.medium == "csv":
            self._write_cells(view, place, self._with_length(view, place, values))
        else:
            self._write_event(view, place, self._with_length(view, place, values))

    def drop(self, view: View, place: int) -> None:
        """Take a row away."""
        file, row = row_of_place(place)
        self._execute(f"DELETE FROM {self._table(view)} WHERE file = {file} AND row = {row}")

    def repeat(self, view: View, place: int) -> None:
        """Write a row once more, behind all others."""
        file, row = row_of_place(place)
        table = self._table(view)
        self._execute(
            f"INSERT INTO {table} SELECT * REPLACE ((SELECT max(row) + 1 FROM {table}) AS row) "
            f"FROM {table} WHERE file = {file} AND row = {row}"
        )

    def _table(self, view: View) -> str:
        return f"raw.{quoted(view.space)}" if view.medium == "csv" else "trace.event"

    def _execute(self, statement: str, values: list[Any] | None = None) -> None:
        self.facts.connection.execute(statement, values or [])

    def _with_length(self, view: View, place: int, values: Mapping[str, Any]) -> dict[str, Any]:
        """With the length in the place of the end, as most files show it."""
        interval = recording_catalog().entities[view.entity].interval
        found = dict(values)
        if interval is None or not found.keys() & {"start", "end"}:
            return found
        query = f'SELECT start, "end" FROM ({view.select({"start", "end"})}) WHERE place = {place}'
        [(start, end)] = self.rows(query)
        start, end = found.get("start", start), found.get("end", end)
        return {**found, "start": start, "end": end, "length": end - start}

    def _write_cells(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        file, row = row_of_place(place)
        shown: set[str] = set()
        for text, column in columns_in(self.facts, view.space, self.writers[view.space]):
            for value in column.shows.of:
                entity, _, part = value.partition(".")
                if entity == view.entity and part in values:
                    shown.add(part)
                    self._execute(
                        f"UPDATE {self._table(view)} SET {quoted(text)} = ? "
                        f"WHERE file = {file} AND row = {row}",
                        [cell_of(column, value, values[part])],
                    )
        self._require(view, values, shown)

    def _require(self, view: View, values: Mapping[str, Any], shown: set[str]) -> None:
        if {"start", "length"} <= shown:
            shown = shown | {"end"}
        lost = values.keys() - shown - {"length"}
        if lost:
            raise CannotShow(f"{view.name} shows no {', '.join(sorted(lost))}")

    def _write_event(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        file, row = row_of_place(place)
        where = f"WHERE file = {file} AND row = {row}"
        layer = timeline_catalog().layers[view.name]
        [(kind_name,)] = self.rows(f"SELECT kind FROM trace.{layer_table(layer.slug)} {where}")
        kind = layer.event(kind_name)
        shown: set[str] = set()
        for cell, show, value in _event_cells(kind, view.entity, values):
            part = value.partition(".")[2]
            shown.add(part)
            self._write_key(where, kind, cell, show, values[part])
        self._require(view, values, shown)

    def _write_key(self, where: str, kind: EventKind, cell: str, show: Show, given: Any) -> None:
        if show.form == "words":
            given = next(word for word, value in show.words if value == given)
        if cell in ("ts", "dur", "tid"):
            value = given / 1000 if cell == "dur" else given
            self._execute(f"UPDATE trace.event SET {cell} = ? {where}", [value])
        elif cell == "name" or cell.startswith("name."):
            [(old,)] = self.rows(f"SELECT name FROM trace.event {where}")
            field = cell.partition(".")[2]
            new = str(given) if not field else _renamed(old, kind, field, str(given))
            self._execute(
                "INSERT INTO trace.named SELECT file, row, shape, ?, ?, 1 "
                f"FROM trace.event {where} "
                "AND (file, shape) IN (SELECT (file, shape) FROM trace.named) "
                "AND (file, shape, ?) NOT IN (SELECT (file, shape, name) FROM trace.named)",
                [new, kind.kind, new],
            )
            self._execute(f"UPDATE trace.event SET name = ? {where}", [new])
        elif "." in cell or cell == "device":
            raise CannotShow(f"{cell} stands on another event")
        else:
            arg = next(one for one in kind.args if one.name.template == cell)
            if given is None:
                given = arg.none[0] if arg.none else None
            entity, _, name = show.of[0].partition(".")
            times = factor(arg.unit, recording_catalog().entities[entity].columns[name].unit) or 1
            if times != 1:
                given = given / times
            if "string" in arg.json and given is not None:
                given = str(given)
            self._execute(
                f"UPDATE trace.event SET args = json_merge_patch(args, ?)::VARCHAR {where}",
                [json.dumps({cell: given})],
            )


def _event_cells(
    kind: EventKind, entity: str, values: Mapping[str, Any]
) -> Iterator[tuple[str, Show, str]]:
    args = ((arg.name.template, arg.shows) for arg in kind.args)
    for cell, show in (*kind.shows.items(), *args):
        for value in show.of:
            owner, _, part = value.partition(".")
            if owner == entity and part in values:
                yield cell, show, value


def _renamed(old: str, kind: EventKind, field: str, new: str) -> str:
    """A name with another text for one of its changing parts."""
    found = kind.name.named(old)
    if found is None:
        raise CannotShow(f"{old!r} is no name of {kind.kind}")
    return kind.name.of(**{**found, field: new})


def cell_of(column: CsvColumn, value: str, given: Any) -> str:
    """The text of a CSV cell that shows a value."""
    if given is None:
        return column.sentinels[0] if column.sentinels else ""
    show = column.shows
    if show.form == "words":
        return next(word for word, meant in show.words if meant == given)
    if show.form == "pattern" and show.pattern is not None:
        return show.pattern.replace(f"{{{value.partition('.')[2]}}}", str(given))
    if is_text(column):
        return str(given)
    entity, _, name = value.partition(".")
    unit = recording_catalog().entities[entity].columns[name].unit
    if column.type == "timestampUs":
        text = format(Decimal(given).scaleb(-3), "f")  # ns, of which the exporters write each digit
    else:
        times = factor(column.unit, unit) or 1
        text = str(given) if times == 1 else format(Decimal(given) / times, "f")
    return text + "\t" if column.tab else text
