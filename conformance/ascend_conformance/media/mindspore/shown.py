"""The entities of the recording as intermediate files show them, and relations judged on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from ascend_ref.db.open import read_examples
from ascend_spec import mindspore_catalog, per_spec, recording_catalog
from ascend_spec.core.units import factor
from ascend_spec.mindspore import IntermediateFile, TableColumn

from ...engine.asking import Asked
from ...engine.file_rules import place_words, where
from ...engine.relations.edits import CannotShow
from ...engine.relations.judge import Answer, groups
from ...engine.relations.judge import questions as questions_on
from ...engine.relations.rule import Relation
from ...engine.relations.views import Dialect, Part, View, Views, with_interval
from ...engine.sqlite_facts import SqliteFacts
from ...engine.work import limited
from ...finding import Finding
from ...options import Options
from .facts import HAS_ROWS
from .gather import Folder

NS: Mapping[str, int] = {"tick": 10, "10 ns": 10}
"""Nanoseconds of units that are this profiler's own (mindspore-profiler 1.2)."""

POINTS = "step_trace"
"""Its instants of 0 are none: parsers write 0 for a point that an export lacks."""


class ShownByFacts:
    """The facts of a folder as what relations are judged in."""

    dialect: Dialect = "sqlite"

    def __init__(self, facts: SqliteFacts) -> None:
        self.facts = facts

    def views(self) -> Sequence[View]:
        """One view for each intermediate file with rows and entity of which it shows a column."""
        return self._views

    @cached_property
    def _views(self) -> Views:
        there = [
            one
            for one in mindspore_catalog().tables.values()
            if one.form in HAS_ROWS and self.facts.rows(f"SELECT 1 FROM {one.table} LIMIT 1")
        ]
        return Views(view for table in there for view in _views_of(table))

    def rows(self, query: str) -> Iterable[tuple[Any, ...]]:
        """The rows of a SELECT."""
        return self.facts.connection.execute(query)

    def values(self, query: str, columns: int, rows: int) -> Sequence[tuple[Any, ...]]:
        """The first rows of a SELECT."""
        return read_examples(self.facts.connection, query, columns=columns, rows=rows)

    def write(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        """Make a row show values. Raises :class:`.CannotShow`."""
        for name, value in values.items():
            column = self.cell_of(view, name, place)
            if column is None:
                raise CannotShow(f"no column of {view.name} shows {view.entity}.{name}")
            scale = _scale(column, view.entity, name) or 1
            cell = value if value is None or scale == 1 else value / scale
            self._run(f'UPDATE {view.name} SET "{column.name}" = ? WHERE rowid = ?', cell, place)

    def cell_of(self, view: View, name: str, place: int) -> TableColumn | None:
        """The column of an intermediate file that shows a value of an entity in a row."""
        value, row = f"{view.entity}.{name}", f"SELECT 1 FROM {view.name} WHERE rowid = ?"
        columns = next(
            columns
            for condition, columns in _layouts(mindspore_catalog().tables[view.name])
            if self.facts.rows(f"{row} AND {condition}", [place])
        )
        return next((one for one in columns if one.each is None and value in one.shows.of), None)

    def drop(self, view: View, place: int) -> None:
        """Take a row away."""
        self._run(f"DELETE FROM {view.name} WHERE rowid = ?", place)

    def repeat(self, view: View, place: int) -> None:
        """Write a row once more."""
        self._run(f"INSERT INTO {view.name} SELECT * FROM {view.name} WHERE rowid = ?", place)

    def _run(self, statement: str, *values: Any) -> None:
        self.facts.connection.execute(statement, values)


def ask_relations(
    folder: Folder, relations: Sequence[Relation], options: Options
) -> Asked[Finding]:
    """Judge relations where intermediate files show their columns."""
    shown = ShownByFacts(folder.facts)
    rows = folder.facts.value("SELECT sum(size) FROM file") or 0
    asked = Asked[Finding]()
    asked.ask(
        questions_on(
            groups(relations, shown),
            shown,
            lambda _: limited(folder.facts.connection, rows),
            partial(_finding, folder, options, shown),
            options.max_examples,
        )
    )
    return asked


def _finding(folder: Folder, options: Options, shown: ShownByFacts, answer: Answer) -> Finding:
    relation, view = answer.relation, answer.view
    path, line, offset = where(folder, view.name, answer.places[0])
    cell = shown.cell_of(view, relation.search.at.partition(".")[2], answer.places[0])
    words = relation.counted(answer.count, answer.population) + place_words(line, offset)
    found = relation.finding(folder.shown(path), words, answer.count, answer.population)
    return replace(
        found,
        table=view.name,
        column=None if cell is None else cell.name,
        examples=answer.examples,
        context={"count": answer.count, "rows": answer.population, "line": line, **answer.window},
        sql=answer.query if options.with_sql else None,
        line=line,
        offset=offset,
    )


Layout = tuple[str, tuple[TableColumn, ...]]
"""Columns, and the condition by which a row is of a file that has them."""


def _layouts(table: IntermediateFile) -> Sequence[Layout]:
    """One for files of all days, or two where names that are made of exports changed: a name can
    stand for something else then.
    """
    late = tuple(one for one in table.exported if one.until is None)
    others = {one.name for one in (*table.columns, *table.exported) if one not in late}
    marks = [one.name for one in late if one.since is not None and one.name not in others]
    if not marks:
        return [("TRUE", table.columns)]
    is_late = (
        f"(SELECT instr(',' || h.text || ',', ',{marks[0]},') FROM header h"
        f" WHERE h.of = '{table.table}' AND h.file = {table.table}.file)"
    )
    return [(f"coalesce({is_late}, 0) = 0", table.columns), (f"{is_late} > 0", late)]


@per_spec
def _parts() -> Mapping[str, Mapping[str, Sequence[Part]]]:
    """By table and entity."""
    found: dict[str, dict[str, list[Part]]] = {}
    for table in mindspore_catalog().tables.values():
        if table.form not in HAS_ROWS:
            continue
        for condition, columns in _layouts(table):
            for entity, cells in _cells(columns).items():
                interval = recording_catalog().entities[entity].interval
                part = Part(
                    table.table,
                    f"{table.table}.rowid",
                    with_interval(cells, interval),
                    ('"end" = 0', condition),
                )
                found.setdefault(table.table, {}).setdefault(entity, []).append(part)
    return found


def _cells(columns: Sequence[TableColumn]) -> Mapping[str, Mapping[str, str]]:
    """SQL by entity and column of the entity."""
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        for entity, name in _values(column):
            found.setdefault(entity, {}).setdefault(name, _sql(column, entity, name))
    return found


def _values(column: TableColumn) -> Iterator[tuple[str, str]]:
    if column.each is None and column.shows.form == "plain":
        for value in column.shows.of:
            entity, _, name = value.partition(".")
            if _scale(column, entity, name) is not None:
                yield entity, name


def _scale(column: TableColumn, entity: str, name: str) -> int | None:
    unit = recording_catalog().entities[entity].columns[name].unit
    return NS.get(column.unit or "") if column.unit in NS else factor(column.unit, unit)


def _sql(column: TableColumn, entity: str, name: str) -> str:
    """A cell in the unit of the recording; nothing for one that is no number."""
    cell = f'"{column.name}"'
    value = recording_catalog().entities[entity].columns[name]
    if value.is_text:
        return cell
    if entity == POINTS and value.type == "timestampNs":
        cell = f"nullif({cell}, 0)"
    scale = _scale(column, entity, name)
    number = cell if scale == 1 else f"CAST(round({cell} * {scale}) AS INTEGER)"
    return f"CASE WHEN typeof({cell}) IN ('integer', 'real') THEN {number} END"


def _views_of(table: IntermediateFile) -> Iterator[View]:
    for entity, parts in _parts().get(table.table, {}).items():
        yield View(entity, table.table, table.table, tuple(parts), "mindspore")
