"""How often a value occurs, counted without a window, which has SQLite sort and keep all rows."""

from __future__ import annotations

import re
from collections.abc import Callable

from .rule import Relation

_TIMES = re.compile(
    r"\(SELECT [\w., ]+, count\(\*\) OVER \(PARTITION BY (?P<by>[\w., ]+)\) AS (?P<name>\w+) "
    r"FROM (?P<source>.*)\) (?P<alias>\w+)"
)


def times_in(relation: Relation, sum_of: Callable[[str], str]) -> str | None:
    """A query for a sum over rows that are about how often a value occurs, if that is all.

    ``sum_of``: what a row adds to the sum, of the condition that makes it bad.
    """
    search = relation.search
    if search.walk and search.walk.kind == "repeated":
        cells = (*search.walk.by, "start", "end", *search.walk.alike)
        alike = ", ".join(f"{search.alias}.{name}" for name in cells)
        where = f" WHERE {search.where}" if search.where else ""
        rows = f"SELECT count(*) AS times FROM {search.joined}{where} GROUP BY {alike}"
        return f"SELECT coalesce(sum(times * {sum_of('times > 1')}), 0) FROM ({rows})"
    found = _TIMES.fullmatch(search.joined)
    bad = search.bad or ""
    if not found or search.where:
        return None
    name, alias = found["name"], found["alias"]
    known = {name, *re.findall(r"\w+\.(\w+)", found["by"])}
    read = set(re.findall(rf"\b{alias}\.(\w+)", bad))
    if name not in read or not read <= known:
        return None
    rows = f"SELECT {found['by']}, count(*) AS {name} FROM {found['source']} GROUP BY {found['by']}"
    return f"SELECT coalesce(sum({alias}.{name} * {sum_of(bad)}), 0) FROM ({rows}) {alias}"
