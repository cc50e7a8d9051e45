"""The rows of walks, in SQLite, as code walks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .codes import coded
from .ordered import FLAGS, INTERVAL, PLACE
from .rule import Relation, Walk
from .views import View
from .walks import columns_of
from .writing import numbered, numbered_tables, quoted, slacked, with_tables, with_tables_of

EVERY = "TRUE"
"""The condition of a walk that is about each row."""

VALUE = "value"
"""The column of what a walk compares, where it is of another entity than that at fault."""


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
        tables |= numbered_tables(relation, views, number)
    names = columns_of([as_read(one) for one in relations])
    listed = ", ".join(f'"{one}"' for one in names)
    rows, are_all_flagged = _walks_together(relations, bound, names)
    conditions = [f"typeof(\"{one}\") = 'integer'" for one in whole]
    if not are_all_flagged:
        # Without the limit the flags were computed twice.
        rows += " LIMIT -1"
        conditions.append("flags > 0")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    text = f"SELECT {listed} FROM ({rows}){where}"
    return with_tables(tables, text + _in_order(f'"{one}"' for one in order))


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
    query = quoted(slacked(text, relation, bound), relation)
    return with_tables_of(relation, bound, query, "sqlite")


def _flag(condition: str, flag: int) -> str:
    return f"(CASE WHEN {condition} THEN {flag} ELSE 0 END)"


def _flags(asked: Iterable[tuple[int, str, int]], alike: Sequence[int]) -> str:
    """The flags of a row, those of one condition at once. ``asked``: number of the walk, condition
    and flag; ``alike``: the first walk for which the same rows take part.
    """
    flags: dict[str, int] = {}
    for number, condition, flag in asked:
        meets = f"judged.own_{alike[number]} AND ({condition})"
        flags[meets] = flags.get(meets, 0) + flag
    return f"{' + '.join(_flag(meets, flag) for meets, flag in flags.items())} AS flags"


def _walks_together(
    relations: Sequence[Relation], bound: Sequence[Mapping[str, View]], names: Sequence[str]
) -> tuple[str, bool]:
    """The rows of walks over single entities, which some of them share, and whether some walk is
    about each of the rows.
    """
    sides: dict[str, list[tuple[int, str, int]]] = {}
    shown: dict[str, View] = {}
    for number, (relation, views) in enumerate(zip(relations, bound, strict=True)):
        search = coded(relation, views, "sqlite").search
        walk = search.own_walk
        parts = [(search.joined, search.where, 1)]
        if walk.outer is not None:
            parts.append((walk.outer, walk.of, 2))
        elif walk.value:
            both = search.where
            if walk.of:
                both = f"({search.where}) AND ({walk.of})" if search.where else walk.of
            parts.append((search.joined, both, 2))
        for source, condition, flag in parts:
            entity, alias = source.split()
            text = numbered(slacked(condition or EVERY, relation, views), relation, number)
            text = re.sub(rf"\b{alias}\.", "judged.", text)
            sides.setdefault(entity, []).append((number, text, flag << 2 * number))
            shown[entity] = views[entity]
    reads = {
        entity: [one.search.reads.get(entity, frozenset()) for one in relations] for entity in sides
    }
    cells = [one for one in names if one not in (PLACE, FLAGS)]
    rows = " UNION ALL ".join(
        f"SELECT judged.place AS place, {_flags(asked, shown[entity].alike(reads[entity]))}"
        + "".join(f', judged."{name}" AS "{name}"' for name in cells)
        + f" FROM ({shown[entity].marked([*reads[entity], cells])}) judged"
        for entity, asked in sides.items()
    )
    are_all_flagged = all(
        any(
            condition == EVERY and shown[entity].is_read_whole(reads[entity][number])
            for number, condition, _ in asked
        )
        for entity, asked in sides.items()
    )
    return rows, are_all_flagged
