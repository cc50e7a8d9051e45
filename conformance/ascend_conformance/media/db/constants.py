"""Sets in a rule's SQL, looked up once and written as ranges of numbers.

``taskType IN (SELECT id FROM STRING_IDS WHERE value = 'AI_CPU')`` asks every row to search a
temporary tree, and ``connectionId NOT IN (SELECT connectionId FROM CANN_API)`` to search a table.
Ids are mostly dense, so a few comparisons with constants give the same answer.
"""

from __future__ import annotations

import re

import apsw

from .fusion import merged
from .layout import Layout
from .references import Range, Targets, within

MOST_IDS = 5_000
MOST_RANGES = 8
"""Ranges written out; a set of more of them stays a query, evaluated once per statement."""

_SET = re.compile(r"(?<![\w.])(?P<value>(?!NOT\b)[A-Za-z_][\w.]*) (?P<no>NOT )?IN \(SELECT ")
_STRINGS = re.compile(r"\(SELECT id FROM STRING_IDS WHERE .*\)\Z", re.DOTALL)
_KEYS = re.compile(
    r"\(SELECT (?P<column>\w+) FROM (?P<table>\w+)(?: WHERE (?P=column) IS NOT NULL)?\)\Z"
)
_TOKEN = re.compile(r"'(?:[^']|'')*'|[()]")


class ConstantSets:
    """Replaces the sets for one database; each distinct set is looked up once."""

    def __init__(self, connection: apsw.Connection, layout: Layout, targets: Targets) -> None:
        self._connection = connection
        self._layout = layout
        self._targets = targets
        self._known: dict[str, tuple[Range, ...] | None] = {}

    def write_out(self, sql: str) -> str:
        """The same SQL with every set of few ranges as comparisons with numbers."""
        parts: list[str] = []
        position = 0
        while found := _SET.search(sql, position):
            start = found.end() - len("(SELECT ")
            end = _closing(sql, start)
            ranges = self._ranges(sql[start:end])
            if ranges is None:
                parts.append(sql[position : found.end()])
                position = found.end()
            else:
                inside = f"({within(found['value'], ranges)})"
                parts += [sql[position : found.start()], f"NOT {inside}" if found["no"] else inside]
                position = end
        return "".join([*parts, sql[position:]])

    def _ranges(self, query: str) -> tuple[Range, ...] | None:
        if query not in self._known:
            self._known[query] = self._look_up(query)
        return self._known[query]

    def _look_up(self, query: str) -> tuple[Range, ...] | None:
        keys = _KEYS.match(query)
        if keys:
            place = keys["table"], keys["column"]
            target = self._targets[place] if self._targets.is_key(*place) else None
            return target.ranges if target else None
        has_strings = all(map(self._layout.holds, ("STRING_IDS.id", "STRING_IDS.value")))
        if not has_strings or not _STRINGS.match(query):
            return None
        select = f"{query[1:-1]} LIMIT {MOST_IDS + 1}"
        found = [row[0] for row in self._connection.execute(select).fetchall()]
        if len(found) > MOST_IDS:
            return None
        ranges = merged((number, number) for number in found if isinstance(number, int))
        return ranges if len(ranges) <= MOST_RANGES else None


def _closing(sql: str, start: int) -> int:
    """The position after the parenthesis that closes the one at ``start``."""
    depth = 0
    for token in _TOKEN.finditer(sql, start):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
            if depth == 0:
                return token.end()
    raise ValueError(f"no closing parenthesis: {sql[start : start + 80]}")
