"""The sides of an agreement as queries, and the part of it that can be compared in a folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import duckdb

from ascend_spec import recording_catalog

from ...compare.agreement import WHICH, Agreement, Side, Which, names_in, quoted_names
from ...compare.follow import Shown, followed
from ...compare.match import (
    FILE,
    ROW,
    TIMES,
    Compared,
    Outcome,
    Selected,
    best_reading,
    further_columns,
    sum_of,
)
from ...compare.sql import quoted
from ...engine.work import NoAnswer
from .database import Facts
from .shown import shown_columns, shown_rows
from .sources import Sources, home_of


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


def reading_of(sources: Sources, agreement: Agreement) -> Outcome:
    """The reading of an agreement that leaves least apart. Raises :class:`Absent`."""
    return best_reading(sources.facts, agreement, partial(compared, sources))


def sums_of(sources: Sources, agreement: Agreement, which: Which) -> list[Any]:
    """A sum over what a side shows, in each reading; changes of it change the sum."""
    readings = (compared(sources, reading) for reading in agreement.read_as)
    return [sum_of(sources.facts, asked, which) for asked in readings]


def stated(agreement: Agreement) -> Agreement:
    """An agreement with what follows from the entities that both sides show."""
    if not agreement.entities:
        return agreement
    shows = {which: _shows(agreement.side(which), agreement.entities) for which in WHICH}
    left, right = (_of_entities(agreement.side(which), agreement.entities) for which in WHICH)
    entities = [recording_catalog().entities[name] for name in agreement.entities]
    return followed(replace(agreement, left=left, right=right), entities, shows)


def _shows(side: Side, entities: Sequence[str]) -> Mapping[str, Shown]:
    """What a side shows of the entities; the first one that has a column counts."""
    found: dict[str, Shown] = {}
    for table in side.showers or (home_of(side.of) or side.of,):
        for entity in entities:
            found = {**shown_columns(table, entity, side.kinds), **found}
    return found


def _of_entities(side: Side, entities: Sequence[str]) -> Side:
    """A side with the conditions of rows that show the entities; its own are instead of those."""
    home = home_of(side.of) or side.of
    rows = [one for entity in entities for one in shown_rows(home, entity, side.kinds)]
    own = side.where if home.startswith("raw.") and side.where else (*rows, *side.where)
    return replace(side, where=tuple(dict.fromkeys(own)))


def compared(sources: Sources, agreement: Agreement) -> Compared:
    """How an agreement can be asked in a folder. Raises :class:`Absent`.

    Columns that one of the files does not have are left out, and so are keys that one whole side
    lacks, where the agreement names them as ``unstated``.
    """
    missing = {
        which: table
        for which in WHICH
        if (table := sources.missing(agreement.side(which).of)) is not None
    }
    for which in WHICH:
        unseen = next(filter(None, map(sources.unseen, agreement.side(which).sources)), None)
        # A medium that the conditions of both sides look into is absent from one.
        media = {table.partition(".")[0] for table in missing.values()}
        if unseen is not None and unseen.partition(".")[0] not in media:
            missing.setdefault(which, unseen)
    if missing:
        raise Absent(", ".join(missing.values()), missing)
    agreement = stated(agreement)
    unmade = [source for source in agreement.sources if not sources.columns(source)]
    lacking = [sources.lacking[source] for source in unmade if source in sources.lacking]
    if lacking:
        raise Absent(lacking[0], of_derived=True)
    if unmade:
        of = {which: agreement.side(which).of for which in WHICH}
        absent = {which: source for which, source in of.items() if source in unmade}
        raise Absent(", ".join(unmade), absent)
    sides = {which: _selected(sources, agreement.side(which)) for which in WHICH}
    common = [name for name in sides["left"].types if name in sides["right"].types]
    for key in agreement.keys:
        if key not in common and key not in agreement.unstated:
            raise Absent(_lacking(agreement, sides, key))
    unstated = {
        name
        for name in agreement.unstated
        if name in common and any(_leaves_empty(sources, side, name) for side in sides.values())
    }
    keys = [key for key in agreement.keys if key in common and key not in unstated]
    columns = {
        name: one
        for name, one in agreement.compare.items()
        if name in common and name not in unstated
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
        for one in (FILE, ROW, *further_columns(cells))
    }
    selected[TIMES] = "count(*)" if aggregated else "1"
    selected |= {name: _safe(sql, aggregated) for name, sql in given.items()}
    query = _rows_of(side, known, selected)
    types = _plain_types(sources.facts, side, selected) or _types(sources.facts, query, selected)
    return Selected(side, query, {name: types[name] for name in given}, cells)


CONSTANTS = {"1": "INTEGER", "NULL::BIGINT": "BIGINT"}
"""SQL of :func:`_selected` that names no column, with its type."""


def _rows_of(side: Side, known: Collection[str], selected: Mapping[str, str]) -> str:
    """A query for the rows of a side, with SQL by the names of columns."""
    listed = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in selected.items())
    where = [one for one in side.where if all(name in known for name in quoted_names(one))]
    conditions = f" WHERE {' AND '.join(f'({one})' for one in where)}" if where else ""
    grouped = " GROUP BY ALL" if side.together else ""
    return f"SELECT {listed} FROM {side.of}{conditions}{grouped}"


def _needed(sql: str) -> list[str]:
    """The names in an expression that must be columns: those in quotes, and one by itself."""
    return [sql] if sql.isidentifier() else quoted_names(sql)


def _safe(sql: str, aggregated: bool) -> str:
    """An expression that is NULL where it overflows; names alone cannot."""
    plain = sql.replace('"', "").replace(" ", "_").isidentifier() or sql.startswith('"')
    return sql if aggregated or plain else f"TRY({sql})"


def _plain_types(facts: Facts, side: Side, selected: Mapping[str, str]) -> Mapping[str, str] | None:
    """The types where all is a column or a constant, which need no plan."""
    if side.where or side.together:
        return None
    own = {quoted(name): kind for name, kind in facts.types(side.of).items()}
    own |= {sql[1:-1]: kind for sql, kind in own.items() if sql[1:-1].isidentifier()} | CONSTANTS
    if not all(sql in own for sql in selected.values()):
        return None
    return {name: own[sql] for name, sql in selected.items()}


def _types(facts: Facts, query: str, columns: Iterable[str]) -> Mapping[str, str]:
    try:
        described = facts.rows(f"DESCRIBE {query}")
    except duckdb.BinderException as problem:
        raise Absent(str(problem).partition("\n")[0]) from problem
    # Of two names that differ by case alone DuckDB keeps the table's, but the order is ours.
    return {name: str(row[1]) for name, row in zip(columns, described, strict=True)}


def _leaves_empty(sources: Sources, selected: Selected, name: str) -> bool:
    """Whether a side has rows, but none of them shows a column."""
    side, query = selected.side, selected.query
    if not side.together:
        shown = {name: _safe(side.columns[name], aggregated=False)}
        query = _rows_of(side, sources.columns(side.of), shown)
    return not sources.has_row(
        f"FROM ({query}) WHERE {quoted(name)} IS NOT NULL"
    ) and sources.has_row(f"FROM ({query})")
