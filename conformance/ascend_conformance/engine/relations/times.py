"""How often a value occurs, counted without a window, which has SQLite sort and keep all rows."""

from __future__ import annotations

import re

from .rule import Relation

_TIMES = re.compile(
    r"\(SELECT [\w., ]+, count\(\*\) OVER \(PARTITION BY (?P<by>[\w., ]+)\) AS (?P<name>\w+) "
    r"FROM (?P<source>.*)\) (?P<alias>\w+)"
)
_TERM = re.compile(r"\w+\.\w+ (?:<=|<|>=|>) -?\d+")


def times_in(relation: Relation, sum_of: str) -> str | None:
    """A query for a sum over rows that are about how often a value occurs, if that is all."""
    search = relation.search
    found = _TIMES.fullmatch(search.joined)
    if not found or search.where or not _TERM.fullmatch(search.bad or ""):
        return None
    name, alias = found["name"], found["alias"]
    if f"{alias}.{name} " not in f"{search.bad} ":
        return None
    rows = f"SELECT count(*) AS {name} FROM {found['source']} GROUP BY {found['by']}"
    return f"SELECT coalesce(sum({alias}.{name} * {sum_of}), 0) FROM ({rows}) {alias}"
