"""The sides of an agreement as queries, with what of it can be compared in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import duckdb

from ...engine.work import NoAnswer
from .agreement import WHICH, Agreement, Comparison, Side, Which, names_in, quoted_names
from .database import Facts, quoted
from .made import Cell
from .sources import Sources

FILE, ROW, TIMES = "file", "row", "times"
"""Columns of every side: the place of a row, and how many rows it gathers."""
NUMBERS = frozenset(
    f"{sign}{name}" for sign in ("", "U") for name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
) | {"HUGEINT", "UHUGEINT"}
REALS = frozenset({"FLOAT", "DOUBLE"})


class Absent(NoAnswer):
    """A side cannot be selected here.

    ``tables``: those that are absent, by side; none where a column is, which the text names.
    ``of_derived``: a derived table needs that column.
    """

    def __init__(
        self, text: str, tables: Mapping[Which, str] | None = None, *, of_derived: bool = False
    ) -> None:
        super().__init__(text)
        self.tables = tables or {}
        self.of_derived = of_derived


@dataclass(frozen=True, slots=True)
class Selected:
    """A side as a query. ``types`` of its columns; ``cells``: those that each column shows."""

    side: Side
    query: str
    types: Mapping[str, str]
    cells: Mapping[str, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Compared:
    """An agreement with what can be compared here, and how its sides are selected."""

    agreement: Agreement
    keys: tuple[str, ...]
    near: str | None
    columns: Mapping[str, Comparison]
    sides: Mapping[Which, Selected]

    @property
    def shown(self) -> tuple[str, ...]:
        """Every column of a pair."""
        near = [self.near] if self.near else []
        return tuple(dict.fromkeys([*self.keys, *near, *self.columns]))


def compared(sources: Sources, agreement: Agreement) -> Compared:
    """How an agreement can be asked in a folder. Raises :class:`Absent`.

    Columns that one of the files does not have are left out, and so are keys that one side does
    not tell at all where the agreement says so.
    """
    missing = {
        which: absent
        for which in WHICH
        if (absent := sources.missing(agreement.side(which).of)) is not None
    }
    if missing:
        raise Absent(", ".join(missing.values()), missing)
    unmade = {
        which: agreement.side(which).of
        for which in WHICH
        if not sources.columns(agreement.side(which).of)
    }
    lacking = [sources.lacking[name] for name in unmade.values() if name in sources.lacking]
    if lacking:
        raise Absent(lacking[0], of_derived=True)
    if unmade:
        raise Absent(", ".join(unmade.values()), unmade)
    sides = {which: _selected(sources, agreement.side(which)) for which in WHICH}
    common = [name for name in sides["left"].types if name in sides["right"].types]
    for key in agreement.keys:
        if key not in common and key not in agreement.untold:
            raise Absent(_lacking(agreement, sides, key))
    keys = [
        key
        for key in agreement.keys
        if key in common and not (key in agreement.untold and _untold(sources.facts, sides, key))
    ]
    columns = {
        name: one
        for name, one in agreement.compare.items()
        if name in common and not (name in agreement.untold and _untold(sources.facts, sides, name))
    }
    near = agreement.near if agreement.near in common else None
    if agreement.compare and not columns:
        raise Absent(_lacking(agreement, sides, next(iter(agreement.compare))))
    return Compared(agreement, tuple(keys), near, columns, sides)


def _lacking(agreement: Agreement, sides: Mapping[Which, Selected], column: str) -> str:
    which: Which = "right" if column in sides["left"].types else "left"
    side = agreement.side(which)
    return f"{side.of}: {side.columns.get(column, column)}"


def _selected(sources: Sources, side: Side) -> Selected:
    known = sources.columns(side.of)
    lower = {one.casefold() for one in known}
    given = {
        name: sql
        for name, sql in side.columns.items()
        if all(one.casefold() in lower for one in _needed(sql))
    }
    cells = {
        name: tuple(
            cell
            for column in names_in(sql, known)
            if (cell := sources.cell(side.of, column)) is not None
        )
        for name, sql in given.items()
    }
    aggregated = side.together
    selected = {
        one: "NULL::BIGINT"
        if one not in known
        else f"min({quoted(one)})"
        if aggregated
        else quoted(one)
        for one in (FILE, ROW, *_extra(cells))
    }
    selected[TIMES] = "count(*)" if aggregated else "1"
    selected |= {name: _safe(sql, aggregated) for name, sql in given.items()}
    listed = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in selected.items())
    query = f"SELECT {listed} FROM {side.of}"
    where = [one for one in side.where if all(name in known for name in quoted_names(one))]
    if where:
        query += f" WHERE {' AND '.join(f'({one})' for one in where)}"
    if aggregated:
        query += " GROUP BY ALL"
    types = _types(sources.facts, query, selected)
    return Selected(side, query, {name: types[name] for name in given}, cells)


def _needed(sql: str) -> list[str]:
    """The names in an expression that must be columns: those in quotes, and one by itself."""
    return [sql] if sql.isidentifier() else quoted_names(sql)


def _safe(sql: str, aggregated: bool) -> str:
    """An expression that is NULL where it overflows; names alone cannot."""
    plain = sql.replace('"', "").replace(" ", "_").isidentifier() or sql.startswith('"')
    return sql if aggregated or plain else f"TRY({sql})"


def _types(facts: Facts, query: str, columns: Iterable[str]) -> Mapping[str, str]:
    try:
        described = facts.rows(f"DESCRIBE {query}")
    except duckdb.BinderException as problem:
        raise Absent(str(problem).partition("\n")[0]) from problem
    # Of two names that differ by case alone DuckDB keeps the table's, but the order is ours.
    return {name: str(row[1]) for name, row in zip(columns, described, strict=True)}


def _untold(facts: Facts, sides: Mapping[Which, Selected], key: str) -> bool:
    """Whether one side has rows, but none that tells the key."""
    tells = f"WHERE {quoted(key)} IS NOT NULL"
    return any(
        not facts.value(f"SELECT EXISTS (FROM ({side.query}) {tells})")
        and facts.value(f"SELECT EXISTS (FROM ({side.query}))")
        for side in sides.values()
    )


def pair_types(asked: Compared) -> Mapping[str, str]:
    """The types in which the columns of the sides are compared."""
    return {
        name: _common_type(asked.sides["left"].types[name], asked.sides["right"].types[name])
        for name in asked.shown
    }


def _common_type(one: str, other: str) -> str:
    """The type in which two values are compared."""
    if one == other and (one in NUMBERS or one in REALS):
        return one
    if {one, other} <= NUMBERS | REALS:
        return "HUGEINT" if {one, other} <= NUMBERS else "DOUBLE"
    return "VARCHAR"


def typed(selected: Selected, types: Mapping[str, str]) -> str:
    """The query of a side, with its columns in these types."""
    columns = [
        quoted(name)
        if selected.types[name] == kind
        else f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}"
        for name, kind in types.items()
    ]
    others = [quoted(name) for name in selected.types if name not in types]
    rows = [quoted(row) for row in extra_rows(selected)]
    places = [one for one in (FILE, ROW) if one not in types]
    chosen = [*places, TIMES, *rows, *columns, *others]
    return f"SELECT {', '.join(chosen)} FROM ({selected.query})"


def extra_rows(selected: Selected) -> list[str]:
    """The columns that tell rows of other tables than the first, and columns of cells."""
    return _extra(selected.cells)


def _extra(cells: Mapping[str, tuple[Cell, ...]]) -> list[str]:
    every = {cell for some in cells.values() for cell in some}
    texts = [text for cell in every for text in (cell.column, cell.key or "")]
    named = {text[1:] for text in texts if text.startswith("@")}
    return sorted({cell.row for cell in every} - {ROW} | named)
