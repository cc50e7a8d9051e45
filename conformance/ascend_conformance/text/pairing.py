"""The two sides of an agreement brought together in DuckDB: which rows differ, and in what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    unmade = {
        which: agreement.side(which).of
        for which in WHICH
        if not sources.columns(agreement.side(which).of)
    }
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
    query = f"SELECT count(*) > 0 AND count({quoted(key)}) = 0 FROM"
    return any(facts.value(f"{query} ({side.query})") for side in sides.values())


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
    _join(facts, asked, {which: _typed(asked.sides[which], types) for which in WHICH}, "")


def _pair(
    facts: Facts, asked: Compared, queries: Mapping[Which, str], types: Mapping[str, str]
) -> None:
    """The pairs that differ and rows alone.

    Where there are any they are paired anew, so that of rows with the same keys those remain that
    have no equal.
    """
    chosen = ["l.turn IS NULL", "r.turn IS NULL"]
    chosen += [_differs(name, one, types[name], "l.", "r.") for name, one in asked.columns.items()]
    _join(facts, asked, queries, f" WHERE {' OR '.join(chosen)}")
    if not facts.value(f"SELECT count(*) FROM {PAIRS}"):
        return
    for which in WHICH:
        _make_alone(facts, asked, which)
    if not all(facts.value(f"SELECT count(*) FROM alone_{which}") for which in WHICH):
        return
    facts.connection.execute("CREATE OR REPLACE TEMP TABLE met (left_id BIGINT, right_id BIGINT)")
    _meet(facts, "keys, near, rest", "id")
    _meet(facts, "keys, near", "place")
    if asked.near:
        _meet_near(facts, asked)
        _meet(facts, "keys", "near, id", evenly=True)
    _replace(facts, asked)


def _join(
    facts: Facts,
    asked: Compared,
    queries: Mapping[Which, str],
    where: str,
) -> None:
    """The sides joined by keys, numbered where keys come again, in :data:`PAIRS`."""
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
    facts.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {PAIRS} AS SELECT {_both_sides(asked)} "
        f"FROM ({numbered['left']}) l FULL JOIN ({numbered['right']}) r ON {on}{where}"
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


def _make_alone(facts: Facts, asked: Compared, which: Which) -> None:
    """The rows of a side in :data:`PAIRS`, with numbers for their keys and for what is compared."""
    keys, values = (
        ", ".join(quoted(f"{which}_{name}") for name in names) or "0"
        for names in (asked.keys, asked.columns)
    )
    near = quoted(f"{which}_{asked.near}") if asked.near else "0"
    facts.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE alone_{which} AS SELECT {_listed(asked, which)}, "
        f"hash({keys}) AS keys, {near} AS near, hash({values}) AS rest, rowid AS id, "
        f"row_number() OVER (ORDER BY {values}, {which}_file, {which}_row) AS place "
        f"FROM {PAIRS} WHERE {which}_turn IS NOT NULL"
    )


def _meet(facts: Facts, by: str, order: str, *, evenly: bool = False) -> None:
    """Pairs of rows that have not met, with these values alike, in an order.

    ``evenly``: only where both sides have as many of them.
    """
    numbered = {
        which: f"SELECT id, {by}, row_number() OVER (PARTITION BY {by} ORDER BY {order}) AS turn, "
        f"{'count(*) OVER (PARTITION BY ' + by + ')' if evenly else '0'} AS members "
        f"FROM alone_{which} WHERE id NOT IN (SELECT {which}_id FROM met)"
        for which in WHICH
    }
    on = " AND ".join(
        f"l.{one} IS NOT DISTINCT FROM r.{one}" for one in [*by.split(", "), "turn", "members"]
    )
    facts.connection.execute(
        f"INSERT INTO met SELECT l.id, r.id FROM ({numbered['left']}) l "
        f"JOIN ({numbered['right']}) r ON {on}"
    )


def _meet_near(facts: Facts, asked: Compared) -> None:
    """Rows with the same keys whose ``near`` lie within its tolerance."""
    slack = asked.columns.get(asked.near or "", Comparison()).tolerance
    if slack is None:
        return
    left, right = (
        f"SELECT * FROM alone_{which} WHERE id NOT IN (SELECT {which}_id FROM met)"
        for which in WHICH
    )
    facts.connection.execute(
        f"INSERT INTO met SELECT l.id, r.id FROM ({left}) l ASOF JOIN ({right}) r "
        f"ON l.keys = r.keys AND l.near + {slack} >= r.near WHERE r.near >= l.near - {slack} "
        "QUALIFY row_number() OVER (PARTITION BY r.id ORDER BY l.id) = 1"
    )


def _replace(facts: Facts, asked: Compared) -> None:
    """The rows that have met as pairs, and the others alone, in :data:`PAIRS`."""
    execute, left, right = facts.connection.execute, _listed(asked, "left"), _listed(asked, "right")
    execute(f"DELETE FROM {PAIRS}")
    execute(
        f"INSERT INTO {PAIRS} BY NAME SELECT {left}, {right} "
        "FROM met JOIN alone_left l ON l.id = left_id JOIN alone_right r ON r.id = right_id"
    )
    for which, listed in (("left", left), ("right", right)):
        execute(
            f"INSERT INTO {PAIRS} BY NAME SELECT {listed} FROM alone_{which} "
            f"WHERE id NOT IN (SELECT {which}_id FROM met)"
        )


def _listed(asked: Compared, which: Which) -> str:
    return ", ".join(quoted(f"{which}_{name}") for name in _own_columns(asked, which))


def _own_columns(asked: Compared, which: Which) -> list[str]:
    """The columns of a side in :data:`PAIRS`, those that only a tolerance asks for among them."""
    selected = asked.sides[which]
    others = [name for name in selected.types if name not in asked.shown]
    named = [FILE, ROW, TIMES, TURN, *extra_rows(selected), *asked.shown, *others]
    return list(dict.fromkeys(named))


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
