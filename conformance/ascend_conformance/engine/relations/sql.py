"""From a relation and the views that it is bound to, to one query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from .codes import coded
from .rule import Relation, Walk
from .times import times_in
from .views import Dialect, View
from .walks import FLAGS, INTERVAL, PLACE, columns_of

BAD = 1 << 32
"""What a bad row adds to a sum that counts judged rows; no table has as many."""

VALUE = "value"
"""The column of what a walk compares, where it is of another entity than that at fault."""

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
    relation = coded(relation, bound, dialect)
    rows = _rows(relation, bound)
    return f"{_tables(relation, bound, dialect)} SELECT * FROM ({rows}) WHERE bad IS NOT NULL"


def count_query(relation: Relation, bound: Mapping[str, View], dialect: Dialect) -> str:
    """A sum over the rows of a relation: 1 for a judged row, and :data:`BAD` more for a bad one.

    ``bad`` stands in it once: engines evaluate it, and every subquery in it, as often as it does.
    """
    if is_of_texts(relation, bound, dialect):
        return _texts_query(relation, bound)
    relation = coded(relation, bound, dialect)
    times = times_in(relation, _sum_of_one(f"({relation.search.bad})"))
    if times:
        text = _quoted(_slacked(times, relation, bound), relation)
        return f"{_tables(relation, bound, dialect)} {text}"
    rows = _rows(relation, bound)
    return f"{_tables(relation, bound, dialect)} SELECT {_sum_of('bad')} FROM ({rows})"


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
        f"SELECT coalesce(sum({search.alias}.times * {_sum_of_one(f'({search.bad})')}), 0) "
        f"FROM {search.joined}{where}"
    )
    rows = bound[entity].parts[0].counted(sorted(names))
    return f"WITH {entity} AS ({rows}) {_quoted(_slacked(text, relation, bound), relation)}"


def _rows(relation: Relation, bound: Mapping[str, View]) -> str:
    walk = relation.search.walk
    return _walked(relation, walk, bound) if walk else _joined(relation, bound)


def _sum_of(bad: str) -> str:
    return f"coalesce(sum({_sum_of_one(bad)}), 0)"


def _sum_of_one(bad: str) -> str:
    return f"CASE {bad} WHEN TRUE THEN {BAD + 1} WHEN FALSE THEN 1 END"


def numbers_of(total: int) -> tuple[int, int]:
    """Judged rows and bad ones of a sum."""
    return int(total) % BAD, int(total) // BAD


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
        bad = _slacked(f"(CASE WHEN {meets} THEN ({search.bad}) END)", relation, views)
        sums.append(_sum_of(_numbered(bad, relation, number)))
        tables |= _numbered_tables(relation, views, number)
    for entity in most.search.aliases_in((joined,)).values():
        reads = [one.search.reads.get(entity, ()) for one, _ in judged]
        tables[entity] = bound[entity].marked(reads)
    columns = ", ".join(sums)
    return f"{_with(tables, dialect)}SELECT {columns} FROM {_quoted(joined, most)}"


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


def as_read(relation: Relation) -> Walk:
    """The walk of a relation, over the columns of :func:`walk_rows`."""
    walk = relation.search.own_walk
    alias, _, name = walk.value.partition(".")
    value = name if alias == relation.search.alias else alias and VALUE
    return replace(walk, value=value, than=walk.than.partition(".")[2])


def is_joined_walk(relation: Relation) -> bool:
    """Whether a walk is over entities that are joined."""
    return relation.search.walk is not None and " JOIN " in relation.search.joined


def walk_rows(
    relations: Sequence[Relation],
    bound: Sequence[Mapping[str, View]],
    is_ordered: bool = False,
    is_whole: bool = False,
) -> str:
    """The rows of walks over the same views, in SQLite, as code walks them.

    ``is_ordered``: in the order of the first walk, which is that of all of them; else as they
    stand, or where they are joined in that of the first column. ``is_whole``: those alone whose
    times are whole numbers.
    """
    walk = as_read(relations[0])
    order = [*walk.by, *(INTERVAL[:1] if walk.is_of_intervals else walk.order), PLACE]
    if not is_ordered:
        order = [*walk.order[:1]] if is_joined_walk(relations[0]) else []
    whole = INTERVAL if is_whole else ()
    if len(relations) == 1 and walk.outer is None:
        return _walk_alone(relations[0], bound[0], order, whole)
    tables: dict[str, str] = {}
    for number, (relation, views) in enumerate(zip(relations, bound, strict=True)):
        tables |= _numbered_tables(relation, views, number)
    names = columns_of([as_read(one) for one in relations])
    listed = ", ".join(f'"{one}"' for one in names)
    conditions = " AND ".join(("flags > 0", *(f"typeof(\"{one}\") = 'integer'" for one in whole)))
    rows = _walks_together(relations, bound, names)
    text = f"SELECT {listed} FROM ({rows}) WHERE {conditions}"
    return _with(tables) + text + _in_order(f'"{one}"' for one in order)


def _in_order(cells: Iterable[str]) -> str:
    by = ", ".join(f"{one} NULLS FIRST" for one in cells)
    return f" ORDER BY {by}" if by else ""


def _walk_alone(
    relation: Relation, bound: Mapping[str, View], order: Sequence[str], whole: Sequence[str]
) -> str:
    """The rows of one walk, which may be over entities that are joined."""
    search = coded(relation, bound, "sqlite").search
    alias, walk = search.alias, search.own_walk
    cells = {name: f"{alias}.{name}" for name in columns_of([as_read(relation)])}
    if VALUE in cells:
        cells[VALUE] = walk.value
    if FLAGS in cells:
        cells[FLAGS] = f"1 + {_flag(walk.of or 'TRUE', 2)}"
    shown = ", ".join(f'{cell} AS "{name}"' for name, cell in cells.items())
    conditions = [f"({search.where})"] if search.where else []
    conditions += [f"typeof({alias}.{one}) = 'integer'" for one in whole]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    text = f"SELECT {shown} FROM {search.joined}{where}"
    text += _in_order(f"{alias}.{one}" for one in order)
    tables = _tables(relation, bound, "sqlite")
    return f"{tables} {_quoted(_slacked(text, relation, bound), relation)}"


def _flag(condition: str, flag: int) -> str:
    return f"(CASE WHEN {condition} THEN {flag} ELSE 0 END)"


def _walks_together(
    relations: Sequence[Relation], bound: Sequence[Mapping[str, View]], names: Sequence[str]
) -> str:
    """The rows of walks over single entities, which some of them share."""
    sides: dict[str, list[str]] = {}
    shown: dict[str, View] = {}
    for number, (relation, views) in enumerate(zip(relations, bound, strict=True)):
        search = coded(relation, views, "sqlite").search
        walk = search.own_walk
        parts = [(search.joined, search.where, 1)]
        if walk.outer is not None:
            parts.append((walk.outer, walk.of, 2))
        elif walk.value:
            both = " AND ".join(f"({one})" for one in (search.where, walk.of) if one)
            parts.append((search.joined, both, 2))
        for source, condition, flag in parts:
            entity, alias = source.split()
            text = _numbered(_slacked(condition or "TRUE", relation, views), relation, number)
            text = re.sub(rf"\b{alias}\.", "judged.", text)
            meets = f"judged.own_{number} AND ({text})"
            sides.setdefault(entity, []).append(_flag(meets, flag << 2 * number))
            shown[entity] = views[entity]
    reads = {
        entity: [one.search.reads.get(entity, frozenset()) for one in relations] for entity in sides
    }
    cells = [one for one in names if one not in (PLACE, FLAGS)]
    # Without the limit the flags were computed twice.
    return (
        " UNION ALL ".join(
            f"SELECT judged.place AS place, {' + '.join(flags)} AS flags"
            + "".join(f', judged."{name}" AS "{name}"' for name in cells)
            + f" FROM ({shown[entity].marked([*reads[entity], cells])}) judged"
            for entity, flags in sides.items()
        )
        + " LIMIT -1"
    )


def _numbered(text: str, relation: Relation, number: int) -> str:
    """SQL of one of several relations: its subqueries read tables of its own."""
    entities = "|".join(sorted(set(relation.search.aliases.values()), key=len, reverse=True))
    return re.sub(rf"\b(FROM|JOIN) ({entities}) ", rf"\1 \2_{number} ", _quoted(text, relation))


def _numbered_tables(relation: Relation, bound: Mapping[str, View], number: int) -> dict[str, str]:
    """The tables of the subqueries in :func:`_numbered`."""
    return {
        f"{entity}_{number}": bound[entity].select(columns, True)
        for entity, columns in relation.search.reads.items()
    }


def _with(tables: Mapping[str, str], dialect: Dialect = "sqlite") -> str:
    hint = "NOT MATERIALIZED " if dialect == "sqlite" else ""
    return f"WITH {', '.join(f'{name} AS {hint}({rows})' for name, rows in tables.items())} "


def _intervals(relation: Relation, walk: Walk) -> str:
    """The intervals of a walk; of turn 0 those that others have to lie inside."""
    sides = [(relation.search.alias, relation.search.joined, relation.search.where, "", 1)]
    if walk.outer is not None:
        sides.append((walk.outer.split()[1], walk.outer, walk.of, " - {slack}", 0))
    return " UNION ALL ".join(
        f"SELECT {alias}.place AS place, {alias}.start AS v_start, {alias}.end AS v_end, "
        f"{alias}.start{earlier} AS begins, {turn} AS turn"
        + "".join(f", {alias}.{name} AS by_{name}" for name in walk.by)
        + "".join(f", {alias}.{name} AS same_{name}" for name in walk.alike)
        + f" FROM {joined}"
        + (f" WHERE {where}" if where else "")
        for alias, joined, where, earlier, turn in sides
    )


def _tables(
    relation: Relation,
    bound: Mapping[str, View],
    dialect: Dialect,
    reads: Mapping[str, frozenset[str]] | None = None,
) -> str:
    tables = {
        entity: bound[entity].select(columns, dialect == "sqlite")
        for entity, columns in (reads or relation.search.reads).items()
        if entity in bound
    }
    return _with(tables, dialect)


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
    """A walk as a window, which states the same as the code of :mod:`.walks`."""
    if walk.kind == "rising":
        return _quoted(_slacked(_rising(relation, walk), relation, bound), relation)
    names = ", ".join(f"by_{name}" for name in walk.by)
    parts = f"PARTITION BY {names} " if names else ""
    if walk.kind == "repeated":
        alike = "".join(f", same_{name}" for name in walk.alike)
        times = f"count(*) OVER (PARTITION BY {names}, v_start, v_end{alike})"
        rows = f"SELECT *, {times} AS times FROM ({_intervals(relation, walk)})"
        text = f"SELECT place, v_start, v_end, (times > 1) AS bad FROM ({rows})"
        return _quoted(_slacked(text, relation, bound), relation)
    if walk.kind == "disjoint":
        order, before, value = "v_start NULLS FIRST, v_end NULLS FIRST", "1 PRECEDING", "v_end"
        bad, judged = "v_start < reach - {slack}", "reach IS NOT NULL"
    else:
        order, before = "begins NULLS FIRST, turn", "CURRENT ROW"
        value = "CASE turn WHEN 0 THEN v_end END"
        bad, judged = "reach IS NULL OR reach < v_end - {slack}", "turn = 1"
    text = (
        f"SELECT place, v_start, v_end, ({bad}) AS bad FROM (SELECT *, max({value}) OVER ({parts}"
        f"ORDER BY {order}, place ROWS BETWEEN UNBOUNDED PRECEDING AND {before}) AS reach "
        f"FROM ({_intervals(relation, walk)})) WHERE {judged}"
    )
    return _quoted(_slacked(text, relation, bound), relation)


def _rising(relation: Relation, walk: Walk) -> str:
    """Values that fall, each with the one before it in its group."""
    search, alias = relation.search, relation.search.alias
    own = "".join(f", {alias}.{name} AS v_{name}" for name in sorted(search.values[alias]))
    by = ", ".join(f"{alias}.{name}" for name in walk.by)
    order = "".join(f"{alias}.{name} NULLS FIRST, " for name in walk.order)
    parts = f"PARTITION BY {by} " if by else ""
    before = f"lag({walk.than or walk.value}) OVER ({parts}ORDER BY {order}{alias}.place)"
    where = f" WHERE {search.where}" if search.where else ""
    bad = f"value {'<=' if walk.strict else '<'} before"
    if walk.wrap is not None:
        bad += f" AND before - value < {walk.wrap // 2}"
    judged = f"({walk.of or 'TRUE'}) AS judged"
    rows = (
        f"SELECT {alias}.place AS place{own}, {walk.value} AS value, {before} AS before, {judged}"
    )
    return f"SELECT *, ({bad}) AS bad FROM ({rows} FROM {search.joined}{where}) WHERE judged"


def slack_of(relation: Relation, bound: Mapping[str, View]) -> int:
    """The tolerance of a comparison of all that the relation reads."""
    return sum(bound[entity].slack for entity in relation.search.reads)


def _slacked(text: str, relation: Relation, bound: Mapping[str, View]) -> str:
    return text.replace("{slack}", str(slack_of(relation, bound)))


def _quoted(text: str, relation: Relation, further: str = "") -> str:
    """Columns in quotes, since some are words of SQL."""
    known = {**relation.search.aliases, **relation.search.aliases_in((further,))}
    aliases = "|".join(sorted(known, key=len, reverse=True))
    parts = re.split(r"('[^']*')", text)
    return "".join(
        part if part.startswith("'") else re.sub(rf"\b({aliases})\.([a-z_]+)\b", r'\1."\2"', part)
        for part in parts
    )
