"""From a relation and the views that it is bound to, to one query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from .rule import Relation, Walk
from .views import Dialect, View

FORBIDDEN: Mapping[str, str] = {
    r"/": "integers divide differently; multiply instead",
    r"\bLIKE\b": "one engine ignores case; use instr or substr",
    r"\b(?:min|max)\s*\([^()]*,": "one engine takes the greatest of a list for it; use CASE",
    r"\bEXISTS\b": "slow where it is correlated; use IN or a join",
    r'"': "a misspelt name in double quotes is a text; columns are quoted by the checker",
    r"->": "one engine gives it a type",
    r"\bCAST\b": "rounds differently; views have typed values",
    r"\bORDER BY (?![^()]*NULLS)": "NULLs stand first in one engine and last in the other",
    r"\b(?:iif|total|any_value|greatest|least|round|printf|QUALIFY|ASOF)\b": "one engine only",
}
"""What gives other answers in SQLite than in DuckDB, and what to write instead."""


def lint(relation: Relation) -> Iterator[str]:
    """What is wrong with the SQL of a relation, one line each."""
    for text in relation.search.texts:
        bare = re.sub(r"'[^']*'", "''", text)
        for pattern, reason in FORBIDDEN.items():
            if re.search(pattern, bare, re.IGNORECASE):
                yield f"{relation.id}: {pattern} in {text!r}: {reason}"


def rows_query(relation: Relation, bound: Mapping[str, View], dialect: Dialect) -> str:
    """The judged rows of a relation: their ``place``, the values read of it, and ``bad``.

    Rows of which a value is unknown are not among them.
    """
    select = (
        _walked(relation, relation.search.walk, bound)
        if relation.search.walk
        else _joined(relation, bound)
    )
    return f"{_tables(relation, bound, dialect)} SELECT * FROM ({select}) WHERE bad IS NOT NULL"


def matched_query(
    relation: Relation,
    bound: Mapping[str, View],
    dialect: Dialect,
    condition: str | None,
    selected: str,
    read: Iterable[str] = (),
    whole: bool = False,
) -> str:
    """Expressions over the population, which a ``condition`` narrows.

    ``read``: values that the relation itself need not read. ``whole``: ``selected`` is a SELECT of
    its own over the same entities.
    """
    if whole:
        text = selected
    else:
        conditions = [f"({one})" for one in (relation.search.where, condition) if one]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        text = f"SELECT {selected} FROM {relation.search.joined}{where}"
    tables = _tables(relation, bound, dialect, relation.search.read_by((*read, text)))
    return f"{tables} {_quoted(_slacked(text, relation, bound), relation, text)}"


def walk_rows(relation: Relation, walk: Walk, bound: Mapping[str, View], dialect: Dialect) -> str:
    """The intervals of a walk in the order in which code walks them: group, start, end, place."""
    alias = relation.search.alias
    by = "".join(f", {alias}.{name}" for name in walk.by)
    where = f" WHERE {relation.search.where}" if relation.search.where else ""
    order = "".join(f"{name} NULLS FIRST, " for name in by.strip(", ").split(", ") if name)
    text = (
        f"SELECT {alias}.place, {alias}.start, {alias}.end{by} "
        f"FROM {relation.search.joined}{where} ORDER BY {order}"
        f"{alias}.start NULLS FIRST, {alias}.end DESC NULLS LAST, {alias}.place"
    )
    return f"{_tables(relation, bound, dialect)} {_quoted(text, relation)}"


def _tables(
    relation: Relation,
    bound: Mapping[str, View],
    dialect: Dialect,
    reads: Mapping[str, frozenset[str]] | None = None,
) -> str:
    hint = "NOT MATERIALIZED " if dialect == "sqlite" else ""
    tables = ", ".join(
        f"{entity} AS {hint}({bound[entity].select(columns)})"
        for entity, columns in (reads or relation.search.reads).items()
        if entity in bound
    )
    return f"WITH {tables}"


def _joined(relation: Relation, bound: Mapping[str, View]) -> str:
    own = "".join(
        f", {relation.search.alias}.{name} AS v_{name}"
        for name in sorted(relation.search.values[relation.search.alias])
    )
    where = f" WHERE {relation.search.where}" if relation.search.where else ""
    text = f"SELECT {relation.search.alias}.place AS place{own}, ({relation.search.bad}) AS bad "
    text += f"FROM {relation.search.joined}{where}"
    return _quoted(_slacked(text, relation, bound), relation)


def _walked(relation: Relation, walk: Walk, bound: Mapping[str, View]) -> str:
    alias = relation.search.alias
    by = [f"{alias}.{name} AS by_{name}" for name in walk.by]
    names = [f"by_{name}" for name in walk.by]
    parts = f"PARTITION BY {', '.join(names)} " if names else ""
    where = f" WHERE {relation.search.where}" if relation.search.where else ""
    inner = f"SELECT {alias}.place AS place, {', '.join([*by, ''])}{alias}.start AS v_start, "
    inner += f"{alias}.end AS v_end"
    if walk.kind == "disjoint":
        text = (
            f"SELECT place, v_start, v_end, v_start < before - {{slack}} AS bad FROM (SELECT *, "
            f"max(v_end) OVER ({parts}ORDER BY v_start NULLS FIRST, v_end NULLS FIRST, place "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before "
            f"FROM ({inner} FROM {relation.search.joined}{where})) WHERE before IS NOT NULL"
        )
        return _quoted(_slacked(text, relation, bound), relation)
    outer = (walk.outer or "").split()[1]
    of = f" WHERE {walk.of}" if walk.of else ""
    same = ", ".join([*(f"{outer}.{name}" for name in walk.by), ""])
    text = (
        "SELECT place, v_start, v_end, (cover IS NULL OR cover < v_end - {slack}) AS bad FROM ("
        "SELECT *, max(covered) "
        f"OVER ({parts}ORDER BY begins NULLS FIRST, turn, place "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cover FROM ("
        f"{inner}, {alias}.start AS begins, 1 AS turn, NULL AS covered "
        f"FROM {relation.search.joined}{where} UNION ALL "
        f"SELECT {outer}.place, {same}{outer}.start, {outer}.end, {outer}.start - {{slack}}, 0, "
        f"{outer}.end FROM {walk.outer}{of})) WHERE turn = 1"
    )
    return _quoted(_slacked(text, relation, bound), relation)


def _slacked(text: str, relation: Relation, bound: Mapping[str, View]) -> str:
    slack = sum(bound[entity].slack for entity in relation.search.reads)
    return text.replace("{slack}", str(slack))


def _quoted(text: str, relation: Relation, further: str = "") -> str:
    """Columns in quotes, since some are words of SQL."""
    known = {**relation.search.aliases, **relation.search.aliases_in((further,))}
    aliases = "|".join(sorted(known, key=len, reverse=True))
    parts = re.split(r"('[^']*')", text)
    return "".join(
        part if part.startswith("'") else re.sub(rf"\b({aliases})\.([a-z_]+)\b", r'\1."\2"', part)
        for part in parts
    )
