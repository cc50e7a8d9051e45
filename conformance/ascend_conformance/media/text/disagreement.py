"""How to break an agreement: one value of one side changed, or one row of it removed.

What breaks it follows from the agreement itself: every column that it compares or pairs by shows a
cell of a table of the facts, and that cell is changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from ...compare.agreement import WHICH, Agreement, Comparison, Which, other_than, quoted_names
from ...compare.match import FILE, PAIRS, REALS, ROW, Cell, Compared, pair_all, pair_types
from ...compare.sql import quoted
from .database import Facts
from .selecting import reading_of
from .sources import Input, Sources, base_tables, gathers, home_of, inputs_of, made

SHARED = ("name", "ts", "dur", "pid", "tid")
"""Columns that the table of a layer has in common with the table of all events."""
STEP_US, STEP_NS = Decimal("1.5"), 1500
"""What is added to times: more than any tolerance, less than most tasks take."""
SCALED = 10**9
"""What is added to numbers that may be compared in other units."""
TAB = "\t"
_SENTINEL = re.compile(
    r"""nullif\(("\w+"), '[^']*'\)|\(CASE WHEN CAST\((.+) AS VARCHAR\) IN .* ELSE (\2) END\)"""
)
"""A cell without what stands for no value."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One change of a table: of a row's value, or the row's removal where ``column`` is none."""

    table: str
    file: int
    row: int
    column: str | None = None
    value: Any = None

    def run(self, facts: Facts) -> None:
        """Change the table."""
        where = "WHERE file = ? AND row = ?"
        if self.column is None:
            query, values = f"DELETE FROM {self.table} {where}", []
        else:
            query = f"UPDATE {self.table} SET {quoted(self.column)} = ? {where}"
            values = [self.value]
        facts.connection.execute(query, [*values, self.file, self.row])


Pair = tuple[int | None, int | None, int | None, int | None]
"""File and row of both sides."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change on one side.

    ``columns`` are those of which at least one must be found to differ; none: any finding will do.
    ``pair``: the rows of both sides that it concerns, if it is only those.
    """

    which: Which
    columns: tuple[str, ...]
    statements: tuple[Statement, ...]
    pair: Pair | None = None

    @property
    def tables(self) -> frozenset[str]:
        """The tables of the facts that change."""
        return frozenset(one.table for one in self.statements)

    @property
    def words(self) -> str:
        """``raw.op_summary.Task Duration(us) of row 17``."""
        first = self.statements[0]
        if first.column is None:
            return f"{first.table} without row {first.row}"
        return f"{first.table}.{first.column} of row {first.row}"


def mutations(sources: Sources, agreement: Agreement) -> list[Mutation]:
    """Every way to break an agreement in clean facts, at one row each.

    Raises :class:`.selecting.Absent`.
    """
    asked = reading_of(sources, agreement).compared
    pair_all(sources.facts, asked)
    found = [one for which in WHICH for one in _changes(sources, asked, which)]
    return found + [one for which in WHICH for one in _removals(sources, asked, which)]


def _changes(sources: Sources, asked: Compared, which: Which) -> Iterator[Mutation]:
    """A change of each cell that a side shows, or that a derived table follows from."""
    selected = asked.sides[which]
    computed = [made()[one] for one in _computed(selected.side.of)]
    for one in computed:
        yield from _inputs(sources.facts, one.inputs, which)
    if selected.side.of.startswith("derived.") and computed:
        return
    shared, types = selected.side.together, pair_types(asked)
    done: set[Cell] = set()
    for place, name in enumerate(asked.shown):
        if name == asked.near and name not in asked.columns:
            continue  # it helps to pair, and another agreement compares it
        paired_by = name in (*asked.keys, asked.near)
        if name in asked.keys and asked.agreement.one_sided == "neither":
            continue  # a row without a counterpart is no finding
        if paired_by and not _is_plain(selected.side.columns[name]):
            continue  # what it is made of may change without it
        comparison = asked.columns.get(name, Comparison("ns" if name == asked.near else None))
        for cell in selected.cells.get(name, ()):
            if not _is_there(sources.facts, cell) or (shared and cell in done):
                continue
            found = _victim(sources.facts, asked, which, name, cell, place)
            statements = found and _change(
                sources.facts, cell, found[0], comparison, is_real=types[name] in REALS
            )
            if found and statements:
                done.add(cell)
                columns = tuple(
                    other
                    for other in asked.columns
                    if other == name or (shared and cell in selected.cells.get(other, ())[:1])
                )
                # What rows are paired by may as well leave them alone.
                yield Mutation(which, () if paired_by else columns, statements, found[1])
                break


def _computed(source: str) -> list[str]:
    """The derived tables with inputs that a source reads, or is."""
    if source.startswith("derived."):
        return [source] if made()[source].inputs else []
    return [table for one in inputs_of(source) for table in _computed(one)]


def _is_plain(sql: str) -> bool:
    """Whether an expression is a column by itself, be it without what stands for none."""
    if found := _SENTINEL.fullmatch(sql):
        sql = found[1] or found[2]
    return sql.isidentifier() or [sql] == [quoted(name) for name in quoted_names(sql)]


def _inputs(facts: Facts, inputs: Sequence[Input], which: Which) -> Iterator[Mutation]:
    """A change of each cell that a derived table is computed from."""
    for place, cell in enumerate(inputs, 1):
        if cell.column not in facts.columns(cell.table):
            continue
        rows_shown = (
            f"FROM {cell.table} WHERE ({cell.where}) AND {quoted(cell.column)} IS NOT NULL "
            f"AND coalesce(TRY_CAST({quoted(cell.column)} AS DOUBLE), 1) <> 0"
        )
        count = facts.value(f"SELECT count(*) {rows_shown}")
        if count:
            offset = count * place // (len(inputs) + 1)
            rows = f"SELECT file, row {rows_shown} ORDER BY file, row LIMIT 1 OFFSET {offset}"
            ((file, row),) = facts.rows(rows)
            unit = "ns" if _is_time(cell.column) else None
            at = (file, row, cell.column)
            statements = _change(facts, Cell(cell.table, cell.column), at, Comparison(unit))
            yield Mutation(which, (), statements)


def _is_time(column: str) -> bool:
    return column in ("ts", "dur") or column.endswith(("(us)", "Ns"))


def _is_there(facts: Facts, cell: Cell) -> bool:
    """Whether a cell is one of a file, not the place of its row."""
    if cell.column in (FILE, ROW):
        return False
    return cell.column.startswith("@") or cell.column in facts.columns(cell.table)


Victim: TypeAlias = tuple[tuple[int, int, str], Pair]
"""File, row and column of a cell, or the member of its args, and the pair that shows it."""


def _victim(
    facts: Facts,
    asked: Compared,
    which: Which,
    name: str,
    cell: Cell,
    place: int,
    *,
    gathered: bool = False,
) -> Victim | None:
    """A cell in a pair, at another part of the table for each ``place``.

    A number is no 0 where there are others, for 0 can be multiplied. ``gathered``: of a row of the
    side that stands for several.
    """
    shown, row = (quoted(f"{which}_{one}") for one in (name, cell.row))
    at = cell.key or cell.column
    column = quoted(f"{which}_{at[1:]}") if at.startswith("@") else "NULL"
    rows_shown = (
        f"FROM {PAIRS} WHERE left_turn IS NOT NULL AND right_turn IS NOT NULL "
        f"AND {shown} IS NOT NULL AND {row} IS NOT NULL"
    )
    if gathered:
        rows_shown += f" AND {which}_times > 1"
    for query in (f"{rows_shown} AND coalesce(TRY_CAST({shown} AS DOUBLE), 1) <> 0", rows_shown):
        count = facts.value(f"SELECT count(*) {query}")
        if count:
            break
    else:
        return None
    offset = count * (place + 1) // (len(asked.shown) + 2)
    ((file, number, named, *pair),) = facts.rows(
        f"SELECT {which}_file, {row}, {column}, left_file, left_row, right_file, right_row {query} "
        f"ORDER BY ALL LIMIT 1 OFFSET {offset}"
    )
    left_file, left_row, right_file, right_row = pair
    return (file, number, named or at), (left_file, left_row, right_file, right_row)


def _change(
    facts: Facts,
    cell: Cell,
    at: tuple[int, int, str],
    comparison: Comparison,
    *,
    is_real: bool = False,
) -> tuple[Statement, ...]:
    """The statements that change a cell: file, row, and its column or the member of its args."""
    file, row, named = at
    column = cell.column if cell.key else named
    table = cell.table.replace("csv.", "raw.", 1)
    old = facts.value(
        f"SELECT {quoted(column)} FROM {table} WHERE file = ? AND row = ?", (file, row)
    )
    if old is None:
        return ()
    if cell.key:
        members = json.loads(old)
        members[named] = changed(members[named], comparison, in_us=True, is_real=is_real)
        new = json.dumps(members, ensure_ascii=False)
    else:
        in_us = table.startswith("raw.") or column == "dur"
        new = changed(old, comparison, in_us=in_us, is_real=is_real)
    return tuple(Statement(one, file, row, column, new) for one in _tables_with(table, column))


def _tables_with(table: str, column: str | None) -> Sequence[str]:
    """A table and, of a layer, that of all events, where the same value stands."""
    is_layer = table.startswith("trace.") and table not in ("trace.event", "trace.thread")
    both = is_layer and (column is None or column in SHARED)
    return [table, "trace.event"] if both else [table]


def changed(old: Any, comparison: Comparison, *, in_us: bool, is_real: bool = False) -> Any:
    """Another value, beyond any tolerance. ``is_real``: it is compared as one with decimals."""
    step = comparison.step
    if comparison.unit == "ns" and step is None:
        step = float(STEP_US) if in_us else STEP_NS
    elif (comparison.tolerance or is_real) and step is None and isinstance(old, (int, float)):
        step = SCALED + abs(old)  # what is compared may be a small part of it
    if isinstance(old, str):
        return _changed_text(old, step)
    if isinstance(old, int):
        return old + (round(step) if step else 1 + abs(old) // 2)
    return old + (step or 1 + abs(old) / 2)


def _changed_text(old: str, step: float | None) -> str:
    bare = old.removesuffix(TAB)
    tab = old[len(bare) :]
    try:
        number = Decimal(bare)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        half = len(bare) // 2
        return f"{bare[:half]}x{bare[half:]}{tab}"
    whole = number == number.to_integral_value() and "." not in bare
    amount = Decimal(str(step)) if step else 1 + abs(number) / 2
    if whole and step is None:
        amount = amount.to_integral_value()
    return f"{number + amount:f}{tab}"


def _removals(sources: Sources, asked: Compared, which: Which) -> Iterator[Mutation]:
    """The removal of a row, where that leaves one of the other side alone that counts."""
    side = asked.sides[which].side
    other = other_than(which)
    home = home_of(side.of)
    gathered = not asked.agreement.counts(other)
    if home is None or gathers(side.of) or (gathered and not side.together):
        return
    if home in base_tables(asked.sides[other].side.of):
        return
    cell, place = Cell(home, ROW), len(asked.shown)
    found = _victim(sources.facts, asked, which, FILE, cell, place, gathered=gathered)
    if found is not None:
        (file, number, _), pair = found
        statements = (Statement(one, file, number) for one in _tables_with(home, None))
        yield Mutation(which, (), tuple(statements), pair)


@contextmanager
def broken(sources: Sources, applied: Sequence[Mutation]) -> Iterator[None]:
    """The facts with some mutations; afterwards they are as before."""
    tables = frozenset(table for mutation in applied for table in mutation.tables)
    with sources.facts.undone():
        for mutation in applied:
            for statement in mutation.statements:
                statement.run(sources.facts)
        with sources.changing(tables):
            yield
