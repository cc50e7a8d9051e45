"""From a relation and the views that it is bound to, to one query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .codes import coded
from .rule import Relation
from .times import times_in
from .views import Dialect, View
from .windows import walk_as_window
from .writing import numbered, numbered_tables, quoted, slacked, with_tables, with_tables_of

BAD = 1 << 32
"""What a bad row adds to a sum that counts judged rows; no table has as many."""


FORBIDDEN: Mapping[str, str] = {
    r"/": "integers divide differently; multiply instead",
    r"\bLIKE\b": "one engine ignores case; use instr or substr",
    r"\b(?:min|max)\s*\([^()]*,": "one engine takes the greatest of a list for it; use CASE",
    r"\bEXISTS\b": "slow where it is correlated; use IN or a join",
    r'"': "a misspelt name in double quotes is a text; columns are quoted by the checker",
    r"->": "one engine gives it a type",
    r"\bsum\(\w+\.\w+\)": "integers overflow in one engine; add up 1e0 * it",
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
        for cell in _may_be_unknown(bare):
            yield f"{relation.id}: NOT IN of {cell} in {text!r}: where one is NULL, none is outside"


def _may_be_unknown(text: str) -> Iterator[str]:
    """The columns in the SELECTs of each NOT IN that no condition keeps from being NULL."""
    for found in re.finditer(r"NOT IN \( ?SELECT ", text):
        depth, end = 1, text.index("(", found.start()) + 1
        begin = end
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        for select in text[begin : end - 1].split(" UNION ALL "):
            cell = re.match(r" ?SELECT (min\()?(\w+\.\w+)\)? FROM", select)
            known = cell and re.search(rf"{re.escape(cell[2])} (?:IS NOT NULL|[<>=])", select)
            if cell is None or not known or (cell[1] and "HAVING" not in select):
                yield select if cell is None else cell[2]


def rows_query(relation: Relation, bound: Mapping[str, View], dialect: Dialect) -> str:
    """The judged rows of a relation: their ``place``, the values read of it, and ``bad``.

    Rows of which a value is unknown are not among them.
    """
    relation = coded(relation, bound, dialect)
    rows = _rows(relation, bound)
    query = f"SELECT * FROM ({rows}) WHERE bad IS NOT NULL"
    return with_tables_of(relation, bound, query, dialect)


def count_query(relation: Relation, bound: Mapping[str, View], dialect: Dialect) -> str:
    """A sum over the rows of a relation: 1 for a judged row, and :data:`BAD` more for a bad one.

    ``bad`` stands in it once: engines evaluate it, and every subquery in it, as often as it does.
    """
    if is_of_texts(relation, bound, dialect):
        return _texts_query(relation, bound)
    relation = coded(relation, bound, dialect)
    times = times_in(relation, _sum_of_one)
    if times:
        text = quoted(slacked(times, relation, bound), relation)
        return with_tables_of(relation, bound, text, dialect)
    query = f"SELECT {_sum_of('bad')} FROM ({_rows(relation, bound)})"
    return with_tables_of(relation, bound, query, dialect)


def can_have_rows(relation: Relation, bound: Mapping[str, View], dialect: Dialect) -> bool:
    """Whether there is a text that meets its condition, as far as that is known without a row."""
    where = coded(relation, bound, dialect).search.where
    return not where or where.strip("()") != "0"


def is_of_texts(relation: Relation, bound: Mapping[str, View], dialect: Dialect) -> bool:
    """Whether it is about single rows and compares names with each other, and nothing else."""
    if dialect != "sqlite" or not relation.search.is_of_rows:
        return False
    [(entity, columns)] = relation.search.reads.items()
    codes = [bound[entity].codes(column) for column in columns]
    texts = coded(relation, bound, dialect).search.texts
    cells = {f"{relation.search.alias}.{column}" for column in columns}
    return all(one is not None and one.names is None for one in codes) and any(
        cell in cells for text in texts for cell in re.findall(r"\b\w+\.\w+\b", text)
    )


def _texts_query(relation: Relation, bound: Mapping[str, View]) -> str:
    """The sum of a relation on texts, each combination of them judged once for all its rows."""
    [(entity, names)] = relation.search.reads.items()
    search = relation.search
    where = f" WHERE {search.where}" if search.where else ""
    text = (
        f"SELECT coalesce(sum({search.alias}.times * {_sum_of_one(search.bad or '')}), 0) "
        f"FROM {search.joined}{where}"
    )
    rows = bound[entity].parts[0].counted(sorted(names))
    return f"WITH {entity} AS ({rows}) {quoted(slacked(text, relation, bound), relation)}"


def _rows(relation: Relation, bound: Mapping[str, View]) -> str:
    walk = relation.search.walk
    return walk_as_window(relation, walk, bound) if walk else _joined(relation, bound)


def _sum_of(bad: str) -> str:
    return f"coalesce(sum({_sum_of_one(bad)}), 0)"


def _sum_of_one(bad: str) -> str:
    return f"CASE ({bad}) WHEN TRUE THEN {BAD + 1} WHEN FALSE THEN 1 END"


@dataclass(frozen=True, slots=True)
class Counted:
    """Judged rows and bad ones; ``first``: place, start and end of these, where they are known."""

    population: int
    count: int
    first: Sequence[tuple[int, Any, Any]] | None = None


def counted_in(total: int) -> Counted:
    """Judged rows and bad ones of a sum."""
    return Counted(int(total) % BAD, int(total) // BAD)


def counts_query(judged: Sequence[tuple[Relation, Mapping[str, View]]], dialect: Dialect) -> str:
    """The sums of several relations on the same rows, or the same rows joined, made in one scan.

    Some may be about these rows joined with others of which there is one at most for each.
    """
    sums = []
    tables: dict[str, str] = {}
    (least, _), *_, (most, bound) = sorted(judged, key=lambda one: len(one[0].search.joined))
    rows, joined = least.search.joined, most.search.joined
    joined = rows + joined[len(rows) :].replace(" JOIN ", " LEFT JOIN ")
    for number, (relation, views) in enumerate(judged):
        search = coded(relation, views, dialect).search
        own = [f"{alias}.own_{number}" for alias in search.aliases_in((search.joined,))]
        meets = " AND ".join([*own, *([f"({search.where})"] if search.where else [])])
        bad = slacked(f"(CASE WHEN {meets} THEN ({search.bad}) END)", relation, views)
        sums.append(_sum_of(numbered(bad, relation, number)))
        tables |= numbered_tables(relation, views, number)
    for entity in most.search.aliases_in((joined,)).values():
        reads = [one.search.reads.get(entity, ()) for one, _ in judged]
        tables[entity] = bound[entity].marked(reads)
    return with_tables(tables, f"SELECT {', '.join(sums)} FROM {quoted(joined, most)}", dialect)


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
    reads = relation.search.read_by((*read, text))
    query = quoted(slacked(text, relation, bound), relation, text)
    return with_tables_of(relation, bound, query, dialect, reads)


def _joined(relation: Relation, bound: Mapping[str, View]) -> str:
    own = "".join(
        f", {relation.search.alias}.{name} AS v_{name}"
        for name in sorted(relation.search.values[relation.search.alias])
    )
    where = f" WHERE {relation.search.where}" if relation.search.where else ""
    text = f"SELECT {relation.search.alias}.place AS place{own}, ({relation.search.bad}) AS bad "
    text += f"FROM {relation.search.joined}{where}"
    return quoted(slacked(text, relation, bound), relation)
