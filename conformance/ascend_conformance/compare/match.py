"""Rows of two showers matched in DuckDB: which are missing, added or different, and in what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import duckdb

from .agreement import WHICH, Agreement, Comparison, Side, Which, other_than
from .sql import quoted

FILE, ROW, TIMES = "file", "row", "times"
"""Columns of every side: the place of a row, and how many rows it gathers."""
NUMBERS = frozenset(
    f"{sign}{name}" for sign in ("", "U") for name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
) | {"HUGEINT", "UHUGEINT"}
REALS = frozenset({"FLOAT", "DOUBLE"})
PAIRS = "agreement_pairs"
"""Temporary table of the pairs that differ and of the rows that stand alone."""
MET: Mapping[Which, str] = {"left": "mine", "right": "theirs"}
"""Columns of the table of rows that have met."""
TURN = "turn"
MOST_DECIMALS = 9
"""That a number is rounded to."""
INEXACT = 5e-16
"""Two floats are so far apart that are read from one decimal number or worked out in another order,
as a part of them."""
GREATEST = 1e300
"""Tolerance; infinity is farther from any number."""
SUMMED = 4 * INEXACT
"""What a sum of them may be off."""
_UNIT = re.compile(r"\{((?:left|right)\.\w+)\}")


class Store(Protocol):
    """The database in which both sides stand."""

    connection: duckdb.DuckDBPyConnection

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def value(self, query: str, values: Sequence[object] = ()) -> Any:
        """The first value of its first row."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a table of the facts, and by which column its row is known (``row``).

    A column that begins with @ is named by another column. ``key``: the member, of args, likewise.
    """

    table: str
    column: str
    row: str = ROW
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Selected:
    """A side as a query. ``types`` of its columns; ``cells``: those that each column shows."""

    side: Side
    query: str
    types: Mapping[str, str]
    cells: Mapping[str, tuple[Cell, ...]]

    @property
    def further(self) -> list[str]:
        """The columns of rows of other tables than the first, and of the names of cells."""
        return further_columns(self.cells)


@dataclass(frozen=True, slots=True)
class Compared:
    """An agreement with what can be compared here, and how its sides are selected."""

    agreement: Agreement
    keys: tuple[str, ...]
    near: str | None
    columns: Mapping[str, Comparison]
    sides: Mapping[Which, Selected]
    units: Mapping[str, float] = field(default_factory=dict)
    """Units of the last decimal of columns, by ``left.column``."""

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


def best_reading(
    store: Store, agreement: Agreement, select: Callable[[Agreement], Compared]
) -> Outcome:
    """The reading with the fewest differences. ``select``: how the sides of a reading are read."""
    best: Outcome | None = None
    for reading in agreement.read_as:
        found = outcome(store, select(reading))
        if best is None or found.faults < best.faults:
            best = found
        if not best.faults:
            return best
    if best is None:
        raise ValueError(f"an agreement of {agreement.left.of} has no reading")
    if len(agreement.readings) > 1:
        # Its pairs have been overwritten by those of the readings behind it.
        return outcome(store, best.compared)
    return best


def outcome(store: Store, asked: Compared) -> Outcome:
    """What does not agree. The first look is at hashes of rows, which most sound sides share."""
    types = pair_types(asked)
    queries = {which: typed(asked.sides[which], types) for which in WHICH}
    counting = [which for which in WHICH if asked.agreement.counts(which)]
    if len(counting) == 1:
        rows, alike = _contained(store, queries, asked.shown, *counting)
    else:
        sums = {which: _sum(store, query, asked.shown) for which, query in queries.items()}
        rows, alike = {which: one[0] for which, one in sums.items()}, sums["left"] == sums["right"]
    nothing = Outcome(asked, rows, dict.fromkeys(asked.columns, 0), dict.fromkeys(WHICH, 0))
    if alike:
        return nothing
    asked = replace(asked, units=dict(_units(store, asked, types)))
    _pair(store, asked, queries, types)
    return _counted(store, asked, types, rows)


def sum_of(store: Store, asked: Compared, which: Which) -> Sequence[Any]:
    """How many rows a side shows, and a sum over them; changes of what it shows change the sum."""
    return _sum(store, typed(asked.sides[which], pair_types(asked)), asked.shown)


def _sum(store: Store, query: str, shown: Sequence[str]) -> Sequence[Any]:
    columns = ", ".join(map(quoted, shown))
    return store.rows(f"SELECT count(*), sum(hash({columns})::HUGEINT) FROM ({query})")[0]


def _contained(
    store: Store, queries: Mapping[Which, str], shown: Sequence[str], which: Which
) -> tuple[Mapping[Which, int], bool]:
    """The rows of the sides, and whether each of one side has an equal on the other."""
    columns = ", ".join(map(quoted, shown))
    other = other_than(which)
    left, right = (
        f"SELECT hash({columns}) AS hash, count(*) AS rows FROM ({queries[one]}) GROUP BY hash"
        for one in (which, other)
    )
    ((own, others, lacking),) = store.rows(
        "SELECT coalesce(sum(l.rows), 0), coalesce(sum(r.rows), 0), "
        "count(*) FILTER (l.rows > coalesce(r.rows, 0)) "
        f"FROM ({left}) l FULL JOIN ({right}) r USING (hash)"
    )
    return {which: int(own), other: int(others)}, lacking == 0


def pair_all(store: Store, asked: Compared) -> None:
    """Every pair and every row alone in :data:`PAIRS`, also those that agree."""
    types = pair_types(asked)
    _join(store, asked, {which: typed(asked.sides[which], types) for which in WHICH}, "")


def pair_nearest(store: Store, asked: Compared) -> None:
    """Every pair in :data:`PAIRS` as :func:`outcome` finds them, also those that agree."""
    pair_all(store, asked)
    _pair_anew(store, asked)


def _units(store: Store, asked: Compared, types: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """Units of the last decimal of the columns that are compared as numbers with decimals.

    That of a column is the finest that any of its values needs; what needs more than
    ``MOST_DECIMALS`` was not rounded, and has none.
    """
    for which in WHICH:
        selected = asked.sides[which]
        fewest = {
            name: asked.columns.get(name, Comparison()).decimals
            for name, kind in selected.types.items()
            if kind in REALS and types.get(name, kind) in REALS
        }
        if not fewest:
            continue
        listed = ", ".join(_decimals(quoted(name), least) for name, least in fewest.items())
        found = store.rows(f"SELECT {listed} FROM ({selected.query})")[0]
        for name, decimals in zip(fewest, found, strict=True):
            is_printed = decimals is not None and decimals <= MOST_DECIMALS
            yield f"{which}.{name}", 10.0**-decimals if is_printed else 0.0


def _decimals(column: str, fewest: int) -> str:
    """SQL for the most decimals that a value of a column needs, in so far as a float shows them."""
    cases = " ".join(
        f"WHEN abs({column} - round({column}, {number})) <= {SUMMED} * abs({column}) THEN {number}"
        for number in range(fewest, MOST_DECIMALS + 1)
    )
    return f"max(CASE {cases} ELSE {MOST_DECIMALS + 1} END) FILTER (isfinite({column}))"


def _pair(
    store: Store, asked: Compared, queries: Mapping[Which, str], types: Mapping[str, str]
) -> None:
    """The pairs that differ and rows alone.

    Where there are any they are paired anew, so that of rows with the same keys those remain that
    have no equal.
    """
    chosen = ["l.turn IS NULL", "r.turn IS NULL"]
    chosen += [_differs(asked, name, types[name], "l.", "r.") for name in asked.columns]
    _join(store, asked, queries, f" WHERE {' OR '.join(chosen)}")
    if store.value(f"SELECT count(*) FROM {PAIRS}"):
        _pair_anew(store, asked)


def _pair_anew(store: Store, asked: Compared) -> None:
    """The rows in :data:`PAIRS` paired again: those that are alike first, then by time."""
    for which in WHICH:
        _make_alone(store, asked, which)
    if not all(store.value(f"SELECT count(*) FROM alone_{which}") for which in WHICH):
        return
    store.connection.execute("CREATE OR REPLACE TEMP TABLE met (mine BIGINT, theirs BIGINT)")
    _meet(store, "keys, near, rest", "id")
    _meet(store, "keys, near", "place")
    if asked.near:
        _meet_near(store, asked)
        _meet(store, "keys", "near, id", evenly=True)
    _replace(store, asked)


def _join(
    store: Store,
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
    store.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {PAIRS} AS SELECT {_both_sides(asked)} "
        f"FROM ({numbered['left']}) l FULL JOIN ({numbered['right']}) r ON {on}{where}"
    )


def _both_sides(asked: Compared) -> str:
    return ", ".join(
        f"{side[0]}.{quoted(name)} AS {quoted(f'{side}_{name}')}"
        for side in WHICH
        for name in _own_columns(asked, side)
    )


def _differs(asked: Compared, name: str, kind: str, left: str, right: str) -> str:
    """SQL for a difference in a column; ``left`` and ``right`` begin the names of the sides."""
    mine, theirs = (_prefixed(start, name) for start in (left, right))
    tolerance = _tolerance(asked, name, kind, mine, theirs)
    if tolerance is None:
        return f"{mine} IS DISTINCT FROM {theirs}"
    wide = "HUGEINT" if kind in NUMBERS else "DOUBLE"
    tolerance = tolerance.replace("left.", left).replace("right.", right)
    return (
        f"({mine} IS DISTINCT FROM {theirs} AND NOT coalesce("
        f"abs(CAST({mine} AS {wide}) - CAST({theirs} AS {wide})) <= {tolerance}, false))"
    )


def _tolerance(asked: Compared, name: str, kind: str, mine: str, theirs: str) -> str | None:
    """SQL for the greatest difference of two values that agree; ``None``: they must be equal."""
    one = asked.columns[name]
    if kind == "VARCHAR" or (one.tolerance is None and kind not in REALS):
        return None
    if one.tolerance is not None:
        return str(one.tolerance)
    printed = sum(asked.units.get(f"{which}.{name}", 0.0) for which in WHICH)
    extra = _UNIT.sub(lambda found: repr(asked.units.get(found[1], 0.0)), str(one.extra or 0))
    inexact = f"{INEXACT} * greatest(1, abs({mine}), abs({theirs}))"
    # NaN would be the greatest of all, and anything within it.
    return f"least({printed!r} + {inexact} + {extra}, {GREATEST})"


def _prefixed(start: str, name: str) -> str:
    """A column of a side: ``l."name"`` or ``"left_name"``."""
    return f"{start}{quoted(name)}" if start.endswith(".") else quoted(f"{start}{name}")


def _make_alone(store: Store, asked: Compared, which: Which) -> None:
    """The rows of a side in :data:`PAIRS`, with numbers for their keys and for what is compared."""
    keys, values = (
        ", ".join(quoted(f"{which}_{name}") for name in names) or "0"
        for names in (asked.keys, asked.columns)
    )
    near = quoted(f"{which}_{asked.near}") if asked.near else "0"
    store.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE alone_{which} AS SELECT {_listed(asked, which)}, "
        f"hash({keys}) AS keys, {near} AS near, hash({values}) AS rest, rowid AS id, "
        f"row_number() OVER (ORDER BY {values}, {which}_file, {which}_row) AS place "
        f"FROM {PAIRS} WHERE {which}_turn IS NOT NULL"
    )


def _meet(store: Store, by: str, order: str, *, evenly: bool = False) -> None:
    """Pairs of rows that have not met, with these values alike, in an order.

    ``evenly``: only where both sides have as many of them.
    """
    numbered = {
        which: f"SELECT id, {by}, row_number() OVER (PARTITION BY {by} ORDER BY {order}) AS turn, "
        f"{'count(*) OVER (PARTITION BY ' + by + ')' if evenly else '0'} AS members "
        f"FROM alone_{which} WHERE id NOT IN (SELECT {MET[which]} FROM met)"
        for which in WHICH
    }
    on = " AND ".join(
        f"l.{one} IS NOT DISTINCT FROM r.{one}" for one in [*by.split(", "), "turn", "members"]
    )
    store.connection.execute(
        f"INSERT INTO met SELECT l.id, r.id FROM ({numbered['left']}) l "
        f"JOIN ({numbered['right']}) r ON {on}"
    )


def _meet_near(store: Store, asked: Compared) -> None:
    """Rows with the same keys whose ``near`` lie within its tolerance."""
    slack = asked.columns.get(asked.near or "", Comparison()).tolerance
    if slack is None:
        return
    # A time can be the greatest of its type, to which nothing can be added.
    wide = "HUGEINT" if pair_types(asked)[asked.near or ""] in NUMBERS else "DOUBLE"
    mine, theirs = (f"CAST({one}.near AS {wide})" for one in "lr")
    left, right = (
        f"SELECT * FROM alone_{which} WHERE id NOT IN (SELECT {MET[which]} FROM met)"
        for which in WHICH
    )
    store.connection.execute(
        f"INSERT INTO met SELECT l.id, r.id FROM ({left}) l ASOF JOIN ({right}) r "
        f"ON l.keys = r.keys AND {mine} + {slack} >= {theirs} WHERE {theirs} >= {mine} - {slack} "
        "QUALIFY row_number() OVER (PARTITION BY r.id ORDER BY l.id) = 1"
    )


def _replace(store: Store, asked: Compared) -> None:
    """The rows that have met as pairs, and the others alone, in :data:`PAIRS`."""
    execute, left, right = store.connection.execute, _listed(asked, "left"), _listed(asked, "right")
    execute(f"DELETE FROM {PAIRS}")
    execute(
        f"INSERT INTO {PAIRS} BY NAME SELECT {left}, {right} "
        "FROM met JOIN alone_left l ON l.id = mine JOIN alone_right r ON r.id = theirs"
    )
    for which, listed in zip(WHICH, (left, right), strict=True):
        execute(
            f"INSERT INTO {PAIRS} BY NAME SELECT {listed} FROM alone_{which} "
            f"WHERE id NOT IN (SELECT {MET[which]} FROM met)"
        )


def _listed(asked: Compared, which: Which) -> str:
    return ", ".join(quoted(f"{which}_{name}") for name in _own_columns(asked, which))


def _own_columns(asked: Compared, which: Which) -> list[str]:
    """The columns of a side in :data:`PAIRS`, those that only a tolerance asks for among them."""
    selected = asked.sides[which]
    others = [name for name in selected.types if name not in asked.shown]
    named = [FILE, ROW, TIMES, TURN, *selected.further, *asked.shown, *others]
    return list(dict.fromkeys(named))


def difference(asked: Compared, types: Mapping[str, str], name: str) -> str:
    """SQL over :data:`PAIRS`: a pair that differs in a column."""
    both = "left_turn IS NOT NULL AND right_turn IS NOT NULL"
    differs = _differs(asked, name, types[name], "left_", "right_")
    return f"{both} AND {differs}"


def reports_rows(
    store: Store,
    found: Outcome,
    pair: tuple[int | None, int | None, int | None, int | None],
    columns: Sequence[str],
) -> bool:
    """Whether rows, by file and row of both sides, differ in one of the columns.

    Without columns they may as well differ in any, or stand alone.
    """
    asked, types = found.compared, pair_types(found.compared)
    names = [name for name in columns or asked.columns if name in asked.columns]
    faults = [difference(asked, types, name) for name in names]
    if not columns:
        faults += [
            f"{other_than(which)}_turn IS NULL" for which in WHICH if asked.agreement.counts(which)
        ]
    where = " OR ".join(f"({one})" for one in faults) or "false"
    rows = "(left_file, left_row) = ($1, $2) OR (right_file, right_row) = ($3, $4)"
    select = f"SELECT count(*) > 0 FROM {PAIRS} WHERE ({rows}) AND ({where})"
    return bool(store.value(select, pair))


def _counted(
    store: Store, asked: Compared, types: Mapping[str, str], rows: Mapping[Which, int]
) -> Outcome:
    filters = [difference(asked, types, name) for name in asked.columns]
    filters += [f"{other_than(which)}_turn IS NULL" for which in WHICH]
    counted = ", ".join(f"count(*) FILTER ({one})" for one in filters)
    found: list[Any] = list(store.rows(f"SELECT {counted} FROM {PAIRS}")[0])
    differing = dict(zip(asked.columns, found, strict=False))
    alone = dict(zip(WHICH, found[len(asked.columns) :], strict=True))
    return Outcome(asked, rows, differing, alone)


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
    rows = [quoted(row) for row in selected.further]
    places = [one for one in (FILE, ROW) if one not in types]
    chosen = [*places, TIMES, *rows, *columns, *others]
    return f"SELECT {', '.join(chosen)} FROM ({selected.query})"


def further_columns(cells: Mapping[str, tuple[Cell, ...]]) -> list[str]:
    """The columns of rows of other tables than the first, and of the names of cells."""
    every = {cell for some in cells.values() for cell in some}
    texts = [text for cell in every for text in (cell.column, cell.key or "")]
    named = {text[1:] for text in texts if text.startswith("@")}
    return sorted({cell.row for cell in every} - {ROW} | named)
