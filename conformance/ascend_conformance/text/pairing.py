"""The two sides of an agreement brought together in DuckDB: which rows differ, and in what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from .agreement import WHICH, Agreement, Comparison, Side, Which, names_in, quoted_names
from .database import Facts, quoted
from .sources import Cell, Sources

PAIRS = "agreement_pairs"
"""Temporary table of the pairs that differ and of the rows that stand alone."""
FILE, ROW, TURN, TIMES = "file", "row", "turn", "times"
NUMBERS = frozenset(
    f"{sign}{name}" for sign in ("", "U") for name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
) | {"HUGEINT", "UHUGEINT"}
REALS = frozenset({"FLOAT", "DOUBLE"})


class Absent(Exception):
    """A side cannot be selected here.

    ``tables``: those that are absent, by side; none where a column is, which the text names.
    """

    def __init__(self, text: str, tables: Mapping[Which, str] | None = None) -> None:
        super().__init__(text)
        self.tables = tables or {}


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What does not agree: rows of each side, pairs that differ by column, rows alone by side.

    The rows are in the table :data:`PAIRS`, whose columns begin with ``left_`` and ``right_``.
    """

    compared: Compared
    rows: Mapping[Which, int]
    differing: Mapping[str, int]
    alone: Mapping[Which, int]

    @property
    def faults(self) -> int:
        """Everything that does not agree and counts."""
        return sum(self.differing.values()) + sum(
            count for which, count in self.alone.items() if self.compared.agreement.counts(which)
        )


def best_reading(sources: Sources, agreement: Agreement) -> Outcome:
    """The reading of an agreement that leaves least apart. Raises :class:`Absent`."""
    best: Outcome | None = None
    for reading in agreement.read_as():
        found = outcome(sources.facts, compared(sources, reading))
        if best is None or found.faults < best.faults:
            best = found
        if not best.faults:
            return best
    if best is None:
        raise ValueError(f"an agreement of {agreement.left.of} has no reading")
    if len(agreement.readings) > 1:
        # Its pairs have been overwritten by those of the readings behind it.
        return outcome(sources.facts, compared(sources, best.compared.agreement))
    return best


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
    selected = [
        f"NULL::BIGINT AS {quoted(one)}"
        if one not in known
        else f"min({quoted(one)}) AS {quoted(one)}"
        if aggregated
        else quoted(one)
        for one in (FILE, ROW, *_extra(cells))
    ]
    selected.append("count(*) AS times" if aggregated else "1 AS times")
    selected += [f"{_safe(sql, aggregated)} AS {quoted(name)}" for name, sql in given.items()]
    query = f"SELECT {', '.join(selected)} FROM {side.of}"
    where = [one for one in side.where if all(name in known for name in quoted_names(one))]
    if where:
        query += f" WHERE {' AND '.join(f'({one})' for one in where)}"
    if aggregated:
        query += " GROUP BY ALL"
    return Selected(side, query, _types(sources.facts, query, given), cells)


def _needed(sql: str) -> list[str]:
    """The names in an expression that must be columns: those in quotes, and one by itself."""
    return [sql] if sql.isidentifier() else quoted_names(sql)


def _safe(sql: str, aggregated: bool) -> str:
    """An expression that is NULL where it overflows; names alone cannot."""
    plain = sql.replace('"', "").replace(" ", "_").isidentifier() or sql.startswith('"')
    return sql if aggregated or plain else f"TRY({sql})"


def _types(facts: Facts, query: str, columns: Mapping[str, str]) -> Mapping[str, str]:
    try:
        described = facts.rows(f"DESCRIBE {query}")
    except duckdb.BinderException as problem:
        raise Absent(str(problem).partition("\n")[0]) from problem
    # Of two names that differ by case alone DuckDB keeps the table's, but the order is ours.
    own = described[len(described) - len(columns) :]
    return {name: str(row[1]) for name, row in zip(columns, own, strict=True)}


def _untold(facts: Facts, sides: Mapping[Which, Selected], key: str) -> bool:
    """Whether one side has rows, but none that tells the key."""
    return any(
        facts.rows(f"SELECT count({quoted(key)}), count(*) FROM ({side.query})")[0][0] == 0
        for side in sides.values()
    )


def _common_type(one: str, other: str) -> str:
    """The type in which two values are compared."""
    if one == other and (one in NUMBERS or one in REALS):
        return one
    if {one, other} <= NUMBERS | REALS:
        return "HUGEINT" if {one, other} <= NUMBERS else "DOUBLE"
    return "VARCHAR"


def outcome(facts: Facts, asked: Compared) -> Outcome:
    """What does not agree. The first look is a sum of hashes, which most sound sides share."""
    types = {
        name: _common_type(asked.sides["left"].types[name], asked.sides["right"].types[name])
        for name in asked.shown
    }
    queries = {which: _typed(asked.sides[which], types) for which in WHICH}
    rows, alike = _hashes(facts, queries, asked.shown)
    nothing = Outcome(asked, rows, dict.fromkeys(asked.columns, 0), dict.fromkeys(WHICH, 0))
    if alike:
        return nothing
    _pair(facts, asked, queries, types)
    if asked.near:
        _pair_again(facts, asked)
    return _counted(facts, asked, types, rows)


def _typed(selected: Selected, types: Mapping[str, str]) -> str:
    columns = [
        quoted(name)
        if selected.types[name] == kind
        else f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}"
        for name, kind in types.items()
    ]
    others = [quoted(name) for name in selected.types if name not in types]
    rows = [quoted(row) for row in extra_rows(selected)]
    chosen = [FILE, ROW, TIMES, *rows, *columns, *others]
    return f"SELECT {', '.join(chosen)} FROM ({selected.query})"


def extra_rows(selected: Selected) -> list[str]:
    """The columns that tell rows of other tables than the first, and columns of cells."""
    return _extra(selected.cells)


def _extra(cells: Mapping[str, tuple[Cell, ...]]) -> list[str]:
    every = {cell for some in cells.values() for cell in some}
    named = {cell.column[1:] for cell in every if cell.column.startswith("@")}
    return sorted({cell.row for cell in every} - {ROW} | named)


def _hashes(
    facts: Facts, queries: Mapping[Which, str], shown: Sequence[str]
) -> tuple[Mapping[Which, int], bool]:
    columns = ", ".join(map(quoted, shown))
    found = {
        which: facts.rows(f"SELECT count(*), sum(hash({columns})::HUGEINT) FROM ({query})")[0]
        for which, query in queries.items()
    }
    return {which: row[0] for which, row in found.items()}, found["left"] == found["right"]


def pair_all(facts: Facts, asked: Compared) -> None:
    """Every pair and every row alone in :data:`PAIRS`, also those that agree."""
    types = pair_types(asked)
    _pair(facts, asked, {which: _typed(asked.sides[which], types) for which in WHICH})


def _pair(
    facts: Facts,
    asked: Compared,
    queries: Mapping[Which, str],
    types: Mapping[str, str] | None = None,
) -> None:
    """The pairs with equal keys, numbered where keys come again, and rows alone.

    With ``types`` only the pairs that differ.
    """
    keys = [*asked.keys, *([asked.near] if asked.near else [])]
    others = [name for name in asked.columns if name not in keys]
    order = ", ".join(map(quoted, [*others, FILE, ROW]))
    over = f"PARTITION BY {', '.join(map(quoted, keys))} " if keys else ""
    numbered = {
        which: f"SELECT *, row_number() OVER ({over}ORDER BY {order}) AS turn FROM ({query})"
        for which, query in queries.items()
    }
    on = " AND ".join(
        [f"l.{quoted(key)} IS NOT DISTINCT FROM r.{quoted(key)}" for key in keys]
        + ["l.turn = r.turn"]
    )
    differs = ""
    if types is not None:
        chosen = ["l.turn IS NULL", "r.turn IS NULL"]
        chosen += [
            _differs(name, one, types[name], "l.", "r.") for name, one in asked.columns.items()
        ]
        differs = f" WHERE {' OR '.join(chosen)}"
    facts.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {PAIRS} AS SELECT {_both_sides(asked)} "
        f"FROM ({numbered['left']}) l FULL JOIN ({numbered['right']}) r ON {on}{differs}"
    )


def _both_sides(asked: Compared) -> str:
    return ", ".join(
        f"{side[0]}.{quoted(name)} AS {quoted(f'{side}_{name}')}"
        for side in WHICH
        for name in _own_columns(asked, side)
    )


def _differs(name: str, one: Comparison, kind: str, left: str, right: str) -> str:
    """SQL for a difference in a column; ``left`` and ``right`` begin the names of the sides."""
    mine, theirs = (_prefixed(start, name) for start in (left, right))
    if one.tolerance is None or kind == "VARCHAR":
        return f"{mine} IS DISTINCT FROM {theirs}"
    wide = "HUGEINT" if kind in NUMBERS else "DOUBLE"
    tolerance = one.tolerance.replace("left.", left).replace("right.", right)
    return (
        f"({mine} IS DISTINCT FROM {theirs} AND NOT coalesce("
        f"abs(CAST({mine} AS {wide}) - CAST({theirs} AS {wide})) <= {tolerance}, false))"
    )


def _prefixed(start: str, name: str) -> str:
    """A column of a side: ``l."name"`` or ``"left_name"``."""
    return f"{start}{quoted(name)}" if start.endswith(".") else quoted(f"{start}{name}")


def _pair_again(facts: Facts, asked: Compared) -> None:
    """Rows that stand alone for another value of ``near``, paired all the same.

    First those whose values lie within the tolerance. Of the others those with the same keys, in
    the order of the values, where both sides have as many of them.
    """
    execute = facts.connection.execute
    for which in WHICH:
        keys = ", ".join(quoted(f"{which}_{key}") for key in asked.keys) or "0"
        execute(
            f"CREATE OR REPLACE TEMP TABLE alone_{which} AS "
            f"SELECT {_listed(asked, which)}, hash({keys}) AS keys, rowid AS id, "
            f"{quoted(f'{which}_{asked.near}')} AS near FROM {PAIRS} "
            f"WHERE {which}_turn IS NOT NULL AND {_other(which)}_turn IS NULL"
        )
    if not all(facts.value(f"SELECT count(*) FROM alone_{which}") for which in WHICH):
        return
    comparison = asked.columns.get(asked.near or "", Comparison())
    slack = comparison.tolerance or "0"
    execute(
        "CREATE OR REPLACE TEMP TABLE met AS SELECT l.id AS left_id, r.id AS right_id "
        "FROM alone_left l ASOF JOIN alone_right r "
        f"ON l.keys = r.keys AND l.near + {slack} >= r.near WHERE r.near >= l.near - {slack} "
        "QUALIFY row_number() OVER (PARTITION BY r.id ORDER BY l.id) = 1"
    )
    numbered = {
        which: f"SELECT id, keys, count(*) OVER (PARTITION BY keys) AS members, "
        f"row_number() OVER (PARTITION BY keys ORDER BY near, {which}_file, {which}_row) AS turn "
        f"FROM alone_{which} WHERE id NOT IN (SELECT {which}_id FROM met)"
        for which in WHICH
    }
    execute(
        f"INSERT INTO met SELECT l.id, r.id FROM ({numbered['left']}) l "
        f"JOIN ({numbered['right']}) r USING (keys, members, turn)"
    )
    execute(
        f"INSERT INTO {PAIRS} BY NAME SELECT {_listed(asked, 'left')}, {_listed(asked, 'right')} "
        "FROM met JOIN alone_left l ON l.id = left_id JOIN alone_right r ON r.id = right_id"
    )
    execute(
        f"DELETE FROM {PAIRS} WHERE rowid IN (SELECT left_id FROM met) "
        "OR rowid IN (SELECT right_id FROM met)"
    )


def _listed(asked: Compared, which: Which) -> str:
    return ", ".join(quoted(f"{which}_{name}") for name in _own_columns(asked, which))


def _own_columns(asked: Compared, which: Which) -> list[str]:
    """The columns of a side in :data:`PAIRS`, those that only a tolerance asks for among them."""
    selected = asked.sides[which]
    others = [name for name in selected.types if name not in asked.shown]
    return [FILE, ROW, TIMES, TURN, *extra_rows(selected), *asked.shown, *others]


def _other(which: Which) -> Which:
    return "right" if which == "left" else "left"


def difference(asked: Compared, types: Mapping[str, str], name: str) -> str:
    """SQL over :data:`PAIRS`: a pair that differs in a column."""
    both = "left_turn IS NOT NULL AND right_turn IS NOT NULL"
    differs = _differs(name, asked.columns[name], types[name], "left_", "right_")
    return f"{both} AND {differs}"


def pair_types(asked: Compared) -> Mapping[str, str]:
    """The types in which the columns of the sides are compared."""
    return {
        name: _common_type(asked.sides["left"].types[name], asked.sides["right"].types[name])
        for name in asked.shown
    }


def _counted(
    facts: Facts, asked: Compared, types: Mapping[str, str], rows: Mapping[Which, int]
) -> Outcome:
    filters = [difference(asked, types, name) for name in asked.columns]
    filters += [f"{_other(which)}_turn IS NULL" for which in WHICH]
    counted = ", ".join(f"count(*) FILTER ({one})" for one in filters)
    found: list[Any] = list(facts.rows(f"SELECT {counted} FROM {PAIRS}")[0])
    differing = dict(zip(asked.columns, found, strict=False))
    alone = dict(zip(WHICH, found[len(asked.columns) :], strict=True))
    return Outcome(asked, rows, differing, alone)
