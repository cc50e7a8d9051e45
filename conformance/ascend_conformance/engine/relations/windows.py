"""Walks as windows, which state in SQL what the code of :mod:`.walks` does."""

from __future__ import annotations

from collections.abc import Mapping

from .rule import Relation, Walk
from .views import View
from .writing import quoted, slacked


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


def walk_as_window(relation: Relation, walk: Walk, bound: Mapping[str, View]) -> str:
    """A walk as a window, which states the same as the code of :mod:`.walks`."""
    if walk.kind == "rising":
        return quoted(slacked(_rising(relation, walk), relation, bound), relation)
    names = ", ".join(f"by_{name}" for name in walk.by)
    parts = f"PARTITION BY {names} " if names else ""
    if walk.kind == "repeated":
        alike = "".join(f", same_{name}" for name in walk.alike)
        times = f"count(*) OVER (PARTITION BY {names}, v_start, v_end{alike})"
        rows = f"SELECT *, {times} AS times FROM ({_intervals(relation, walk)})"
        text = f"SELECT place, v_start, v_end, (times > 1) AS bad FROM ({rows})"
        return quoted(slacked(text, relation, bound), relation)
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
    return quoted(slacked(text, relation, bound), relation)


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
    if walk.most is not None:
        bad = f"value - before > {walk.most}"
    if walk.wrap is not None:
        # Not abs(), which SQLite refuses for the least of all integers.
        bad += f" AND before - value BETWEEN {1 - walk.wrap // 2} AND {walk.wrap // 2 - 1}"
    judged = f"({walk.of or 'TRUE'}) AS judged"
    rows = (
        f"SELECT {alias}.place AS place{own}, {walk.value} AS value, {before} AS before, {judged}"
    )
    return f"SELECT *, ({bad}) AS bad FROM ({rows} FROM {search.joined}{where}) WHERE judged"
