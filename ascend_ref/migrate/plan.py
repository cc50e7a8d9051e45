"""What is to be done with each table of a database, as SQL and as words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ascend_ref.db.ddl import create_statement, creation_order, creator
from ascend_ref.db.introspect import (
    PhysicalColumn,
    PhysicalSchema,
    PhysicalTable,
    fold,
    quote_identifier,
)
from ascend_ref.db.neutral import neutral
from ascend_spec import Schema, catalog
from ascend_spec.db.model import STRINGS, Column, Table

from .account import Effect
from .cells import cell, converted, convertible, is_same, literal, nothing
from .crossing import Crossing
from .lineage import same_columns
from .members import Members
from .strings import CANN, FRAMEWORK, Strings

_PLAIN_TYPE = re.compile(r"\w+( \w+)*( ?\(\d+(, ?\d+)?\))?", re.ASCII)
_OF_SQLITE = "sqlite_"
NO_ROWS = ("view", "virtual", "shadow")


_NOTHING_CROSSES = Crossing("", {}, {}, {}, "", "")


@dataclass(frozen=True, slots=True)
class Note:
    """An entry to come. ``condition``: the old rows that it counts; without it ``count``, or all
    rows. One that counts none is no entry, unless something ``vanishes`` all the same.
    """

    effect: Effect
    place: str
    words: str
    condition: str | None = None
    count: int | None = None
    vanishes: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a new table; ``sql`` gives its cells, by the old row."""

    name: str
    declared: str
    is_key: bool
    sql: str


@dataclass(frozen=True)
class TablePlan:
    """A table of the new database, or one that goes. ``statement``: that creates it; "" for one
    that goes. ``cells``: none where nothing is copied; ``join``: what their SQL reads besides the
    old row. ``members``: the rows of an enum table, and how many were ``read`` for them.
    """

    name: str
    source: PhysicalTable | None
    statement: str = ""
    cells: tuple[Cell, ...] = ()
    as_it_is: bool = False
    members: Mapping[int, str] = field(default_factory=dict)
    read: int = 0
    join: str = ""
    indexes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


class Planner:
    """Plans the tables of one database. ``members``: of its enum tables, by name."""

    def __init__(
        self,
        physical: PhysicalSchema,
        old: Schema,
        new: Schema,
        members: Mapping[str, Members],
        strings: Strings,
        crossings: Iterable[Crossing],
    ) -> None:
        self._physical = physical
        self._old, self._new = old, new
        self._members = members
        self._strings = strings
        self._crossings = {one.table: one for one in crossings}

    def plans(self) -> Iterator[TablePlan]:
        """Every table, those of the target in the order in which its exporter creates them."""
        known = set()
        for table in creation_order(self._new):
            found = self._physical.readable(table.name) or self._before(table)
            if found is not None:
                known.add(found.name)
                yield self._carried(table, found)
            elif table.name not in self._old.tables and self._is_always(table):
                yield self._appearing(table)
        for found in self._physical.tables.values():
            if found.name not in known:
                yield self._other(found)

    def _before(self, table: Table) -> PhysicalTable | None:
        """The table under the name that it had before."""
        if table.renamed_from is None or table.renamed_from in self._new.tables:
            return None
        return self._physical.readable(table.renamed_from)

    def _is_always(self, table: Table) -> bool:
        return table.carriers[self._new.carrier] == "always"

    def _carried(self, table: Table, found: PhysicalTable) -> TablePlan:
        old = self._old.tables.get(table.name)
        cells, notes = self._cells(table, old, found)
        if fold(found.name) != fold(table.name):
            notes.append(Note("renamed", table.name, f"{found.name} before"))
        elif old is None:
            notes.append(Note("kept", table.name, "a table that only the target has"))
        members = self._members.get(table.name)
        if members is not None:
            notes += _of_members(members)
        indexes = {
            name: columns
            for name, columns in table.indexes.items()
            if {*columns} <= {one.name for one in cells}
            and (old is None or name not in old.indexes or _has_index(found, name))
        }
        notes += [
            Note("left-out", f"{table.name} {one.name}", "an index of no exporter")
            for one in found.indexes
            if one.origin == "create" and one.name not in table.indexes
        ]
        return TablePlan(
            name=table.name,
            source=found,
            statement=self._statement(table, cells),
            cells=tuple(cells),
            as_it_is=_as_it_is(found, cells),
            members=members.rows if members is not None and members.changes else {},
            read=0 if members is None else members.read,
            join=self._crossing(table).join,
            indexes=indexes,
            notes=tuple(notes),
        )

    def _statement(self, table: Table, cells: Sequence[Cell]) -> str:
        names = table.columns.keys()
        columns = (
            (
                one.name if one.name in names else quote_identifier(one.name),
                one.declared,
                one.is_key,
            )
            for one in cells
        )
        return create_statement(table.name, columns, creator(table, self._new))

    def _appearing(self, table: Table) -> TablePlan:
        """A table that every file of the target has; only enum tables have rows of themselves."""
        rows = self._new.enums.get(table.name, {})
        cells = [
            Cell(one.name, one.declared, one.primary_key, "") for one in table.columns.values()
        ]
        words = "a table that every file of the target has"
        return TablePlan(
            name=table.name,
            source=None,
            statement=self._statement(table, cells),
            members=rows,
            indexes=table.indexes,
            notes=(Note("added", table.name, words),),
        )

    def _other(self, found: PhysicalTable) -> TablePlan:
        """A table that the target does not have."""
        name = found.name
        if fold(name).startswith(_OF_SQLITE):
            return TablePlan(name, None, notes=(Note("left-out", name, "SQLite's own"),))
        if found.kind == "view":
            return TablePlan(name, None, notes=(Note("left-out", name, "a view"),))
        if found.kind in NO_ROWS or not found.columns:
            words = found.damage or f"a {found.kind} table, whose rows are not read"
            return TablePlan(name, None, notes=(Note("lost", name, words),))
        if fold(name) in map(fold, self._old.tables) and not self._is_tolerated(name):
            words = f"no table of {self._new.revision.id}"
            others = _others(self._old.enums.get(name))
            return TablePlan(name, found, notes=(Note("lost", name, words, others, vanishes=True),))
        if fold(name) in map(fold, self._new.tables):
            words = "twice, in other letters"
            return TablePlan(name, found, notes=(Note("lost", name, words),))
        cells = [_kept(found, one) for one in found.columns if not one.generated]
        columns = ((quote_identifier(one.name), one.declared, one.is_key) for one in cells)
        return TablePlan(
            name=name,
            source=found,
            statement=create_statement(quote_identifier(name), columns, None),
            cells=tuple(cells),
            as_it_is=_as_it_is(found, cells),
            notes=(Note("kept", name, f"no table of {self._new.revision.id}"),),
        )

    @staticmethod
    def _is_tolerated(name: str) -> bool:
        """Whether readers know the table in files of revisions that do not have it."""
        return any(one.table == name and not one.column for one in catalog().foreign_objects)

    def _crossing(self, table: Table) -> Crossing:
        return self._crossings.get(table.name, _NOTHING_CROSSES)

    # --- columns ---

    def _cells(
        self, table: Table, old: Table | None, found: PhysicalTable
    ) -> tuple[list[Cell], list[Note]]:
        """The cells of a table that the target has, and what is to be said of them."""
        cells: list[Cell] = []
        notes: list[Note] = []
        same = self._same(table, old)
        left = {fold(one.name): one for one in found.columns if not one.generated}
        free = dict(left)
        for before in old.columns if old else ():
            free.pop(fold(before), None)
        for name, column in table.columns.items():
            was = same.get(name)
            source = left.pop(fold(was), None) if was else free.pop(fold(name), None)
            if source is not None:
                left.pop(fold(source.name), None)
                own = old.columns[was] if old and was else column
                cells.append(self._of_column(table, found, own, column, source, notes))
            elif was is None:
                cells.append(self._defaulted(table, column, notes))
        taken = {fold(one.name) for one in cells}
        for source in left.values():
            place = f"{table.name}.{source.name}"
            vanishing = old and old.columns.get(_spelled(old, source.name))
            if old and vanishing:
                notes.append(self._vanishing(old, vanishing, source))
            elif fold(source.name) in taken:
                words = "the target has another column of this name"
                notes.append(Note("lost", place, words, f"{cell(source.name)} IS NOT NULL"))
            else:
                cells.append(_kept(found, source))
                notes.append(Note("kept", place, "a column that neither revision has"))
        return cells, notes

    def _same(self, table: Table, old: Table | None) -> Mapping[str, str]:
        """New names to old ones, of columns whose cells can be converted."""
        if old is None:
            return {}
        found = same_columns(table.name, self._old.revision.date, self._new.revision.date)
        return {
            name: was
            for name, was in found.items()
            if name in table.columns
            and was in old.columns
            and convertible(old.columns[was], table.columns[name])
        }

    def _of_column(
        self,
        table: Table,
        found: PhysicalTable,
        old: Column,
        new: Column,
        source: PhysicalColumn,
        notes: list[Note],
    ) -> Cell:
        place = f"{table.name}.{new.name}"
        if old.name != new.name:
            notes.append(Note("renamed", place, f"{old.name} before"))
        members = self._members.get(new.text_reference or "")
        kept = replace(_kept(found, source), name=new.name)
        crossing = self._crossing(table)
        if new.name in crossing.cells:
            notes.append(Note("lost", place, crossing.words, crossing.lost(source.name, new.name)))
            return replace(kept, sql=crossing.cells[new.name])
        if new.name in crossing.differs:
            notes.append(Note("kept", place, crossing.words, crossing.differs[new.name]))
        if is_same(old, new, members):
            return kept
        made = converted(source.name, old, new, members, self._nothing(table, new))
        effects: tuple[Effect, ...] = ("converted", "remapped")
        notes += [Note(one, place, *made.words[one]) for one in effects if one in made.words]
        if made.lost:
            notes.append(Note("lost", place, made.why, made.lost))
        declared = new.declared if old.declared != new.declared else kept.declared
        return replace(kept, declared=declared, sql=made.sql)

    def _defaulted(self, table: Table, column: Column, notes: list[Note]) -> Cell:
        made = self._crossing(table)
        if column.name in made.cells:
            notes.append(Note("defaulted", f"{table.name}.{column.name}", made.words))
            sql = made.cells[column.name]
            return Cell(column.name, column.declared, column.primary_key, sql)
        sql = self._nothing(table, column)
        text = neutral(column, {}).text
        shown = f"the text {text}" if column.text_reference == STRINGS else sql
        notes.append(Note("defaulted", f"{table.name}.{column.name}", shown))
        return Cell(column.name, column.declared, column.primary_key, sql)

    def _vanishing(self, old: Table, column: Column, source: PhysicalColumn) -> Note:
        """A column that goes; lost are the cells in which coming back would write another value."""
        place = f"{old.name}.{column.name}"
        again = self._crossing(old).back.get(column.name) or self._nothing_before(old, column)
        condition = f"{cell(source.name)} IS NOT ({again})"
        words = f"no column of {self._new.revision.id}"
        return Note("lost", place, words, condition, vanishes=True)

    def _nothing(self, table: Table, column: Column) -> str:
        """SQL for what stands for nothing at the target; a text that is none yet is made one."""
        members = self._new.enums.get(column.text_reference or "", {})
        space = self._space(table, self._new)
        return nothing(column, members, lambda text: self._strings.number(text, space))

    def _nothing_before(self, table: Table, column: Column) -> str:
        members = self._old.enums.get(column.text_reference or "", {})
        space = self._space(table, self._old)
        return nothing(column, members, lambda text: self._strings.found(text, space))

    @staticmethod
    def _space(table: Table, schema: Schema) -> int:
        """First id of the texts of the exporter of a table."""
        return CANN if creator(table, schema) == "msprof" else FRAMEWORK


def _of_members(members: Members) -> list[Note]:
    """What happens to the rows of an enum table."""
    listed: tuple[tuple[Effect, str, tuple[str, ...]], ...] = (
        ("added", "members", members.added),
        ("gone", "members", members.gone),
        ("renamed", "members", members.renamed),
        ("kept", "members that the target does not have, for cells hold them:", members.kept),
    )
    return [
        Note(effect, members.enum, f"{words} {'; '.join(names)}", count=len(names))
        for effect, words, names in listed
        if names
    ]


def _others(members: Mapping[int, str] | None) -> str:
    """A condition on the rows of a table: those of no member of its revision."""
    if not members:
        return "true"
    values = ", ".join(f"({number}, {literal(name)})" for number, name in members.items())
    return f"({cell('id')}, {cell('name')}) NOT IN (VALUES {values})"


def _spelled(table: Table, name: str) -> str:
    """The name of a column as the spec spells it."""
    return next((one for one in table.columns if fold(one) == fold(name)), name)


def _has_index(found: PhysicalTable, name: str) -> bool:
    return any(fold(one.name) == fold(name) for one in found.indexes)


def _kept(table: PhysicalTable, source: PhysicalColumn) -> Cell:
    """A column as it is.

    A declared type that is no plain name is quoted, which leaves its affinity. A key stays one
    where it is the number of the row, as exporters have it.
    """
    declared = source.declared
    if declared and not _PLAIN_TYPE.fullmatch(declared):
        declared = quote_identifier(declared)
    is_key = source.name == table.rowid_alias
    return Cell(source.name, declared, is_key, cell(source.name))


def _as_it_is(found: PhysicalTable, cells: Sequence[Cell]) -> bool:
    """Whether whole rows can be copied."""
    return [one.sql for one in cells] == [cell(one.name) for one in found.columns]
